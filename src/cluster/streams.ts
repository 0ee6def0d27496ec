// Byte streams between two hosts over NATS, as a TCP connection has them: in order, with back-pressure, and with an end that the other side
// sees. HTTP and WebSockets run over them unchanged. NATS loses messages when a connection breaks, so that every stream ends with it.
import { Duplex } from 'node:stream';
import { conflict } from '../failures.ts';

/** Bytes that may be on their way without being read. */
const WINDOW_BYTES = 512 * 1024;
/** Bytes of a message. */
const PIECE_BYTES = 64 * 1024;

/** The first byte of a message. Data is followed by its number (4 bytes) and the bytes, read by their count (4 bytes). */
const DATA = 1;
const READ = 2;
const END = 3;
const BROKEN = 4;

/** One end of a stream. Has what Node's `http` and `ws` call on a socket. */
export class HostStream extends Duplex {
  readonly #publish: (message: Uint8Array) => void;
  #credit = WINDOW_BYTES;
  #waiting: (() => void) | undefined;
  #sent = 0;
  #received = 0;
  #unread = 0;
  #over = false;

  constructor(publish: (message: Uint8Array) => void) {
    super({ allowHalfOpen: true, readableHighWaterMark: PIECE_BYTES, writableHighWaterMark: PIECE_BYTES });
    this.#publish = publish;
  }

  /** A message of the other end. */
  receive(message: Uint8Array): void {
    if (this.destroyed) return;
    const view = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    switch (view[0]) {
      case DATA:
        if (view.readUInt32BE(1) !== this.#received++ >>> 0) {
          this.break('a message was lost');
          return;
        }
        this.#unread += view.length - 5;
        // A copy: the message is part of a buffer of the connection.
        if (this.push(Buffer.from(view.subarray(5)))) this.#grant();
        return;
      case READ:
        this.#credit += view.readUInt32BE(1);
        this.#continue();
        return;
      case END:
        this.push(null);
        return;
      default:
        this.#over = true;
        this.destroy(new Error('the other host ended the connection'));
    }
  }

  /** Ends it at once on this side: messages were lost, or the host is gone. */
  break(reason: string): void {
    this.destroy(new Error(reason));
  }

  override _read(): void {
    this.#grant();
  }

  #grant(): void {
    if (this.#unread === 0 || this.destroyed) return;
    const message = Buffer.alloc(5);
    message[0] = READ;
    message.writeUInt32BE(this.#unread, 1);
    this.#unread = 0;
    this.#publish(message);
  }

  #continue(): void {
    if (this.#credit <= 0) return;
    const resume = this.#waiting;
    this.#waiting = undefined;
    resume?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    let offset = 0;
    const send = (): void => {
      while (offset < chunk.length) {
        if (this.#credit <= 0) {
          this.#waiting = send;
          return;
        }
        const piece = chunk.subarray(offset, offset + Math.min(PIECE_BYTES, this.#credit));
        offset += piece.length;
        this.#credit -= piece.length;
        const message = Buffer.alloc(5 + piece.length);
        message[0] = DATA;
        message.writeUInt32BE(this.#sent++ >>> 0, 1);
        piece.copy(message, 5);
        this.#publish(message);
      }
      done();
    };
    send();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#publish(Buffer.of(END));
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#waiting = undefined;
    if (!this.#over && !(this.readableEnded && this.writableFinished)) this.#publish(Buffer.of(BROKEN));
    done(error);
  }

  setTimeout(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

/** What carries messages between hosts. */
export interface Carrier {
  publish(subject: string, message: Uint8Array): void;
}

/** All streams of one host's connection, by the subject that their other end reads. */
export class HostStreams {
  readonly #streams = new Map<string, { stream: HostStream; host: string }>();
  readonly #carrier: Carrier;

  constructor(carrier: Carrier) {
    this.#carrier = carrier;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** The stream with this id, made if it is new. */
  open(id: string, host: string, subject: string): HostStream {
    const stream = new HostStream((message) => {
      try {
        this.#carrier.publish(subject, message);
      } catch (error) {
        // The connection is closed for good, or the message is refused.
        if (!stream.destroyed) stream.destroy(error instanceof Error ? error : conflict(String(error)));
      }
    });
    this.#streams.set(id, { stream, host });
    stream.on('close', () => this.#streams.delete(id));
    stream.on('error', () => {});
    return stream;
  }

  get(id: string): HostStream | undefined {
    return this.#streams.get(id)?.stream;
  }

  /** Ends all streams, or those with one host. */
  break(reason: string, to: (host: string) => boolean = () => true): void {
    for (const entry of [...this.#streams.values()]) if (to(entry.host)) entry.stream.break(reason);
  }
}
