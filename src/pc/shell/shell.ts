// The PC's command line: prompt, running command, type-ahead, and scripts.

import { type Job, pause, Running, until } from '../job.ts';
import type { Timer } from '../timers.ts';
import { type Command, Complaint, matching, type Surroundings } from './command.ts';
import { COMMANDS } from './commands.ts';
import { LineEditor } from './line-editor.ts';
import { VERSION } from './show.ts';

/** Limit of text typed while a command runs; the rest is dropped. */
const HELD_CHARACTERS = 64 * 1024;
/** After this much output the shell pauses (ms): it shares its thread with other devices. A command counts as output. */
const UNINTERRUPTED_CHARACTERS = 16 * 1024;
const COMMAND_CHARACTERS = 256;
const PAUSE_MS = 10;
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
  /** The last character that was taken. */
  #previous = '';
  /** Waits for any key. */
  #awaitKey: (() => void) | undefined;
  #scripts = 0;
  #taking = false;
  /** Output since the last pause. */
  #uninterrupted = 0;
  /** Set while typed text waits for the end of a pause. */
  #pause: Timer | undefined;

  constructor(parts: ShellParts) {
    const print = (text: string): void => {
      this.#uninterrupted += text.length;
      parts.print(text);
    };
    this.#editor = new LineEditor({
      print,
      prompt: () => this.#prompt,
      complete: (before) => complete(before),
    });
    this.#pc = {
      ...parts,
      print,
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
    this.#held += text;
    this.#take();
    this.#held = this.#held.slice(0, HELD_CHARACTERS);
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
      // As on any terminal, Ctrl+C also drops text typed ahead.
      const isBusy = this.#running !== undefined || this.#pause !== undefined;
      const interrupt = isBusy ? this.#held.lastIndexOf('\x03') : -1;
      if (interrupt >= at) {
        // After a pause the line editor takes it.
        at = interrupt;
        if (this.#running !== undefined) {
          at++;
          this.#interrupt();
          continue;
        }
      }
      const character = this.#held[at]!;
      // CR LF is one Enter: the LF behind a command's CR is no key.
      if (character === '\n' && this.#previous === '\r') {
        at++;
        this.#previous = '';
        continue;
      }
      if (this.#awaitKey !== undefined) {
        at++;
        this.#previous = character;
        this.#awaitKey();
        continue;
      }
      if (this.#running !== undefined || this.#pause !== undefined) break;
      if (this.#uninterrupted >= UNINTERRUPTED_CHARACTERS) {
        this.#pause = this.#pc.host.timers.after(PAUSE_MS, () => {
          this.#pause = undefined;
          this.#uninterrupted = 0;
          this.#take();
        });
        break;
      }
      at++;
      this.#previous = character;
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
    this.#uninterrupted += COMMAND_CHARACTERS;
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
      if (this.#uninterrupted >= UNINTERRUPTED_CHARACTERS) {
        yield* pause(this.#pc.host, PAUSE_MS);
        this.#uninterrupted = 0;
      }
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
