// A request as it came, with its target as it stood on the wire, and a body that is read without delaying other clients.
import { IncomingMessage, type ServerResponse } from 'node:http';
import { DISCARDING, READING } from './body-turns.ts';

/** An unread body is discarded whole if it says that it has no more bytes than this. */
const DISCARDED_WHOLE_BYTES = 64 * 1024 * 1024;
/** Of any other only so much is discarded before its connection is closed. */
const DISCARDED_BYTES = 8 * 1024 * 1024;
/** The connection is closed, too, if discarding takes longer than this. */
const DISCARDING_LIMIT_MS = 10_000;

/**
 * A request that keeps its target as it stood on the wire. The adaptor makes a URL of `url`, which folds dot segments and refuses
 * some spellings; routing goes by the target instead, so `url` is the same for all requests.
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

  /** Takes a chunk from the parser. False makes the parser stop reading from the connection until `_read` is called. */
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

  /** Node calls this after the answer if nothing was read of the body. It would discard the body with no limit, ahead of everything else. */
  _dump(): void {
    // @ts-expect-error: not in the types of the base class
    if (this.complete) super._dump();
    else this.discardRest();
  }

  /** Discards the unread rest of the body, so that the client gets to read its answer and the connection can be used again. */
  discardRest(answer?: ServerResponse): void {
    // The stream through which the body was read would keep it from flowing.
    if (!this.readableEnded && !this.#discards) this.removeAllListeners('data');
    if (this.complete || this.destroyed || this.#discards) return;
    this.#discards = true;
    // The adaptor would close the connection half a second after the answer, if the body has not ended by then.
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
