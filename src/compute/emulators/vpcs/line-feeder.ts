// Feeds input to VPCS line by line. VPCS reads everything that waits on its terminal at once, runs the first line and
// drops the rest: of a pasted script, or a program that does not wait for the prompt, only one line would run. It also
// crashes on lines of 143 characters and more (docs/vpcs.md).

const HELD_BYTES = 64 * 1024;
const LINE_BYTES = 128;
/** After so long without a prompt, and a second without output, a line is passed on all the same. */
const PATIENCE_MS = 15_000;
const QUIET_MS = 1000;

const CTRL_C = 0x03;
const BACKSPACE = 0x08;
const LF = 0x0a;
const CR = 0x0d;
const CTRL_U = 0x15;
const DELETE = 0x7f;
const EXCLAMATION_MARK = 0x21;

/** The end of the output while VPCS waits for a command: its host name and `> `. */
const PROMPT = /^\S{1,64}> ?$/;

/**
 * - `busy`: a command runs (or VPCS starts); input is held, except Ctrl+C.
 * - `ready`: the prompt is shown; input passes up to the end of a line.
 * - `through`: an interactive command runs (`rlogin`, `!`); input passes.
 */
type State = 'busy' | 'ready' | 'through';

export class LineFeeder {
  readonly #write: (bytes: Buffer) => boolean;
  #state: State = 'busy';
  #held = Buffer.alloc(0);
  /** Input: bytes of the line being typed, whether it began with `!`, and the byte before. */
  #column = 0;
  #isHostCommand = false;
  #previous = 0;
  /** Output: the unfinished last line, and whether a line ended since the last command was passed on. */
  #tail = '';
  #lineEnded = false;
  #prompt = '';
  #fedAt = performance.now();
  #heardAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  /** `write` passes bytes to the program and returns whether it accepted them. */
  constructor(write: (bytes: Buffer) => boolean) {
    this.#write = write;
  }

  /** Input of the clients. False if 64 KiB are waiting already and these bytes were dropped. */
  input(bytes: Buffer): boolean {
    const interrupt = this.#state === 'busy' ? bytes.lastIndexOf(CTRL_C) : -1;
    if (interrupt >= 0) {
      // As on every terminal, Ctrl+C also discards the input typed ahead.
      this.#held = Buffer.alloc(0);
      this.#write(Buffer.of(CTRL_C));
    }
    const rest = bytes.subarray(interrupt + 1);
    if (this.#held.length + rest.length > HELD_BYTES) return false;
    this.#held = Buffer.concat([this.#held, rest]);
    return this.#feed();
  }

  /** Output of the program, in which the prompt is detected. */
  output(chunk: Buffer): void {
    this.#heardAt = performance.now();
    const text = chunk.toString('latin1');
    const lineEnd = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'));
    if (text.includes('\n')) this.#lineEnded = true;
    this.#tail = (lineEnd < 0 ? this.#tail + text : text.slice(lineEnd + 1)).slice(-256);
    if (this.#state === 'busy' && /press ctrl\+x to quit/i.test(text)) this.#state = 'through';
    const prompted = this.#state === 'through' ? this.#tail === this.#prompt : PROMPT.test(this.#tail);
    if (this.#state !== 'ready' && prompted && this.#lineEnded) {
      this.#prompt = this.#tail;
      this.#state = 'ready';
    }
    this.#feed();
  }

  /** Drops the held input. */
  stop(): void {
    this.#held = Buffer.alloc(0);
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #feed(): boolean {
    let taken = true;
    while (taken && this.#held.length > 0 && this.#state !== 'busy') {
      const bytes = this.#state === 'through' ? this.#takeAll() : this.#takeLine();
      if (bytes.length > 0) taken = this.#write(bytes);
    }
    if (this.#held.length > 0) this.#timer ??= setTimeout(() => this.#retry(), QUIET_MS);
    return taken;
  }

  #takeAll(): Buffer {
    const bytes = this.#held;
    this.#held = Buffer.alloc(0);
    return bytes;
  }

  /** Takes the held bytes up to the end of the line, which ends the prompt. */
  #takeLine(): Buffer {
    const passed: number[] = [];
    let at = 0;
    while (at < this.#held.length && this.#state === 'ready') {
      const byte = this.#held[at++]!;
      if (this.#takeByte(byte)) passed.push(byte);
      this.#previous = byte;
    }
    this.#held = this.#held.subarray(at);
    return Buffer.from(passed);
  }

  /** Whether to pass the byte to VPCS. */
  #takeByte(byte: number): boolean {
    switch (byte) {
      case LF:
      case CR: {
        if (byte === LF && this.#previous === CR) return false; // one Enter, not two
        this.#state = this.#isHostCommand ? 'through' : 'busy';
        this.#startLine();
        this.#lineEnded = false;
        this.#fedAt = performance.now();
        return true;
      }
      case CTRL_C:
      case CTRL_U:
        this.#startLine();
        return true;
      case BACKSPACE:
      case DELETE:
        this.#column = Math.max(0, this.#column - 1);
        return true;
      default:
        if (this.#column >= LINE_BYTES) return false;
        if (this.#column === 0) this.#isHostCommand = byte === EXCLAMATION_MARK;
        this.#column += 1;
        return true;
    }
  }

  #startLine(): void {
    this.#column = 0;
    this.#isHostCommand = false;
  }

  /** Runs while input is held. */
  #retry(): void {
    this.#timer = undefined;
    const now = performance.now();
    const givesUp = now - this.#fedAt > PATIENCE_MS && now - this.#heardAt > QUIET_MS;
    if (this.#state === 'busy' && givesUp) this.#state = 'ready';
    this.#feed();
  }
}
