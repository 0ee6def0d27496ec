// The server as the demonstration sees it: requests of the public API, and what their failures mean to a person.
import { whyUnreachable } from '../client/server/unreachable.ts';
import { Failure } from '../failures.ts';
import { basicHeader } from '../http/access/authentication.ts';

const ANSWER_MS = 10_000;

export interface LabServerOptions {
  /** Address of the server, with user and password if it asks for them. */
  url: string;
  /** Told of every request before it is made. */
  announce(method: string, path: string, body?: object): void;
}

export class LabServer {
  /** Scheme, host and port: no credentials, no slash at the end. */
  readonly address: string;
  /** Name or IP literal without brackets. */
  readonly host: string;
  /** User of the address; undefined without credentials. */
  readonly user: string | undefined;
  readonly #headers: Record<string, string> = {};
  readonly #announce: LabServerOptions['announce'];

  /** @throws Failure `invalid` when the address cannot be one */
  constructor({ url, announce }: LabServerOptions) {
    const { protocol, host, hostname, username, password } = new URL(url);
    if (protocol !== 'http:' && protocol !== 'https:') {
      throw new Failure('invalid', `"${url}" is not the address of a server: write http://HOST:PORT`);
    }
    this.address = `${protocol}//${host}`;
    this.host = hostname.replace(/^\[(.*)\]$/, '$1');
    this.user = username === '' ? undefined : decodeURIComponent(username);
    if (this.user !== undefined) {
      this.#headers['Authorization'] = basicHeader({ user: this.user, password: decodeURIComponent(password) });
    }
    this.#announce = announce;
  }

  /**
   * The release of the API that is spoken there.
   * @throws Failure when nobody answers, or something else does
   */
  async release(): Promise<string> {
    const answer = await this.request('GET', '/v2/version');
    if (typeof answer === 'object' && answer !== null && 'version' in answer) return String(answer.version);
    throw this.#stranger();
  }

  /**
   * The parsed answer; undefined when it is empty.
   * @throws Failure that says what a person can do
   */
  async request(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<unknown> {
    this.#announce(method, path, body);
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await this.#fetch(path, { ...init, signal: AbortSignal.timeout(ANSWER_MS) });
    const text = await response.text();
    if (!text) return undefined;
    try {
      return JSON.parse(text);
    } catch {
      throw this.#stranger();
    }
  }

  /** The bytes of an answer that does not end; `signal` ends it. */
  async stream(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    this.#announce('GET', path);
    const { body } = await this.#fetch(path, { signal });
    if (body === null) throw new Failure('conflict', `GET ${path} has no content.`);
    return body;
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(this.address + path, { ...init, headers: this.#headers });
    } catch (thrown) {
      throw this.#unreachable(thrown);
    }
    if (!response.ok) throw await this.#refusal(response);
    return response;
  }

  async #refusal(response: Response): Promise<Failure> {
    if (response.status === 401) {
      return new Failure(
        'unauthorized',
        this.user === undefined
          ? `${this.address} asks for a user and a password: labwired demo ${this.address.replace('//', '//USER:PASSWORD@')}`
          : `${this.address} does not accept this password for user "${this.user}": see user and password in its configuration`,
      );
    }
    const body: unknown = await response.json().catch(() => undefined);
    if (typeof body !== 'object' || body === null || !('message' in body)) throw this.#stranger();
    return new Failure('conflict', `The server refuses (status ${response.status}): ${String(body.message)}`);
  }

  #stranger(): Failure {
    return new Failure('conflict', `What answers at ${this.address} is not a server of the GNS3 API, version 2.`);
  }

  #unreachable(thrown: unknown): Failure {
    if (thrown instanceof Error && thrown.name === 'TimeoutError') {
      return new Failure('time-out', `${this.address} did not answer within ${ANSWER_MS / 1000} s.`);
    }
    // What fetch() throws says "fetch failed"; the reason is its cause.
    const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
    return new Failure('unavailable', `${this.address} cannot be reached: ${whyUnreachable(cause)}`, { cause: thrown });
  }
}
