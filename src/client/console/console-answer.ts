// Separates a typed line's output from its echo and the next prompt.
import { stripVTControlCharacters } from 'node:util';

function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

/** The prompt that a person has described: it stands at the end of a line. @throws SyntaxError */
export function promptAs(described: string): RegExp {
  return new RegExp(`(?:${described})\\s*$`);
}

/**
 * Recognizes the prompt that was shown, and others of the same device, such as `R1(config)#` of the one with `R1#`.
 * Undefined when nothing was shown.
 */
export function promptLike(shown: string): RegExp | undefined {
  const prompt = shown.trim();
  if (prompt === '') return undefined;
  const [name] = /^[\w.@-]+/.exec(prompt) ?? [];
  // A shell that shows nothing but the directory begins with that.
  const others =
    name === undefined
      ? /^[/~].* [#$]$/.test(prompt)
        ? '|[/~][^\\n]{0,60} [#$]'
        : ''
      : `|${literally(name)}[^\\n]{0,60}[>#$%]`;
  return new RegExp(`^(?:${literally(prompt)}${others})\\s*$`);
}

export interface ConsoleAnswerOptions {
  line: string;
  prompt: RegExp | undefined;
  until: RegExp | undefined;
}

export class ConsoleAnswer {
  readonly #options: ConsoleAnswerOptions;
  #echoed = false;
  /** Whether the end of the echo's line has arrived. */
  #begun = false;
  /** The incomplete last line. */
  #open = '';
  /** Complete lines not taken yet. */
  #lines = '';
  #found = false;

  constructor(options: ConsoleAnswerOptions) {
    this.#options = options;
  }

  receive(text: string): void {
    this.#open += text;
    if (!this.#echoed) {
      const { line } = this.#options;
      const heard = plain(this.#open);
      const at = heard.indexOf(line);
      if (at === -1) return;
      this.#echoed = true;
      this.#open = heard.slice(at + line.length);
    }
    if (!this.#begun) {
      // The end of the echo's line may arrive later than the echo.
      if (/^[ \t]*\r*$/.test(this.#open)) return;
      this.#begun = true;
      this.#open = this.#open.replace(/^[ \t]*\r*\n/, '');
    }
    const end = this.#open.lastIndexOf('\n') + 1;
    const complete = plain(this.#open.slice(0, end));
    this.#open = this.#open.slice(end);
    this.#lines += complete;
    const { until } = this.#options;
    if (until !== undefined && !this.#found) this.#found = until.test(complete + plain(this.#open));
  }

  /** Whether the output seems complete. */
  get hasEnded(): boolean {
    if (!this.#begun) return false;
    const { prompt, until } = this.#options;
    return until === undefined ? (prompt?.test(lastLine(this.#open)) ?? false) : this.#found;
  }

  /** The complete lines that came since the last time. */
  take(): string {
    const lines = this.#lines;
    this.#lines = '';
    return lines;
  }

  /** The rest at the end; empty if it is the prompt. */
  rest(): string {
    const rest = plain(this.#open).trimEnd();
    if (rest === '' || this.#options.prompt?.test(lastLine(rest))) return '';
    return `${rest}\n`;
  }
}

function lastLine(text: string): string {
  return plain(text).split('\n').at(-1)!;
}

/** Without escape sequences, and with plain ends of lines. */
export function plain(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/\r+\n/g, '\n')
    .replaceAll(/\r(?!$)/g, '\n')
    .replaceAll('\0', '');
}
