// The VNC display of a node over the server's WebSocket. Reconnects when it is lost.
// @ts-expect-error: the package has no types; what is used of it is below
import NoVnc from '@novnc/novnc';
import { Connection } from './connection.ts';

/** The part of the client's API that is used (https://github.com/novnc/noVNC/blob/v1.7.0/docs/API.md). */
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
  /** Path of the WebSocket below `/v2`. */
  path: string;
  /** Label for screen readers. */
  label: string;
  /** The machine offers clipboard text. It is only shown, never copied automatically. */
  offered(text: string): void;
  /** View only. */
  isWatched: boolean;
  /** The display requires a password; `isAgain` when the last one was wrong. */
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

  /** In view-only mode the page sends no keys or pointer events; the server drops them as well. */
  set isWatched(isWatched: boolean) {
    if (isWatched === this.#isWatched) return;
    this.#isWatched = isWatched;
    if (this.#rfb) this.#rfb.viewOnly = isWatched;
    // The server drops the input of a connection that was opened view-only, so reconnect.
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

  /** Sends clipboard text to the machine. */
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
