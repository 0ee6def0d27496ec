// Client of this host's Docker Engine over its Unix socket (the Engine's HTTP API, version 1.40 or later). Engines of
// other hosts are not supported.
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Failure, messageOf, systemCode } from '../../../failures.ts';
import { refusals } from '../../nodes/exception-name.ts';

/** The oldest supported version of the API (Docker 19.03). */
const OLDEST = '1.40';
/** Default time limit of a call: an Engine on a busy host is slow to answer. */
const LIMIT_MS = 300_000;
/** Concurrent calls. Further ones wait here, not in the Engine. */
const MOST_CALLS = 16;

/** How long unused connections are kept. */
const IDLE_MS = 5_000;

export const exception = 'DockerError';
export const refusal = refusals(exception);

/** An error answer; `status` is the Engine's. */
export class EngineFailure extends Failure {
  readonly status: number;

  constructor(status: number, message: string) {
    const name = status === 304 || status === 404 ? `DockerHttp${status}Error` : exception;
    super('conflict', message, { exception: name });
    this.status = status;
  }
}

export interface CallOptions {
  body?: object;
  /** A tar archive in place of `body`; the Engine closes the connection if it rejects it. */
  archive?: Readable;
  /** Milliseconds; 0 for no limit. */
  limit?: number;
  signal?: AbortSignal;
}

/** Of the Engine and its API. */
interface Version {
  Version: string;
  ApiVersion: string;
  MinAPIVersion?: string;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export class Engine {
  readonly #socketPath: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: MOST_CALLS, timeout: IDLE_MS });
  #prefix: Promise<string> | undefined;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /**
   * Calls `/v1.xx/<path>` and returns the JSON of the answer. @throws EngineFailure, and Failure `conflict` without an
   * Engine
   */
  async call<T = unknown>(method: Method, path: string, options: CallOptions = {}): Promise<T> {
    const answer = await this.stream(method, path, { limit: LIMIT_MS, ...options });
    const content = await text(answer).catch((error: unknown) => Promise.reject(this.#unreachable(error)));
    return (content === '' ? undefined : JSON.parse(content)) as T;
  }

  /** The answer as a stream. */
  async stream(method: Method, path: string, options: CallOptions = {}): Promise<IncomingMessage> {
    return await this.#send(method, `${await this.#version()}/${path}`, options);
  }

  /** A call that becomes a stream of bytes in both directions (the Engine's "hijacking"). */
  async hijack(path: string, body: object = {}, signal?: AbortSignal): Promise<Duplex> {
    const headers = { connection: 'Upgrade', upgrade: 'tcp' };
    const prefix = await this.#version();
    return await new Promise((resolve, reject) => {
      const sent = this.#request(
        'POST',
        `${prefix}/${path}`,
        { body },
        { agent: false, headers, ...(signal && { signal }) },
      );
      sent.once('error', (error) => reject(this.#unreachable(error)));
      sent.once('response', (answer) => void failureOf(answer).then(reject, reject));
      sent.once('upgrade', (_answer, socket, head) => {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      });
    });
  }

  /** Version of the Engine, such as `20.10.24`. @throws Failure `conflict` if it is missing or too old */
  async version(): Promise<string> {
    return (await this.#told()).Version;
  }

  /** Call this when the Engine was away: it may be another version now. */
  forgetVersion(): void {
    this.#prefix = undefined;
  }

  #version(): Promise<string> {
    this.#prefix ??= this.#negotiate().catch((error: unknown) => {
      this.#prefix = undefined;
      throw error;
    });
    return this.#prefix;
  }

  async #told(): Promise<Version> {
    const answer = await this.#send('GET', '/version', { limit: LIMIT_MS });
    const told = JSON.parse(await text(answer)) as Version;
    if (!isOlder(told.ApiVersion, OLDEST)) return told;
    throw refusal(`Docker ${told.Version} is too old, its API is ${told.ApiVersion}: install Docker 19.03 or later.`);
  }

  async #negotiate(): Promise<string> {
    const { MinAPIVersion: lowest = OLDEST } = await this.#told();
    return `/v${isOlder(lowest, OLDEST) ? OLDEST : lowest}`;
  }

  #request(method: Method, path: string, { body = {}, archive }: CallOptions, more: RequestOptions) {
    if (archive) {
      const headers = { host: 'docker', 'content-type': 'application/x-tar' };
      const sent = request({ socketPath: this.#socketPath, method, path, ...more, headers });
      archive.once('error', (error) => sent.destroy(error)).pipe(sent);
      return sent.once('close', () => archive.destroy());
    }
    const bytes = Buffer.from(JSON.stringify(body));
    const sent = request({
      socketPath: this.#socketPath,
      method,
      path,
      ...more,
      headers: { host: 'docker', 'content-type': 'application/json', 'content-length': bytes.length, ...more.headers },
    });
    sent.end(bytes);
    return sent;
  }

  #send(method: Method, path: string, options: CallOptions): Promise<IncomingMessage> {
    const { limit = 0, signal } = options;
    return new Promise((resolve, reject) => {
      const sent = this.#request(method, path, options, { agent: this.#agent, ...(signal ? { signal } : {}) });
      if (limit > 0)
        sent.setTimeout(limit, () => sent.destroy(new Error(`it did not answer within ${limit / 1000} s`)));
      sent.once('error', (error) => reject(this.#unreachable(error)));
      sent.once('response', (answer) => {
        if ((answer.statusCode ?? 0) < 300) resolve(answer);
        else void failureOf(answer).then(reject, reject);
      });
    });
  }

  #unreachable(error: unknown): Failure {
    if (error instanceof Failure) return error;
    // A call that its caller has ended says nothing of the Engine; one that hangs would not answer for its version either.
    if ((error as Error | undefined)?.name !== 'AbortError') this.forgetVersion();
    return refusal(unreachable(this.#socketPath, error), error);
  }
}

/** Why the Engine cannot be reached at the socket, with the fix. */
export function unreachable(socketPath: string, error: unknown): string {
  switch (systemCode(error)) {
    case 'ENOENT':
      return `There is no Docker Engine here (no socket ${socketPath}): apt install docker.io, or name its socket in section [Docker].`;
    case 'ECONNREFUSED':
      return `The Docker Engine does not run: systemctl start docker.`;
    case 'EACCES':
    case 'EPERM':
      return `The server may not speak to the Docker Engine: let its user be in the group of ${socketPath} (usermod -aG docker labwire), then start it again.`;
  }
  return `The Docker Engine cannot be reached: ${messageOf(error)}`;
}

async function failureOf(answer: IncomingMessage): Promise<EngineFailure> {
  const status = answer.statusCode ?? 0;
  const content = await text(answer);
  let message = content.trim();
  try {
    message = (JSON.parse(content) as { message?: string }).message ?? message;
  } catch {
    // Not JSON: keep the Engine's text.
  }
  return new EngineFailure(status, `Docker: ${message === '' ? `status ${status}` : message}`);
}

/** Compares versions such as `1.41`. */
function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = than.split('.').map(Number);
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}
