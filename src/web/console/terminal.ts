// A node's console: a terminal on the server's WebSocket, connected again when it breaks off.
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { socketAddress } from '../model/api.ts';
import { withStrictStyles } from './strict-style.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
const SCROLLBACK_LINES = 5_000;

export class ConsoleTerminal {
  readonly #terminal = new Terminal({
    scrollback: SCROLLBACK_LINES,
    fontFamily: 'ui-monospace, monospace',
    fontSize: 14,
    lineHeight: 1.15, // otherwise underscores of some fonts are cut off
    theme: { background: '#101418', foreground: '#e6e6e6' },
  });
  readonly #fit = new FitAddon();
  readonly #path: string;
  readonly #resize: ResizeObserver;
  #socket: WebSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pause = FIRST_PAUSE_MS;
  #over = false;

  constructor(host: HTMLElement, path: string) {
    this.#path = path;
    const terminal = this.#terminal;
    terminal.loadAddon(this.#fit);
    withStrictStyles(() => terminal.open(host));
    terminal.onData((text) => {
      if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
    });
    terminal.attachCustomKeyEventHandler((event) => this.#takesKey(event));
    this.#resize = new ResizeObserver(() => this.#adapt());
    this.#resize.observe(host);
    this.#connect();
    this.show();
  }

  /** It has become visible. */
  show(): void {
    this.#adapt();
    this.#terminal.focus();
  }

  stop(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#resize.disconnect();
    this.#socket?.close();
    this.#terminal.dispose();
  }

  #adapt(): void {
    if (this.#terminal.element?.offsetParent) this.#fit.fit();
  }

  /** F6 leaves the terminal; Ctrl+C copies where something is selected. */
  #takesKey(event: KeyboardEvent): boolean {
    if (event.key === 'F6') return false;
    const isCopy = event.ctrlKey && (event.key === 'c' || event.key === 'C');
    if (event.type === 'keydown' && isCopy && this.#terminal.hasSelection()) {
      document.execCommand('copy'); // works where no secure context is, too
      this.#terminal.clearSelection();
      return false;
    }
    return true;
  }

  #connect(): void {
    const socket = new WebSocket(socketAddress(this.#path));
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    let first = true;
    socket.onmessage = ({ data }) => {
      // The server sends what is on the screen to everybody who comes: what was there before would stand twice.
      if (first) this.#terminal.reset();
      first = false;
      this.#pause = FIRST_PAUSE_MS;
      this.#terminal.write(typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer));
    };
    socket.onclose = () => {
      if (this.#over || socket !== this.#socket) return;
      this.#terminal.write('\r\n\x1b[2m[the console is not connected; trying again]\x1b[0m\r\n');
      this.#timer = setTimeout(() => this.#connect(), this.#pause);
      this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
    };
  }
}
