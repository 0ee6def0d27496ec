// Runs test files, each in a process of its own, and gathers what became of their tests.
import { readdirSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { run } from 'node:test';
import { inspect } from 'node:util';
import { processorTimeOf } from './processor-time.ts';

export interface Failed {
  title: string;
  error: string;
}

export interface Skipped {
  file: string;
  title: string;
  reason: string;
}

/** The outcome of one file. */
export interface FileResult {
  /** Relative to the project. */
  readonly file: string;
  /** From the start of its process to its end; 0 if it did not end. */
  milliseconds: number;
  /** Processor time of the file with all that it starts, if that can be known. */
  processorMs?: number | undefined;
  passed: number;
  readonly failed: Failed[];
  readonly skipped: Skipped[];
}

export interface TestRunOptions {
  /** The project's directory. */
  root: string;
  /** Relative to it; started in this order. */
  files: readonly string[];
  /** How many run at a time. */
  concurrency: number;
  /** Options of Node for each process. */
  nodeOptions: readonly string[];
  /** Milliseconds without any event after which a file is ended; Infinity for never. */
  silenceMs: number;
  /** Called when a file has ended. What its process wrote to standard error is known only at the end of the run. */
  onEnd: (result: FileResult, hasPassed: boolean) => void;
}

/** The members used here of the events that node:test emits. Events about a file as a whole have no `entryFile`. */
interface EventData {
  file?: string;
  entryFile?: string;
  name: string;
  testId: number;
  parentId: number;
  skip?: string | boolean;
  todo?: string | boolean;
  message?: string;
  details?: {
    type?: string;
    passed?: boolean;
    duration_ms?: number;
    error?: Error & { failureType?: string };
  };
}

const POLL_MS = 1000;
const STDERR_CHARACTERS = 4000;
const NO_COLOURS = { colors: false, depth: 6 };

function skipReasonOf({ skip, todo }: EventData): string | undefined {
  const reason = skip ?? (todo === undefined || todo === false ? undefined : `todo: ${todo}`);
  return reason === undefined || reason === false ? undefined : reason === true ? '' : reason;
}

function textOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return typeof cause === 'string' ? cause : inspect(cause, NO_COLOURS);
}

/** One running or finished file. */
class TestFile {
  readonly result: FileResult;
  lastEvent = performance.now();
  isRunning = true;
  /** A test has reached its time limit: as a rule those behind it do, too. */
  hasTimedOut = false;
  stderr = '';
  /** Why the file as a whole failed, if no test of it did. */
  failure: string | undefined;
  /** Full titles of the tests by id. */
  readonly #titles = new Map<number, string>();

  constructor(file: string) {
    this.result = { file, milliseconds: 0, passed: 0, failed: [], skipped: [] };
  }

  begin({ testId, parentId, name }: EventData): void {
    const parent = this.#titles.get(parentId);
    this.#titles.set(testId, parent === undefined ? name : `${parent} > ${name}`);
  }

  complete(data: EventData): void {
    const { details = {} } = data;
    const title = this.#titles.get(data.testId) ?? data.name;
    const reason = skipReasonOf(data);
    // A test with subtests fails with them: the subtests are what counts.
    if (details.error?.failureType === 'subtestsFailed') return;
    if (details.error?.failureType === 'testTimeoutFailure') this.hasTimedOut = true;
    if (details.passed !== true) this.result.failed.push({ title, error: textOf(details.error) });
    else if (details.type === 'suite') return;
    else if (reason === undefined) this.result.passed += 1;
    else this.result.skipped.push({ file: this.result.file, title, reason });
  }

  end({ details = {} }: EventData): void {
    this.isRunning = false;
    this.result.milliseconds = details.duration_ms ?? 0;
    this.result.processorMs = processorTimeOf(this.result.file);
    if (details.passed !== true) this.failure ??= textOf(details.error);
  }

  /** To be called when all events have arrived: those of standard error come last. */
  settle(): FileResult {
    if (this.isRunning) this.failure ??= 'it did not end';
    if (this.failure !== undefined && this.result.failed.length === 0) {
      const error = `${this.failure}\n${this.stderr}`.trim();
      this.result.failed.push({ title: this.result.file, error });
    } else if (this.stderr !== '') {
      // What the process did meanwhile.
      const late = this.result.failed.find(({ error }) => error.includes('timed out'));
      if (late) late.error += `\n${this.stderr.trim()}`;
    }
    return this.result;
  }
}

/** Process ids of our children that run `file`. */
function processesOf(root: string, file: string): number[] {
  const threads = readdirSync('/proc/self/task');
  const children = threads.flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return children.map(Number).filter((pid) => {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
    return resolve(root, words.at(-1) ?? '') === resolve(root, file);
  });
}

function endHanging(files: Iterable<TestFile>, { root, silenceMs }: TestRunOptions): void {
  for (const file of files) {
    const isSilent = performance.now() - file.lastEvent >= silenceMs;
    if (!file.isRunning || file.failure !== undefined || !(isSilent || file.hasTimedOut)) continue;
    const reason = isSilent ? `no event for ${Math.round(silenceMs / 1000)} s` : 'a test has timed out';
    file.failure = `${reason}: the process was killed`;
    // A test that hangs is not the only failure then.
    file.result.failed.push({ title: file.result.file, error: file.failure });
    try {
      for (const pid of processesOf(root, file.result.file)) process.kill(pid, 'SIGKILL');
    } catch {
      // a process that has ended meanwhile
    }
  }
}

export async function runTestFiles(options: TestRunOptions): Promise<FileResult[]> {
  const { root, files, concurrency, nodeOptions, onEnd } = options;
  if (files.length === 0) return [];
  const known = new Map<string, TestFile>();
  const fileOf = (path: string): TestFile => {
    const name = relative(root, path);
    const file = known.get(name) ?? new TestFile(name);
    known.set(name, file);
    return file;
  };
  const events = run({
    files: files.map((file) => resolve(root, file)),
    cwd: root,
    concurrency,
    execArgv: [...nodeOptions],
  }) as AsyncIterable<{ type: string; data: EventData }>;
  const timer = setInterval(() => endHanging(known.values(), options), POLL_MS);
  for await (const { type, data } of events) {
    const path = data?.entryFile ?? data?.file;
    // All files are enqueued at once, and begin when they are dequeued.
    if (path === undefined || type === 'test:enqueue') continue;
    const file = fileOf(path);
    file.lastEvent = performance.now();
    if (type === 'test:stderr') file.stderr = `${file.stderr}${data.message}`.slice(-STDERR_CHARACTERS);
    if (data.entryFile === undefined) {
      if (type === 'test:complete') {
        file.end(data);
        onEnd(file.result, data.details?.passed === true);
      }
    } else if (type === 'test:dequeue') file.begin(data);
    else if (type === 'test:complete') file.complete(data);
  }
  clearInterval(timer);
  return [...known.values()].map((file) => file.settle());
}
