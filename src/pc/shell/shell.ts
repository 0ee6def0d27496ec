// The PC's command line: prompt, running command, type-ahead, and scripts.

import { type Job, Running, until } from '../job.ts';
import { type Command, Complaint, matching, type Surroundings } from './command.ts';
import { COMMANDS } from './commands.ts';
import { LineEditor } from './line-editor.ts';
import { VERSION } from './show.ts';

/** Limit of text typed while a command runs; the rest is dropped. */
const HELD_CHARACTERS = 64 * 1024;
/** Scripts that load scripts. */
const NESTED_SCRIPTS = 8;
const NAMES = Object.keys(COMMANDS).filter((name) => name !== '?');
/** Commands that show their usage when called without arguments. */
const NEED_ARGUMENTS = new Set(['clear', 'ip', 'ping', 'set', 'trace']);

/** The parts that the shell is given. */
export type ShellParts = Omit<Surroundings, 'history' | 'key' | 'runScript'>;

export class Shell {
  readonly #pc: Surroundings;
  readonly #editor: LineEditor;
  #running: Running | undefined;
  #held = '';
  /** Waits for any key. */
  #awaitKey: (() => void) | undefined;
  #scripts = 0;
  #taking = false;

  constructor(parts: ShellParts) {
    const { print } = parts;
    this.#editor = new LineEditor({
      print,
      prompt: () => this.#prompt,
      complete: (before) => complete(before),
    });
    this.#pc = {
      ...parts,
      history: this.#editor.history,
      key: () => this.#key(),
      runScript: (text) => this.#script(text),
    };
  }

  /** Says hello, runs the script if there is one, and waits for commands. */
  start(script: string | undefined): void {
    this.#pc.print(`${VERSION}\nPress '?' to get help.\n\n`);
    if (script === undefined) this.#pc.print(this.#prompt);
    else {
      this.#pc.print('Executing the startup file\n\n');
      this.#run(this.#script(script), '\n');
    }
  }

  /** Takes typed text. */
  input(text: string): void {
    const interrupt = this.#running === undefined ? -1 : text.lastIndexOf('\x03');
    if (interrupt >= 0) this.#interrupt();
    this.#held = (this.#held + text.slice(interrupt + 1)).slice(0, HELD_CHARACTERS);
    this.#take();
  }

  /** Ends the command that runs, without a word. */
  stop(): void {
    this.#running?.stop();
    this.#running = undefined;
  }

  get #prompt(): string {
    return `\r${this.#pc.settings.name}> `;
  }

  #interrupt(): void {
    // As on any terminal, Ctrl+C also drops text typed ahead.
    this.#held = '';
    this.stop();
    this.#awaitKey = undefined;
    this.#scripts = 0;
    this.#pc.print(`^C\n\n${this.#prompt}`);
  }

  #take(): void {
    // A command that ends at once comes back here: the loop below goes on.
    if (this.#taking) return;
    this.#taking = true;
    let at = 0;
    while (at < this.#held.length) {
      const character = this.#held[at]!;
      if (this.#awaitKey !== undefined) {
        at++;
        this.#awaitKey();
        continue;
      }
      if (this.#running !== undefined) break;
      at++;
      const typed = this.#editor.key(character);
      if (typed?.kind === 'interrupt') this.#pc.print(this.#prompt);
      if (typed?.kind === 'line') {
        // The command may read the text after its line as input.
        this.#held = this.#held.slice(at);
        at = 0;
        this.#enter(typed.line);
      }
    }
    this.#held = this.#held.slice(at);
    this.#taking = false;
  }

  #enter(line: string): void {
    const text = line.trim();
    if (text === '') this.#pc.print(this.#prompt);
    else this.#run(this.#line(text), /^ec(h|ho)?(\s|$)/.test(text) ? '' : '\n');
  }

  /** Runs a job in the foreground and shows the prompt behind it. */
  #run(job: Job, end: string): void {
    const running = new Running(job, () => {
      this.#running = undefined;
      this.#pc.print(`${end}${this.#prompt}`);
      this.#take();
    });
    this.#running = running;
    running.start();
  }

  *#line(text: string): Job {
    const [word = '', ...words] = text.split(/\s+/);
    const rest = text.slice(word.length).trimStart();
    try {
      const command = find(word, text);
      const asks = words.at(-1) === '?' || (words.length === 0 && NEED_ARGUMENTS.has(matching(word, NAMES)[0]!));
      if (asks) this.#pc.print(`\n${command.help}`);
      else yield* command.run(words, this.#pc, rest);
    } catch (error) {
      if (!(error instanceof Complaint)) throw error;
      this.#pc.print(`${error.message}\n`);
    }
  }

  *#script(text: string): Job {
    if (this.#scripts >= NESTED_SCRIPTS) throw new Complaint(`Scripts load scripts ${NESTED_SCRIPTS} deep already`);
    this.#scripts++;
    for (const line of text.split(/\r\n|\n|\r/)) {
      const command = line.trim();
      if (command === '' || /^[#!;]/.test(command)) continue;
      if (this.#pc.settings.echoes) this.#pc.print(`${this.#pc.settings.name}[1] ${command}\n`);
      yield* this.#line(command);
    }
    this.#scripts--;
  }

  *#key(): Job {
    yield* until<void>((resume) => {
      this.#awaitKey = () => {
        this.#awaitKey = undefined;
        resume();
      };
      return undefined;
    });
  }
}

function find(word: string, line: string): Command {
  const names = word === '?' ? ['?'] : matching(word, NAMES);
  if (names.length === 1) return COMMANDS[names[0]!]!;
  if (names.length > 1) throw new Complaint(names.join('\n'));
  if (word.startsWith('!')) throw new Complaint('Commands of the host are not run from here.');
  throw new Complaint(`Bad command: "${line.replace(/[^\x20-\x7e]/g, '?')}". Use ? for help.`);
}

/** Completions of the last word: commands, or a command's first argument. */
function complete(before: string): string[] {
  const words = before.trimStart().split(/\s+/);
  const last = words.at(-1)!;
  if (words.length <= 1) return matching(last, NAMES);
  const commands = matching(words[0]!, NAMES);
  if (words.length > 2 || commands.length !== 1) return [];
  return (COMMANDS[commands[0]!]!.words ?? []).filter((word) => word.startsWith(last));
}
