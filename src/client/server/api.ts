// The API client: requests, streams, uploads and WebSockets, with errors for users. It does not use fetch(), which aborts after five
// minutes of silence: captures of quiet links and large starts take longer.
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { conflict, Failure, invalid, timedOut, unauthorized, unavailable } from '../../failures.ts';
import { basicHeader } from '../../http/access/authentication.ts';
import { TOKEN_PREFIX } from '../../store/roles.ts';
import { whyUnreachable } from './unreachable.ts';

const CONNECT_MS = 10_000;
/** Reading must be fast; starts and imports have no limit. */
const READ_MS = 60_000;
/** The default user of a server. */
const USUAL_USER = 'admin';

export interface ApiOptions {
  /** `http[s]://[USER[:PASSWORD]@]HOST[:PORT]`, or `unix:PATH` */
  url: string;
  /** Goes before that of the URL; it may be a token. */
  password?: string | undefined;
  /** Prompts the user; undefined without a terminal. */
  askPassword?: ((question: string) => Promise<string>) | undefined;
}

export interface Body {
  content: string | Readable;
  type: string;
  /** In bytes, of a stream. */
  length?: number;
}

/** Headers and body of a request. */
interface Sent {
  body?: Body | undefined;
  headers?: Readonly<Record<string, string>>;
  /** How long (ms) the answer may take. */
  limit?: number | undefined;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export class Api {
  /** Scheme, host and port: no credentials, no slash at the end. Or `unix:` and a path. */
  readonly address: string;
  readonly #socketPath: string | undefined;
  /** Prefix of all request paths. */
  readonly #base: string;
  readonly #user: string;
  #password: string | undefined;
  readonly #askPassword: ApiOptions['askPassword'];
  #isLabwire: Promise<boolean> | undefined;
  /** Awaited before each request. */
  pause: () => Promise<unknown> | undefined = () => undefined;

  /** @throws Failure `invalid` when the address cannot be one */
  constructor({ url, password, askPassword }: ApiOptions) {
    this.#socketPath = /^unix:(\/.+)$/.exec(url)?.[1];
    const parsed = this.#socketPath ? new URL('http://localhost') : URL.parse(url);
    if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.pathname !== '/') {
      throw invalid(
        `"${withoutPassword(url)}" is not a server address: write http://HOST:PORT, or unix:/PATH for its local socket`,
      );
    }
    this.#base = `${parsed.protocol}//${parsed.host}`;
    this.address = this.#socketPath ? url : this.#base;
    const place = `"${withoutPassword(url)}" (--server or $LABWIRE_SERVER)`;
    this.#user = decodedPart(parsed.username, place) || USUAL_USER;
    this.#password = password ?? (decodedPart(parsed.password, place) || undefined);
    this.#askPassword = askPassword;
  }

  get<T>(path: string): Promise<T> {
    return this.request('GET', path) as Promise<T>;
  }

  post<T>(path: string, body: object = {}, headers: Sent['headers'] = {}): Promise<T> {
    return this.request('POST', path, body, headers) as Promise<T>;
  }

  async delete(path: string): Promise<void> {
    await this.request('DELETE', path);
  }

  /**
   * The parsed response; undefined if empty.
   * @throws Failure with advice for the user
   */
  async request(method: Method, path: string, body?: object, headers: Sent['headers'] = {}): Promise<unknown> {
    const sent = body && { content: JSON.stringify(body), type: 'application/json' };
    const limit = method === 'GET' ? READ_MS : undefined;
    return this.#parsed(await this.#answer(method, path, { body: sent, headers, limit }));
  }

  /** The response body, which may be endless; destroying it ends the request. */
  stream(path: string, headers: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
    return this.#answer('GET', path, { headers });
  }

  /** Sends a file. An upload cannot be repeated, so another request checks the password first. */
  async upload(path: string, body: Body): Promise<unknown> {
    return this.#parsed(await this.#answer('POST', path, { body }));
  }

  /**
   * Whether the server is Labwire rather than the release.
   * @throws Failure if it does not answer
   */
  isLabwire(): Promise<boolean> {
    this.#isLabwire ??= this.get('/v2/operations').then(
      () => true,
      (error: unknown) => {
        if (error instanceof Failure && ['not-found', 'conflict'].includes(error.code)) return false;
        throw error;
      },
    );
    return this.#isLabwire;
  }

  /** Opens a WebSocket; it is paused, since nothing listens yet. */
  async socket(path: string): Promise<WebSocket> {
    const socketPath = this.#socketPath;
    const socket = new WebSocket(this.#base.replace('http', 'ws') + path, {
      headers: this.#headers(),
      handshakeTimeout: CONNECT_MS,
      ...(socketPath && { createConnection: () => connect(socketPath) }),
    });
    const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
    socket.once('open', () => {
      socket.pause();
      resolve(socket);
    });
    socket.once('unexpected-response', (_request, response) => {
      this.#refusal(response).then(reject, reject);
    });
    // Closing a socket that is not open yet, as after a refusal, emits a late error, too.
    socket.on('error', (error) => reject(this.#unreachable(error)));
    try {
      return await promise;
    } catch (error) {
      socket.terminate();
      throw error;
    }
  }

  async #parsed(response: IncomingMessage): Promise<unknown> {
    let content: string;
    try {
      content = await text(response);
    } catch (error) {
      throw this.#unreachable(error);
    }
    if (!content) return undefined;
    try {
      return JSON.parse(content);
    } catch {
      throw this.#stranger();
    }
  }

  #headers(): Record<string, string> {
    const [user, password] = [this.#user, this.#password];
    if (password === undefined) return {};
    return { Authorization: isToken(password) ? `Bearer ${password}` : basicHeader({ user, password }) };
  }

  /** @throws Failure if the server reports an error */
  async #answer(method: Method, path: string, options: Sent = {}): Promise<IncomingMessage> {
    await this.pause();
    const response = await this.#send(method, path, options);
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return response;
    const canAsk = status === 401 && this.#password === undefined && typeof options.body?.content !== 'object';
    if (!canAsk || !this.#askPassword) throw await this.#refusal(response);
    response.resume();
    this.#password = await this.#askPassword(`Password of ${this.#user} at ${this.address}: `);
    return this.#answer(method, path, options);
  }

  #send(method: Method, path: string, { body, headers, limit }: Sent): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const length = typeof body?.content === 'string' ? Buffer.byteLength(body.content) : body?.length;
    const request = (this.#base.startsWith('https:') ? httpsRequest : httpRequest)(this.#base + path, {
      method,
      ...(this.#socketPath && { socketPath: this.#socketPath }),
      headers: {
        ...headers,
        ...this.#headers(),
        ...(body && { 'Content-Type': body.type }),
        ...(length !== undefined && { 'Content-Length': length }),
      },
      // From here on: before, the user may have typed a password.
      ...(limit !== undefined && { signal: AbortSignal.timeout(limit) }),
    });
    limitConnecting(request, () => timedOut(`${this.address} does not answer.`));
    request.once('response', resolve);
    request.on('error', (error) => reject(this.#unreachable(error)));
    if (body === undefined || typeof body.content === 'string') request.end(body?.content);
    else {
      body.content.once('error', (error) => request.destroy(error));
      body.content.pipe(request);
    }
    return promise;
  }

  async #refusal(response: IncomingMessage): Promise<Failure> {
    const content = await text(response).catch(() => '');
    if (response.statusCode === 401) {
      return unauthorized(
        this.#password === undefined
          ? `${this.address} asks for a user and a password: ${this.#socketPath ? '' : `--server ${this.address.replace('//', '//USER@')} `}--password-file FILE`
          : isToken(this.#password)
            ? `${this.address} does not accept this token: it has expired, or was revoked.`
            : `${this.address} does not accept this password for user "${this.#user}".`,
      );
    }
    if (response.statusCode === 429) return unavailable(sentence(content.replace(/^429: /, '')));
    const message = messageIn(content);
    if (message === undefined) return this.#stranger();
    return new Failure(response.statusCode === 404 ? 'not-found' : 'conflict', sentence(message));
  }

  #stranger(): Failure {
    return conflict(`No server of the GNS3 API, version 2, answers at ${this.address}.`);
  }

  #unreachable(thrown: unknown): Failure {
    if (thrown instanceof Failure) return thrown;
    if (thrown instanceof Error && ['AbortError', 'TimeoutError'].includes(thrown.name)) {
      return timedOut(`${this.address} did not answer within ${READ_MS / 1000} s.`);
    }
    const why = sentence(whyUnreachable(thrown));
    return unavailable(`${this.address} cannot be reached: ${why}`, { cause: thrown });
  }
}

/** Detects hosts that drop packets. */
function limitConnecting(request: ClientRequest, failure: () => Failure): void {
  const timer = setTimeout(() => request.destroy(failure()), CONNECT_MS);
  const stop = (): void => clearTimeout(timer);
  request.once('socket', (socket) => (socket.connecting ? socket.once('connect', stop) : stop()));
  request.once('close', stop);
}

function messageIn(content: string): string | undefined {
  try {
    const { message } = JSON.parse(content) as { message?: unknown };
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}

/** Tokens are given as passwords. */
function isToken(password: string): boolean {
  return password.startsWith(TOKEN_PREFIX);
}

/** On one line. */
function sentence(message: string): string {
  return message.trim().replaceAll(/\s+/g, ' ');
}

/** Whether an address has a password in it. */
export function hasPassword(url: string): boolean {
  return /\/\/[^/@]*:[^/@]*@/.test(url);
}

/** The user or the password of an address. @throws Failure `invalid` */
export function decodedPart(part: string, place: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid(`The user or password in ${place} has a "%" by itself: write % as %25.`);
  }
}

/** An address as it may be shown. */
function withoutPassword(url: string): string {
  return url.replace(/:[^:@/]*@/, '@');
}
