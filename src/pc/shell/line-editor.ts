// The line editor: editing keys, history and completion. Its output keeps the terminal in step.

const LINE_CHARACTERS = 1024;
const HISTORY_LINES = 50;

const ESCAPE = '\x1b';

/** The effect of a key: a complete line, Ctrl+C, end of input, or nothing to report. */
export type Typed = { kind: 'line'; line: string } | { kind: 'interrupt' } | undefined;

export interface EditorTerminal {
  print(text: string): void;
  prompt(): string;
  /** Words that the one that ends `before` may become. */
  complete(before: string): string[];
}

type Action = (editor: LineEditor) => void;

function keys(sequences: readonly string[], action: Action): Record<string, Action> {
  return Object.fromEntries(sequences.map((sequence) => [sequence, action]));
}

export class LineEditor {
  static readonly #KEYS: Readonly<Record<string, Action>> = {
    ...keys(['\x01', '\x1b[H', '\x1b[1~'], (editor) => editor.#move(0)),
    ...keys(['\x05', '\x1b[F', '\x1b[4~'], (editor) => editor.#move(editor.#line.length)),
    ...keys(['\x02', '\x1b[D'], (editor) => editor.#move(editor.#cursor - 1)),
    ...keys(['\x06', '\x1b[C'], (editor) => editor.#move(editor.#cursor + 1)),
    ...keys(['\x10', '\x1b[A'], (editor) => editor.#recall(-1)),
    ...keys(['\x0e', '\x1b[B'], (editor) => editor.#recall(1)),
    ...keys(['\b', '\x7f'], (editor) => editor.#replace(editor.#cursor - 1, editor.#cursor, '')),
    ...keys(['\x04', '\x1b[3~'], (editor) => editor.#replace(editor.#cursor, editor.#cursor + 1, '')),
    '\x0b': (editor) => editor.#cutOut(editor.#cursor, editor.#line.length),
    '\x15': (editor) => editor.#cutOut(0, editor.#cursor),
    '\x17': (editor) => editor.#cutOut(editor.#line.slice(0, editor.#cursor).search(/\S*\s*$/), editor.#cursor),
    '\x19': (editor) => editor.#insert(editor.#cut),
    '\x0c': (editor) => editor.#clearScreen(),
    '\t': (editor) => editor.#complete(),
  };

  readonly history: string[] = [];
  readonly #terminal: EditorTerminal;
  #line = '';
  #cursor = 0;
  #escape = '';
  #previous = '';
  /** Place in the history; at its end is the line that was being typed. */
  #recalled = 0;
  #typed = '';
  #cut = '';

  constructor(terminal: EditorTerminal) {
    this.#terminal = terminal;
  }

  /** Takes one character. */
  key(character: string): Typed {
    if (this.#escape !== '') {
      this.#escapeSequence(character);
      return undefined;
    }
    const before = this.#previous;
    this.#previous = character;
    switch (character) {
      case '\n':
        // CR LF is one Enter.
        return before === '\r' ? undefined : this.#enter();
      case '\r':
        return this.#enter();
      case '\x03':
        this.#terminal.print('\n');
        this.#reset();
        return { kind: 'interrupt' };
      case ESCAPE:
        this.#escape = ESCAPE;
        return undefined;
      default:
        this.#edit(character);
        return undefined;
    }
  }

  /** Shows the line again, behind a new prompt. */
  redraw(): void {
    const behind = this.#line.length - this.#cursor;
    this.#terminal.print(this.#line + '\b'.repeat(behind));
  }

  #enter(): Typed {
    const line = this.#line;
    this.#terminal.print('\n');
    this.#reset();
    if (line.trim() !== '' && this.history.at(-1) !== line) this.history.push(line);
    if (this.history.length > HISTORY_LINES) this.history.shift();
    this.#recalled = this.history.length;
    return { kind: 'line', line };
  }

  #reset(): void {
    this.#line = '';
    this.#cursor = 0;
    this.#recalled = this.history.length;
  }

  #edit(character: string): void {
    const action = LineEditor.#KEYS[character];
    if (action !== undefined) action(this);
    else if (character >= ' ' && character !== '\x7f') this.#insert(character);
  }

  #escapeSequence(character: string): void {
    const sequence = this.#escape + character;
    // ESC [ or ESC O, perhaps digits, and the letter that says which key it is.
    const isUnfinished = /^.(?:[[O][\d;]{0,6})$/.test(sequence);
    this.#escape = isUnfinished ? sequence : '';
    if (!isUnfinished) LineEditor.#KEYS[sequence.replace('O', '[')]?.(this);
  }

  #clearScreen(): void {
    this.#terminal.print(`${ESCAPE}[H${ESCAPE}[2J${this.#terminal.prompt()}`);
    this.redraw();
  }

  #move(place: number): void {
    const to = Math.min(this.#line.length, Math.max(0, place));
    this.#terminal.print(to < this.#cursor ? '\b'.repeat(this.#cursor - to) : this.#line.slice(this.#cursor, to));
    this.#cursor = to;
  }

  #insert(text: string): void {
    const room = LINE_CHARACTERS - this.#line.length;
    if (room > 0) this.#replace(this.#cursor, this.#cursor, text.slice(0, room));
  }

  #cutOut(from: number, to: number): void {
    this.#cut = this.#line.slice(from, to);
    this.#replace(from, to, '');
  }

  /** Puts text in the place of a part of the line; the cursor stands behind it then. */
  #replace(from: number, to: number, text: string): void {
    if (from < 0 || (from >= to && text === '')) return;
    this.#move(from);
    const rest = this.#line.slice(to);
    const gone = Math.max(0, Math.min(to, this.#line.length) - from - text.length);
    this.#line = this.#line.slice(0, from) + text + rest;
    this.#cursor = from + text.length;
    this.#terminal.print(`${text}${rest}${' '.repeat(gone)}${'\b'.repeat(rest.length + gone)}`);
  }

  #recall(step: number): void {
    const place = this.#recalled + step;
    if (place < 0 || place > this.history.length) return;
    if (this.#recalled === this.history.length) this.#typed = this.#line;
    this.#recalled = place;
    this.#move(0);
    this.#replace(0, this.#line.length, '');
    this.#insert(this.history[place] ?? this.#typed);
  }

  #complete(): void {
    const before = this.#line.slice(0, this.#cursor);
    const word = /\S*$/.exec(before)![0];
    const words = this.#terminal.complete(before);
    if (words.length === 1) {
      this.#insert(`${words[0]!.slice(word.length)} `);
      return;
    }
    const common = commonStart(words);
    if (common.length > word.length) this.#insert(common.slice(word.length));
    else if (words.length > 1) {
      this.#terminal.print(`\n${words.join('  ')}\n${this.#terminal.prompt()}`);
      this.redraw();
    }
  }
}

function commonStart(words: readonly string[]): string {
  let start = words[0] ?? '';
  for (const word of words) {
    while (!word.startsWith(start)) start = start.slice(0, -1);
  }
  return start;
}
