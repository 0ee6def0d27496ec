// Passes a node's output to the terminal in pieces, so that the page stays responsive, and drops output beyond the scrollback.

/** Bytes written to the terminal at once; takes it some ten milliseconds. */
const PIECE_BYTES = 64 * 1024;
/** Limit of the queue, and how much of it is kept: more than the terminal's scrollback. */
const MOST_BYTES = 2 * 1024 * 1024;
const KEPT_BYTES = 1024 * 1024;
const LINE_END = 10;

/** Writes a piece and calls `done` when the terminal has processed it. */
export type WritePiece = (piece: Uint8Array, done: () => void) => void;

export class OutputFeed {
  readonly #write: WritePiece;
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  #isWriting = false;
  /** Lines written so far. */
  lines = 0;

  constructor(write: WritePiece) {
    this.#write = write;
  }

  /** Whether all output has been processed. */
  get isIdle(): boolean {
    return !this.#isWriting && this.#bytes === 0;
  }

  push(piece: Uint8Array): void {
    this.#waiting.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes > MOST_BYTES) this.#shorten();
    this.#next();
  }

  /** Drops the queued output. */
  clear(): void {
    this.#waiting = [];
    this.#bytes = 0;
  }

  #next(): void {
    if (this.#isWriting || this.#bytes === 0) return;
    const piece = this.#take();
    for (const byte of piece) if (byte === LINE_END) this.lines += 1;
    this.#isWriting = true;
    this.#write(piece, () => {
      this.#isWriting = false;
      this.#next();
    });
  }

  #take(): Uint8Array {
    let count = 0;
    let size = 0;
    while (count < this.#waiting.length && (count === 0 || size + this.#waiting[count]!.length <= PIECE_BYTES)) {
      size += this.#waiting[count]!.length;
      count += 1;
    }
    this.#bytes -= size;
    const pieces = this.#waiting.splice(0, count);
    return pieces.length === 1 ? pieces[0]! : joined(pieces, size);
  }

  /** Drops the oldest output up to a line end, and writes a note about it. */
  #shorten(): void {
    const all = joined(this.#waiting, this.#bytes);
    const from = all.length - KEPT_BYTES;
    const end = all.indexOf(LINE_END, from) + 1 || from;
    const notice = new TextEncoder().encode(`\x1b[0m\r\n[${Math.round(end / 1000)} kB left out: too fast to show]\r\n`);
    this.#waiting = [notice, all.subarray(end)];
    this.#bytes = notice.length + all.length - end;
  }
}

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
