// A daemon of a test's own: the real program on a free port and a scratch directory, gone afterwards whatever happens.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { type Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cleanup } from '../cleanup.ts';
import { eventually } from '../eventually.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { executable } from './executable.ts';
import { type OwnPorts, ownPorts } from './own-ports.ts';
import { killAllIn } from './processes.ts';
import { tcpTable } from './tcp-table.ts';

/** With dozens of other programs that want the cores a start takes many times as long. */
const READY_MS = 60_000;

export interface DaemonOptions {
  /** Words that start the program; without them the executable. */
  program?: readonly string[];
  /** Text of the configuration file; null: none is named, the daemon looks for those that are in its usual places. */
  config?: string | null;
  /** After `--host`, `--port`, `--state` and `--config`. */
  flags?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  host?: string;
  /** Sent with every question, such as `Authorization`. */
  headers?: Readonly<Record<string, string>>;
  /** Of the request that the daemon is asked with; `https` takes any certificate. */
  scheme?: 'http' | 'https';
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The parsed body; undefined unless it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by tests, member by member
  json: any;
}

export interface Question {
  /** Sent as JSON, or as it is when it is text or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
  agent?: Agent;
}

/** The environment of a daemon with thousands of nodes and cables: consoles and UDP ports for all, away from those of daemons in use here. */
export const MANY_PORTS = {
  LABWIRE_SERVER_CONSOLE_START_PORT_RANGE: '21001',
  LABWIRE_SERVER_CONSOLE_END_PORT_RANGE: '31000',
  LABWIRE_SERVER_UDP_START_PORT_RANGE: '33000',
  LABWIRE_SERVER_UDP_END_PORT_RANGE: '60000',
};

/** Home directories of all daemons of this process: what runs with one of them is a daemon's doing. */
export const DAEMON_HOMES: string[] = [];

function environmentOf({ first, last }: OwnPorts): Record<string, string> {
  return Object.fromEntries(
    ['CONSOLE', 'UDP'].flatMap((kind) => [
      [`LABWIRE_SERVER_${kind}_START_PORT_RANGE`, `${first}`],
      [`LABWIRE_SERVER_${kind}_END_PORT_RANGE`, `${last}`],
    ]),
  );
}

export { eventually };

/** How a daemon ended. */
export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  milliseconds: number;
}

export class Daemon implements AsyncDisposable {
  /** Everything of this daemon is below it. */
  readonly directory = realpathSync(mkdtempSync(join(tmpdir(), 'labwire-system-')));
  readonly state = join(this.directory, 'state');
  /** For the daemon's temporary files. */
  readonly temporary = join(this.directory, 'tmp');
  readonly configFile = join(this.directory, 'labwired.conf');
  /** What the daemon wrote to standard error, all its lives together. */
  log = '';
  port = 0;
  readonly #options: DaemonOptions;
  #ports: OwnPorts | undefined;
  #child: ChildProcess | undefined;

  constructor(options: DaemonOptions = {}) {
    this.#options = options;
    DAEMON_HOMES.push(this.directory);
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  get url(): string {
    const { host = '127.0.0.1', scheme = 'http' } = this.#options;
    return `${scheme}://${host}:${this.port}`;
  }

  /** Sent with every question. */
  get headers(): Readonly<Record<string, string>> {
    return this.#options.headers ?? {};
  }

  /** The port of all its lives, before the first of them. */
  async choosePort(): Promise<void> {
    this.port ||= await freeTcpPort();
  }

  /** Starts the program without waiting for anything; the port stays the same from life to life. */
  async spawn(): Promise<ChildProcess> {
    const { program = executable(), config = '', flags = [], environment = {}, host = '127.0.0.1' } = this.#options;
    await this.choosePort();
    this.#ports ??= await ownPorts();
    const ranges = environmentOf(this.#ports);
    mkdirSync(this.temporary, { recursive: true });
    if (config !== null) writeFileSync(this.configFile, config);
    const [command, ...words] = program as [string, ...string[]];
    const own = ['--host', host, '--port', `${this.port}`, '--state', this.state];
    const named = config === null ? [] : ['--config', this.configFile];
    const child = spawn(command, [...words, ...own, ...named, ...flags], {
      cwd: this.directory,
      env: { PATH: process.env['PATH'], HOME: this.directory, TMPDIR: this.temporary, ...ranges, ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.log += text;
    });
    this.#child = child;
    return child;
  }

  /** Starts the program; resolves when it says that it is ready. */
  async start(): Promise<this> {
    const { said, ready } = await this.#outcome();
    if (!ready) throw new Error(`the daemon did not start:\n${said}`);
    return this;
  }

  /** For a daemon that is expected to refuse: how it ended, and what it said. */
  async refusal(): Promise<Ending & { said: string }> {
    const start = performance.now();
    const { said, ready } = await this.#outcome();
    if (ready) throw new Error(`the daemon started:\n${said}`);
    return { ...(await this.ending()), milliseconds: performance.now() - start, said };
  }

  /** Starts the program and waits until it is ready, or has ended. */
  async #outcome(): Promise<{ said: string; ready: boolean }> {
    const before = this.log.length;
    const child = await this.spawn();
    const ended = once(child, 'close').then(() => true);
    const deadline = performance.now() + READY_MS;
    for (;;) {
      const over = (await Promise.race([ended, sleep(2)])) || performance.now() > deadline;
      const said = this.log.slice(before);
      const ready = / ready url=/.test(said);
      if (ready || over) return { said, ready };
    }
  }

  /** Resolves when it has ended, at once when it has already. */
  async ending(): Promise<Ending> {
    const child = this.#child!;
    const start = performance.now();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return { code: child.exitCode, signal: child.signalCode, milliseconds: performance.now() - start };
  }

  async end(signal: NodeJS.Signals): Promise<Ending> {
    const ending = this.ending();
    this.#child!.kill(signal);
    return ending;
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** An answer of whatever status. The path is sent as it stands. */
  ask(method: string, path: string, { body, headers = {}, agent }: Question = {}): Promise<Answer> {
    const plain = typeof body === 'string' || body instanceof Uint8Array;
    const bytes = body === undefined || plain ? body : JSON.stringify(body);
    const { host = '127.0.0.1', scheme = 'http' } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const request = (scheme === 'http' ? httpRequest : httpsRequest)({
      ...{
        host,
        port: this.port,
        method,
        path,
        headers: { ...this.headers, ...headers },
        agent,
        rejectUnauthorized: false,
      },
    });
    request.on('error', reject);
    request.on('response', async (response) => {
      try {
        const text = Buffer.concat(await response.toArray()).toString();
        const isJson = response.headers['content-type']?.startsWith('application/json') && text !== '';
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, text, json: isJson ? JSON.parse(text) : undefined });
      } catch (error) {
        reject(error);
      }
    });
    request.end(bytes);
    return promise;
  }

  /** The JSON of an answer; a status that tells of a failure is an error. */
  async get(path: string): Promise<Answer['json']> {
    return this.#succeed('GET', path);
  }

  async post(path: string, body?: unknown): Promise<Answer['json']> {
    return this.#succeed('POST', path, body);
  }

  async put(path: string, body: unknown): Promise<Answer['json']> {
    return this.#succeed('PUT', path, body);
  }

  async delete(path: string): Promise<void> {
    await this.#succeed('DELETE', path);
  }

  async #succeed(method: string, path: string, body?: unknown): Promise<Answer['json']> {
    const { status, text, json } = await this.ask(method, path, { body });
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return json;
  }

  /** Kills what is left and removes everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child) await this.kill();
    killAllIn(this.directory);
    this.#ports?.[Symbol.dispose]();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A started daemon that ends with the test; when the test fails its log is shown. */
export async function startDaemon(t: TestContext, options: DaemonOptions = {}): Promise<Daemon> {
  const daemon = ownDaemon(t, options);
  return daemon.start();
}

/** A test, which shows why it failed, or a benchmark. */
type Reporting = Cleanup & { passed?: boolean; diagnostic?: TestContext['diagnostic'] };

/** The same, not started yet. */
export function ownDaemon(t: Reporting, options: DaemonOptions = {}): Daemon {
  const daemon = new Daemon(options);
  t.after(async () => {
    if (!t.passed) {
      t.diagnostic?.(`log of the daemon:\n${daemon.log}`);
      if (daemon.port > 0) t.diagnostic?.(`its connections:\n${tcpTable(daemon.pid, daemon.port).join('\n')}`);
    }
    await daemon[Symbol.asyncDispose]();
  });
  return daemon;
}
