// A request with its unchanged target, and a body that is read without delaying other clients.
import { IncomingMessage, type ServerResponse } from 'node:http';
import { DISCARDING, READING } from './body-turns.ts';

/** An unread body of at most this announced size is discarded completely. */
const DISCARDED_WHOLE_BYTES = 64 * 1024 * 1024;
/** Of other bodies only this much is discarded before the connection is closed. */
const DISCARDED_BYTES = 8 * 1024 * 1024;
/** The connection is also closed if discarding takes longer. */
const DISCARDING_LIMIT_MS = 10_000;

/**
 * A request that keeps its target. The adaptor makes a URL from `url`, which resolves dot segments and rejects some spellings; routing uses
 * the target instead, so `url` is the same for all requests.
 */
export class WireMessage extends IncomingMessage {
  target = '/';
  #discards = false;
  #seemsEnded = false;

  // @ts-expect-error: a plain property of the base class, set by the parser
  override get url(): string {
    return '/';
  }

  override set url(value: string) {
    this.target = originForm(value);
  }

  /** Takes a chunk from the parser. False pauses the connection until `_read` is called. */
  override push(chunk: Uint8Array | null, encoding?: BufferEncoding): boolean {
    super.push(chunk, encoding);
    return false;
  }

  override _read(size: number): void {
    (this.#discards ? DISCARDING : READING).take(() => super._read(size));
  }

  // @ts-expect-error: a plain property in the types of the base class
  override get readableEnded(): boolean {
    return this.#seemsEnded || Reflect.get(IncomingMessage.prototype, 'readableEnded', this);
  }

  /** Called by Node after the response if the body was not read. Node would discard it without a limit and before all else. */
  _dump(): void {
    // @ts-expect-error: not in the types of the base class
    if (this.complete) super._dump();
    else this.discardRest();
  }

  /** Discards the rest of the body, so that the client reads its response and the connection stays usable. */
  discardRest(answer?: ServerResponse): void {
    // The stream that read the body would keep it paused.
    if (!this.readableEnded && !this.#discards) this.removeAllListeners('data');
    if (this.complete || this.destroyed || this.#discards) return;
    this.#discards = true;
    // Otherwise the adaptor closes the connection if the body has not ended half a second after the response.
    answer?.once('close', () => {
      this.#seemsEnded = true;
    });
    const { socket } = this;
    const timer = setTimeout(() => socket.destroySoon(), DISCARDING_LIMIT_MS).unref();
    this.once('close', () => clearTimeout(timer));
    const isShort = Number(this.headers['content-length']) <= DISCARDED_WHOLE_BYTES;
    let left = isShort ? DISCARDED_WHOLE_BYTES : DISCARDED_BYTES;
    this.on('data', (chunk: Uint8Array) => {
      left -= chunk.length;
      if (left < 0) socket.destroySoon();
    });
    this.resume();
  }
}

/** `GET http://host/path` is the same as `GET /path`. */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '') || '/';
}
