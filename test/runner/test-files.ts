// Runs files with node --test, notes what becomes of each, and ends those that have hung up.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync, readSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Told } from './reporter.ts';

export interface Failed {
  title: string;
  error: string;
}

export interface Skipped {
  file: string;
  title: string;
  reason: string;
}

/** What became of a file's tests. */
export interface FileResult {
  /** Relative to the project. */
  readonly file: string;
  /** From the start of its process to its end; 0 for one that did not come there. */
  milliseconds: number;
  passed: number;
  readonly failed: Failed[];
  readonly skipped: Skipped[];
}

export interface TestRunOptions {
  /** The project's directory. */
  root: string;
  /** Options of node, and files or patterns. */
  words: readonly string[];
  /** Where the events are written. */
  log: string;
  /** Milliseconds after which a file of which nothing is heard is ended; Infinity for never. */
  quiet: number;
  /** Whether node's own report is shown. */
  isShown: boolean;
}

const LOOK_MS = 1000;
const READ_BYTES = 1 << 16;

/** Reads the lines that a file gains. */
class Lines {
  readonly #descriptor: number;
  #rest = '';

  constructor(path: string) {
    this.#descriptor = openSync(path, 'a+');
  }

  *next(): Generator<string> {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    for (let read = -1; read !== 0; ) {
      read = readSync(this.#descriptor, buffer);
      // A character of several bytes may come in two parts: bytes are kept apart until the line is whole.
      const lines = (this.#rest + buffer.toString('latin1', 0, read)).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) yield Buffer.from(line, 'latin1').toString('utf8');
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

class Run {
  readonly results = new Map<string, FileResult>();
  readonly #root: string;
  /** When something was heard last of each file that runs. */
  readonly #running = new Map<string, number>();

  constructor(root: string) {
    this.#root = root;
  }

  hear(told: Told): void {
    const { file } = told;
    if (told.what === 'end') this.#running.delete(file);
    else if (told.what === 'begin' || this.#running.has(file)) this.#running.set(file, performance.now());
    const result = this.#resultOf(file);
    if (told.what === 'passed') result.passed += 1;
    if (told.what === 'failed') result.failed.push({ title: told.title, error: told.error });
    if (told.what === 'skipped') {
      result.skipped.push({ file: result.file, title: told.title, reason: told.reason });
    }
    if (told.what === 'end') result.milliseconds = told.milliseconds;
    if (told.what === 'end' && !told.passed) this.#unfinished.add(file);
  }

  /** Files that have failed as a whole; that is told of their tests where it was one of those. */
  readonly #unfinished = new Set<string>();

  settle(): FileResult[] {
    for (const file of [...this.#unfinished, ...this.#running.keys()]) {
      const { failed, file: title } = this.#resultOf(file);
      if (failed.length === 0) failed.push({ title, error: 'it did not come to its end' });
    }
    return [...this.results.values()];
  }

  /** Files of which nothing was heard for so long. */
  quiet(milliseconds: number): string[] {
    const before = performance.now() - milliseconds;
    return [...this.#running].filter(([, last]) => last < before).map(([file]) => file);
  }

  end(file: string, why: string): void {
    const { failed, file: title } = this.#resultOf(file);
    failed.push({ title, error: why });
  }

  #resultOf(path: string): FileResult {
    const file = relative(this.#root, path);
    const known = this.results.get(file);
    if (known !== undefined) return known;
    const result = { file, milliseconds: 0, passed: 0, failed: [], skipped: [] };
    this.results.set(file, result);
    return result;
  }
}

/** Process ids of the children of node --test that run a file. */
function processesOf(parent: number, root: string, file: string): number[] {
  const threads = readdirSync(`/proc/${parent}/task`);
  const children = threads.flatMap((thread) =>
    readFileSync(`/proc/${parent}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return children.map(Number).filter((pid) => {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
    return resolve(root, words.at(-1) ?? '') === file;
  });
}

function endQuiet(run: Run, child: ChildProcess, { root, quiet }: TestRunOptions, ended: Set<string>): void {
  for (const file of run.quiet(quiet)) {
    if (ended.has(file)) continue;
    ended.add(file);
    run.end(file, `nothing was heard of it for ${Math.round(quiet / 1000)} s: it was ended`);
    for (const pid of processesOf(child.pid!, root, file)) process.kill(pid, 'SIGKILL');
  }
}

/** Runs node --test. Answers what became of each file, and its exit code. */
export async function runTestFiles(options: TestRunOptions): Promise<{ results: FileResult[]; code: number }> {
  const { root, words, log, isShown } = options;
  rmSync(log, { force: true });
  const reporters = [
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...[`--test-reporter=${join(import.meta.dirname, 'reporter.ts')}`, `--test-reporter-destination=${log}`],
  ];
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const child = spawn(process.execPath, ['--test', ...reporters, ...words], {
    cwd: root,
    env: environment,
    stdio: isShown ? ['ignore', 'inherit', 'inherit'] : 'ignore',
  });
  const run = new Run(root);
  const lines = new Lines(log);
  const ended = new Set<string>();
  const look = (): void => {
    for (const line of lines.next()) run.hear(JSON.parse(line) as Told);
    try {
      if (child.exitCode === null) endQuiet(run, child, options, ended);
    } catch {
      // a process that has gone meanwhile
    }
  };
  const timer = setInterval(look, LOOK_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(timer);
  look();
  lines.close();
  return { results: run.settle(), code: code ?? 1 };
}
