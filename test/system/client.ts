// The executable as a client of another one that serves, as a script and as a person at a terminal run it.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { openPseudoTerminal } from '../../src/host/processes/pseudo-terminal.ts';
import { type Daemon, eventually, startDaemon } from './daemon.ts';
import { executable } from './executable.ts';

export interface Ended {
  code: number | null;
  out: string;
  error: string;
}

/** The executable as a client; the server is named by the environment. */
export class Client {
  readonly daemon: Daemon;
  readonly environment: Record<string, string | undefined>;

  constructor(daemon: Daemon, environment: Record<string, string | undefined> = {}) {
    this.daemon = daemon;
    this.environment = {
      PATH: process.env['PATH'],
      HOME: daemon.directory,
      LABWIRE_SERVER: daemon.url,
      ...environment,
    };
  }

  spawn(words: readonly string[], stdio: ('pipe' | 'ignore' | number)[] = ['ignore', 'pipe', 'pipe']): ChildProcess {
    const [program, ...first] = executable() as [string, ...string[]];
    return spawn(program, [...first, ...words], { cwd: this.daemon.directory, env: this.environment, stdio });
  }

  async run(...words: string[]): Promise<Ended> {
    const child = this.spawn(words);
    const [out, error, [code]] = await Promise.all([
      child.stdout!.setEncoding('utf8').toArray(),
      child.stderr!.setEncoding('utf8').toArray(),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    return { code, out: out.join(''), error: error.join('') };
  }

  /** What it prints; a failure is an error. */
  async say(...words: string[]): Promise<string> {
    const { code, out, error } = await this.run(...words);
    assert.equal(code, 0, `labwired ${words.join(' ')}: ${error}`);
    return out.trimEnd();
  }

  /** A failure in one sentence. */
  async fails(code: number, message: RegExp, ...words: string[]): Promise<void> {
    const ended = await this.run(...words);
    assert.match(ended.error, message, words.join(' '));
    assert.deepEqual([ended.code, ended.error.trimEnd().split('\n').length, ended.out], [code, 1, ''], ended.error);
  }
}

export const BUILT_IN = '[VPCS]\nengine = built-in\n';

export async function client(t: TestContext, options: { config?: string; flags?: string[] } = {}): Promise<Client> {
  return new Client(await startDaemon(t, { config: BUILT_IN, ...options }));
}

/** A terminal of so many columns, on which one command runs. */
export class Terminal {
  readonly child: ChildProcess;
  /** Exit code and signal. */
  readonly ended: Promise<unknown[]>;
  text = '';
  readonly #device: string;
  readonly #resize: (columns: number, rows: number) => void;
  /** Types, as a person at the keyboard. */
  readonly type: (text: string) => void;

  constructor(t: TestContext, labwired: Client, columns: number, words: readonly string[]) {
    const { output, device, descriptor, resize } = openPseudoTerminal(columns, 24);
    const end = openSync(device, 'r+');
    t.after(() => {
      closeSync(end);
      output.destroy();
    });
    output.setEncoding('utf8').on('data', (text: string) => {
      this.text += text;
    });
    this.#device = device;
    this.#resize = resize;
    this.type = (text) => void writeSync(descriptor, text);
    this.child = labwired.spawn(words, [end, end, end]);
    this.ended = once(this.child, 'close');
  }

  async shows(pattern: RegExp): Promise<void> {
    await eventually(
      String(pattern),
      () => this.text,
      (text) => pattern.test(text),
    );
  }

  /** The window gets another size. It is the terminal of no session, so that the kernel tells nobody. */
  resize(columns: number, rows: number): void {
    this.#resize(columns, rows);
    this.child.kill('SIGWINCH');
  }

  /** Whether lines are edited and what is typed is shown, as a shell has it. */
  get isSane(): boolean {
    const settings = execFileSync('stty', ['-F', this.#device, '-a'], { encoding: 'utf8' });
    return [/\sicanon\s/, /\secho\s/, /\sisig\s/].every((word) => word.test(settings));
  }
}
