// A terminal for a node's console.
import { FitAddon } from '@xterm/addon-fit';
import { SearchAddon } from '@xterm/addon-search';
import { type ILink, Terminal } from '@xterm/xterm';
import { copyText } from '../model/browser/clipboard.ts';
import { WORDS } from '../words.ts';
import { Connection } from './connection.ts';
import { OutputFeed } from './output-feed.ts';
import type { PasteTarget } from './slow-paste.ts';
import { allowSpanStyles, withStrictStyles } from './strict-style.ts';

const SCROLLBACK_LINES = 5_000;
/** Debounce for resizing: dragging a window changes its size many times a second. */
const RESIZE_PAUSE_MS = 150;
const WEB_ADDRESS = /https?:\/\/[^\s"'<>()[\]{}\\^`|]+[^\s"'<>()[\]{}\\^`|.,:;!?]/g;

export interface TerminalOptions {
  /** Path of the WebSocket below `/v2`. */
  path: string;
  /** Label for screen readers. */
  label: string;
  /** Typed or pasted input. */
  typed(text: string): void;
  /** A link in the output was clicked. */
  link(address: string): void;
  /** A Break was requested, but the node's host cannot send one. */
  refused(message: string): void;
  /** The find field was requested. */
  find(): void;
}

export class ConsoleTerminal implements PasteTarget {
  readonly connection: Connection;
  readonly #terminal: Terminal;
  readonly #fit = new FitAddon();
  readonly #search = new SearchAddon();
  readonly #feed: OutputFeed;
  readonly #resize: ResizeObserver;
  readonly #options: TerminalOptions;
  #resizing: ReturnType<typeof setTimeout> | undefined;
  #heardAt = 0;
  /** Input of the moment in which the connection is being opened. */
  #early = '';

  constructor(host: HTMLElement, options: TerminalOptions) {
    this.#options = options;
    const terminal = new Terminal({
      scrollback: SCROLLBACK_LINES,
      fontFamily: 'ui-monospace, monospace',
      fontSize: 14,
      lineHeight: 1.15, // otherwise underscores of some fonts are clipped
      theme: { background: '#101418', foreground: '#e6e6e6', selectionBackground: '#3d6fa5' },
      linkHandler: { activate: (_event, address) => options.link(address) },
    });
    this.#terminal = terminal;
    terminal.loadAddon(this.#fit);
    terminal.loadAddon(this.#search);
    allowSpanStyles();
    withStrictStyles(() => terminal.open(host));
    terminal.textarea?.setAttribute('aria-label', options.label);
    terminal.onData((text) => options.typed(text));
    terminal.attachCustomKeyEventHandler((event) => this.#takesKey(event));
    terminal.onResize(({ cols, rows }) => this.#announce(cols, rows));
    terminal.registerLinkProvider({ provideLinks: (line, found) => found(this.#links(line)) });
    this.#feed = new OutputFeed((piece, done) => terminal.write(piece, done));
    this.#resize = new ResizeObserver(() => this.#adapt());
    this.#resize.observe(host);
    this.connection = new Connection({
      path: options.path,
      query: () => ({ cols: String(terminal.cols), rows: String(terminal.rows) }),
      opened: (socket) => this.#follow(socket),
    });
    // Not sent later to a console that may be at another prompt by then.
    this.connection.state.subscribe((state) => {
      if (state === 'lost' || state === 'off') this.#early = '';
    });
    this.#adapt();
  }

  focus(): void {
    this.#adapt();
    this.#terminal.focus();
  }

  stop(): void {
    clearTimeout(this.#resizing);
    this.connection.stop();
    this.#resize.disconnect();
    this.#terminal.dispose();
  }

  /** False if the text is lost: there is no connection, and none is being opened. */
  send(text: string): boolean {
    if (this.connection.send(new TextEncoder().encode(text))) return true;
    if (this.connection.state.peek() !== 'connecting') return false;
    this.#early += text;
    return true;
  }

  /** Sends text as a paste. */
  paste(text: string): void {
    this.#terminal.paste(text);
  }

  sendBreak(): void {
    const isSent = this.connection.send(JSON.stringify({ type: 'break' }));
    if (!isSent) this.#options.refused(WORDS.console.notSent);
  }

  clear(): void {
    this.#terminal.clear();
  }

  /** Copies the selection, or everything. False if the browser refuses. */
  async copy(): Promise<boolean> {
    const isCopied = await copyText(this.#terminal.hasSelection() ? this.#terminal.getSelection() : this.text());
    this.#terminal.focus();
    return isCopied;
  }

  /** False if the text is not found. */
  find(text: string, direction: 'next' | 'previous'): boolean {
    return direction === 'next' ? this.#search.findNext(text, { incremental: false }) : this.#search.findPrevious(text);
  }

  set readsAloud(isOn: boolean) {
    this.#terminal.options.screenReaderMode = isOn;
  }

  /** The whole scrollback. */
  text(): string {
    const { active } = this.#terminal.buffer;
    const lines: string[] = [];
    for (let row = 0; row < active.length; row += 1) {
      const line = active.getLine(row);
      const text = line?.translateToString(true) ?? '';
      if (line?.isWrapped && lines.length > 0) lines[lines.length - 1] += text;
      else lines.push(text);
    }
    return `${lines.join('\n').trimEnd()}\n`;
  }

  get lines(): number {
    return this.#feed.lines;
  }

  get quiet(): number {
    return this.#feed.isIdle ? performance.now() - this.#heardAt : 0;
  }

  get cursorLine(): string {
    const { active } = this.#terminal.buffer;
    return active.getLine(active.baseY + active.cursorY)?.translateToString(false, 0, active.cursorX) ?? '';
  }

  #follow(socket: WebSocket): void {
    // The server first sends the previous output to each new client, so what is shown would be repeated.
    this.#feed.clear();
    this.#terminal.reset();
    socket.onmessage = ({ data }) => {
      this.#heardAt = performance.now();
      // Output is binary; text is the answer to a control message.
      if (typeof data === 'string') this.#options.refused((JSON.parse(data) as { message: string }).message);
      else this.#feed.push(new Uint8Array(data as ArrayBuffer));
    };
    if (this.#early !== '') this.send(this.#early);
    this.#early = '';
  }

  #adapt(): void {
    if (this.#terminal.element?.offsetParent) this.#fit.fit();
  }

  #announce(cols: number, rows: number): void {
    clearTimeout(this.#resizing);
    this.#resizing = setTimeout(
      () => this.connection.send(JSON.stringify({ type: 'resize', cols, rows })),
      RESIZE_PAUSE_MS,
    );
  }

  /** F6 leaves the terminal; Ctrl+C copies a selection. Ctrl+Shift+V and Shift+Insert are left to the browser, which pastes. */
  #takesKey(event: KeyboardEvent): boolean {
    if (event.key === 'F6') return false;
    const { ctrlKey, shiftKey, altKey, code } = event;
    if (ctrlKey && altKey && code === 'KeyF') return this.#instead(event, () => this.#options.find());
    if (altKey || event.metaKey) return true;
    if ((ctrlKey && shiftKey && code === 'KeyV') || (shiftKey && code === 'Insert')) return false;
    const isCopy = ctrlKey && (code === 'KeyC' || code === 'Insert');
    const copies = isCopy && (this.#terminal.hasSelection() || shiftKey || code === 'Insert');
    if (!copies) return true;
    return this.#instead(event, () => {
      const text = this.#terminal.getSelection();
      if (text !== '') void copyText(text);
      this.#terminal.clearSelection();
    });
  }

  #instead(event: KeyboardEvent, task: () => void): false {
    event.preventDefault();
    if (event.type === 'keydown') task();
    return false;
  }

  #links(row: number): ILink[] | undefined {
    const text = this.#terminal.buffer.active.getLine(row - 1)?.translateToString(true) ?? '';
    const found = [...text.matchAll(WEB_ADDRESS)].map(({ 0: address, index }) => ({
      text: address,
      range: { start: { x: index + 1, y: row }, end: { x: index + address.length, y: row } },
      activate: () => this.#options.link(address),
    }));
    return found.length > 0 ? found : undefined;
  }
}
