// The display of a node: VNC over the server's WebSocket, connected again when it breaks off.
// @ts-expect-error: the package has no types; what is used of it is below
import NoVnc from '@novnc/novnc';
import { Connection } from './connection.ts';

/** What is used of the client (https://github.com/novnc/noVNC/blob/v1.7.0/docs/API.md). */
interface Rfb extends EventTarget {
  scaleViewport: boolean;
  background: string;
  viewOnly: boolean;
  focus(): void;
  blur(): void;
  sendCtrlAltDel(): void;
  sendCredentials(credentials: { password: string }): void;
  clipboardPasteFrom(text: string): void;
  disconnect(): void;
}

const RfbClient = NoVnc as new (host: HTMLElement, socket: WebSocket, options: { shared: boolean }) => Rfb;

export interface DisplayOptions {
  /** Of the WebSocket, below `/v2`. */
  path: string;
  /** What is read to people who do not see the display. */
  label: string;
  /** The machine offers a text: it is shown, and never put into the clipboard by itself. */
  offered(text: string): void;
  /** Whoever sees it may only watch. */
  isWatched: boolean;
  /** The display wants a password; `isAgain` when the last one was wrong. */
  askPassword(isAgain: boolean): void;
}

export class Display {
  readonly connection: Connection;
  readonly #host: HTMLElement;
  readonly #options: DisplayOptions;
  #rfb: Rfb | undefined;
  #isWatched: boolean;
  #wasRefused = false;

  constructor(host: HTMLElement, options: DisplayOptions) {
    this.#host = host;
    this.#options = options;
    this.#isWatched = options.isWatched;
    this.connection = new Connection({ path: options.path, opened: (socket) => this.#follow(socket) });
  }

  /** Keys and the pointer stay here while it is watched; the server drops them, too. */
  set isWatched(isWatched: boolean) {
    if (isWatched === this.#isWatched) return;
    this.#isWatched = isWatched;
    if (this.#rfb) this.#rfb.viewOnly = isWatched;
    // The server goes on dropping what comes by a connection that began so.
    if (!isWatched) this.connection.again();
  }

  focus(): void {
    this.#rfb?.focus();
  }

  stop(): void {
    this.connection.stop();
    this.#host.replaceChildren();
  }

  sendCtrlAltDel(): void {
    this.#rfb?.sendCtrlAltDel();
  }

  /** Hands the machine a text for its clipboard. */
  give(text: string): void {
    this.#rfb?.clipboardPasteFrom(text);
  }

  logIn(password: string): void {
    this.#rfb?.sendCredentials({ password });
  }

  #follow(socket: WebSocket): void {
    this.#host.replaceChildren();
    const rfb = new RfbClient(this.#host, socket, { shared: true });
    rfb.scaleViewport = true;
    rfb.background = 'transparent';
    rfb.viewOnly = this.#isWatched;
    rfb.addEventListener('clipboard', (event) => {
      const { text } = (event as CustomEvent<{ text: string }>).detail;
      this.#options.offered(text);
    });
    rfb.addEventListener('securityfailure', () => {
      this.#wasRefused = true;
    });
    rfb.addEventListener('connect', () => {
      this.#wasRefused = false;
    });
    rfb.addEventListener('credentialsrequired', () => this.#options.askPassword(this.#wasRefused));
    const canvas = this.#host.querySelector('canvas');
    canvas?.setAttribute('role', 'img');
    canvas?.setAttribute('aria-label', this.#options.label);
    this.#rfb = rfb;
  }
}
