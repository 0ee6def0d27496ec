// Editing of a command line: what somebody types at a terminal becomes lines, and the terminal shows what becomes of it.

const MOST_CHARACTERS = 1024;
const MOST_HISTORY = 100;

// Control characters (ASCII) and the keys that they are at a terminal.
const CONTROL_A = '\x01';
const CONTROL_C = '\x03';
const CONTROL_D = '\x04';
const CONTROL_E = '\x05';
const BACKSPACE = '\x08';
const CONTROL_K = '\x0b';
const CONTROL_U = '\x15';
const CONTROL_W = '\x17';
const ESCAPE = '\x1b';
const DELETE = '\x7f';

/** A key that sends an escape sequence (ECMA-48; the forms of xterm and of the VT100 in application mode). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how they begin
const SEQUENCE = /^\x1b(?:[[O]([0-9;]*)([A-Za-z~])|$|[[O]?[0-9;]*$)/;

export interface LineEditorOptions {
  /** Shows output at the terminal. */
  write(output: string): void;
  /** Takes a line that is complete. */
  line(line: string): void;
  /** Control-C, and Control-D on an empty line. */
  interrupt(): void;
}

/** One terminal's line. The prompt is the caller's: after a line or an interrupt, {@link prompt} begins the next one. */
export class LineEditor {
  readonly #options: LineEditorOptions;
  readonly #history: string[] = [];
  /** Which of the history is shown; its length for the line that is new. */
  #shown = 0;
  #prompt = '';
  #text = '';
  #cursor = 0;
  #pending = '';
  #carriageReturn = false;

  readonly #actions: Readonly<Record<string, () => void>> = {
    '\r': () => this.#complete(),
    '\n': () => this.#complete(),
    [BACKSPACE]: () => this.#remove(this.#cursor - 1, this.#cursor),
    [DELETE]: () => this.#remove(this.#cursor - 1, this.#cursor),
    [CONTROL_A]: () => this.#move(0),
    [CONTROL_C]: () => this.#interrupt('^C'),
    [CONTROL_D]: () => {
      if (this.#text === '') this.#interrupt('');
      else this.#remove(this.#cursor, this.#cursor + 1);
    },
    [CONTROL_E]: () => this.#move(this.#text.length),
    [CONTROL_K]: () => this.#remove(this.#cursor, this.#text.length),
    [CONTROL_U]: () => this.#remove(0, this.#cursor),
    [CONTROL_W]: () => {
      const kept = this.#text.slice(0, this.#cursor).replace(/\S*\s*$/, '');
      this.#remove(kept.length, this.#cursor);
    },
  };

  constructor(options: LineEditorOptions) {
    this.#options = options;
  }

  /** Begins a line. */
  prompt(prompt: string): void {
    this.#prompt = prompt;
    this.#text = '';
    this.#cursor = 0;
    this.#shown = this.#history.length;
    this.#options.write(prompt);
  }

  /** Takes what was typed. */
  input(bytes: Buffer): void {
    let typed = this.#pending + bytes.toString('latin1');
    this.#pending = '';
    while (typed.length > 0) {
      if (typed.startsWith(ESCAPE)) {
        const sequence = SEQUENCE.exec(typed);
        if (sequence !== null && sequence[2] === undefined) {
          this.#pending = typed.length < 16 ? typed : ''; // the rest is on its way
          return;
        }
        this.#sequence(sequence?.[1] ?? '', sequence?.[2] ?? '');
        typed = typed.slice(sequence?.[0].length ?? 1);
      } else {
        this.#key(typed[0]!);
        typed = typed.slice(1);
      }
    }
  }

  #key(key: string): void {
    const after = this.#carriageReturn;
    this.#carriageReturn = key === '\r';
    // A return key sends one of CR, LF, CR LF and, by telnet, CR NUL (RFC 854).
    if (after && (key === '\n' || key === '\0')) return;
    const action = this.#actions[key];
    if (action !== undefined) action();
    else if (key >= ' ') this.#insert(key);
  }

  #sequence(parameters: string, final: string): void {
    if (final === 'A') this.#recall(this.#shown - 1);
    else if (final === 'B') this.#recall(this.#shown + 1);
    else if (final === 'C') this.#move(this.#cursor + 1);
    else if (final === 'D') this.#move(this.#cursor - 1);
    else if (final === 'H' || (final === '~' && parameters === '1')) this.#move(0);
    else if (final === 'F' || (final === '~' && parameters === '4')) this.#move(this.#text.length);
    else if (final === '~' && parameters === '3') this.#remove(this.#cursor, this.#cursor + 1);
  }

  #complete(): void {
    const line = this.#text;
    if (line.trim() !== '' && this.#history.at(-1) !== line) this.#history.push(line);
    if (this.#history.length > MOST_HISTORY) this.#history.shift();
    this.#options.write('\r\n');
    this.#options.line(line);
  }

  #interrupt(shown: string): void {
    this.#options.write(`${shown}\r\n`);
    this.#options.interrupt();
  }

  #insert(character: string): void {
    if (this.#text.length >= MOST_CHARACTERS) return;
    const rest = this.#text.slice(this.#cursor);
    this.#text = this.#text.slice(0, this.#cursor) + character + rest;
    this.#cursor++;
    this.#options.write(character + rest + BACKSPACE.repeat(rest.length));
  }

  #remove(from: number, to: number): void {
    if (from < 0 || to > this.#text.length || from >= to) return;
    const rest = this.#text.slice(to);
    const gone = to - from;
    const back = BACKSPACE.repeat(this.#cursor - from);
    this.#text = this.#text.slice(0, from) + rest;
    this.#cursor = from;
    this.#options.write(`${back}${rest}${' '.repeat(gone)}${BACKSPACE.repeat(rest.length + gone)}`);
  }

  #move(to: number): void {
    if (to < 0 || to > this.#text.length) return;
    const output = to < this.#cursor ? BACKSPACE.repeat(this.#cursor - to) : this.#text.slice(this.#cursor, to);
    this.#cursor = to;
    this.#options.write(output);
  }

  #recall(index: number): void {
    if (index < 0 || index > this.#history.length) return;
    this.#shown = index;
    this.#text = this.#history[index] ?? '';
    this.#cursor = this.#text.length;
    this.#options.write(`\r\x1b[K${this.#prompt}${this.#text}`);
  }
}
