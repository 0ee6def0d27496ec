// The App: one application made from a list of routes, with parameters, bodies, responses, errors, 404, 405 and WebSockets. It serves the
// network (through server.ts) and callers in this process (`request`, `openSocket`).
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { TrieRouter } from 'hono/router/trie-router';
import { tryDecodeURIComponent } from 'hono/utils/url';
import type { RouteDefinition, Schema } from '../../api/routes/definition.ts';
import { answerBody } from '../../events/json.ts';
import { Failure, forbidden, invalid } from '../../failures.ts';
import { jsonCopy } from '../../host/values/json-copy.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import { within } from '../../host/values/progress.ts';
import type { AccessControl } from '../access/access-control.ts';
import type { Admission, Identity } from '../access/identity.ts';
import type { Admissions } from '../access/open-connections.ts';
import { StandingRight } from '../access/standing-right.ts';
import { ABNORMAL, type MessageSocket, socketPair } from '../sockets/message-socket.ts';
import { MalformedBody, mergeQuery, queryMembers, readJsonBody } from './body.ts';
import { compressed } from './compression.ts';
import { isV3, methodNotAllowed, renderFailure, unknownPath } from './errors.ts';
import type { RecordedRequest } from './recording.ts';
import {
  type Answer,
  type Connected,
  type HttpRoute,
  JsonText,
  type RequestClient,
  type Route,
  type RouteRequest,
  type SocketRoute,
} from './route.ts';
import { targetOf } from './target.ts';
import { breakingOff } from './truncated-responses.ts';
import { validated } from './validation.ts';

/** What accompanies a request. */
export interface AppEnvironment {
  /**
   * The request target as sent (or as written by a caller in this process). Routing uses it rather than the Request's URL, in which dot
   * segments, plain or encoded, would already be resolved.
   */
  target?: string;
  /** The request of the network server. */
  incoming?: { socket: { remoteAddress?: string | undefined; encrypted?: boolean } };
  /** The client, as identified by the gate. */
  client?: RequestClient;
  /** Identifies this request in the log and for its client. */
  requestId?: string;
  /** The pattern of the matched route. */
  route?: string;
  /** The body of a GET: a Request cannot have one, but the release reads it. */
  body?: () => ReadableStream<Uint8Array>;
  /** The network response. */
  outgoing?: { readonly destroyed: boolean; destroy(): void; once(event: 'close', over: () => void): void };
  /** Set if the request is a complete WebSocket opening; called with the route's function for the open socket. */
  connect?: (connected: Connected) => void;
  /** Set for long-lived requests: throws if the client is no longer allowed. */
  check?: (identity: Identity) => void;
  /** Why a request with `Upgrade` is not a complete opening. */
  openingProblem?: string | undefined;
}

type HonoContext = Context<{ Bindings: AppEnvironment }>;

/** A route and the parameters in the path, as sent. */
type Match = [route: Route, params: Record<string, string>];

export interface RequestOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
  signal?: AbortSignal;
}

/** A call of this process with a JSON body. */
export interface CallOptions {
  method: string;
  headers?: Record<string, string>;
  body?: object | undefined;
  signal?: AbortSignal;
}

/** What a route has answered to a call of this process, with which it shares nothing; undefined without content. */
export interface Called {
  value: unknown;
}

export interface AppOptions {
  /** Runs before every route, in this order. */
  middleware?: readonly MiddlewareHandler<{ Bindings: AppEnvironment }>[];
  /** Shared by applications that serve the same nodes. */
  lock?: KeyedLock;
  /** Decides the rights of authenticated clients. */
  access?: AccessControl | undefined;
  /** Watches WebSockets and long-lived responses. */
  admissions?: Admissions | undefined;
  /** Called with every JSON request, before validation. */
  record?: ((request: RecordedRequest) => void) | undefined;
  /** Routes of the API of release 3.0.6, made at the first request for one of them. */
  v3?: () => readonly Route[];
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'];

/** Of calls that cannot be cancelled. */
const NEVER = new AbortController().signal;

const THIS_PROCESS: RequestClient = { address: 'this process', identity: undefined };

export class App {
  readonly hono: Hono<{ Bindings: AppEnvironment }>;
  readonly #routes: Route[] = [];
  /** Until they are made. */
  #v3: AppOptions['v3'];
  /** Hono's own router has only the checks before all routes, so that each route is entered once. */
  readonly #router = new TrieRouter<Route>();
  readonly #lock: KeyedLock;
  readonly #record: AppOptions['record'];
  readonly #access: AccessControl | undefined;
  readonly admissions: Admissions | undefined;

  constructor(
    routes: readonly Route[],
    { middleware = [], lock = new KeyedLock(), record, access, admissions, v3 }: AppOptions = {},
  ) {
    this.#v3 = v3;
    this.#lock = lock;
    this.#record = record;
    this.#access = access;
    this.admissions = admissions;
    this.hono = new Hono<{ Bindings: AppEnvironment }>({
      // The first that Hono does with a request.
      getPath: (request, options) => this.#ready(targetOf(request, options?.env)),
      router: new TrieRouter(),
    });
    for (const handler of middleware) this.hono.use(handler);
    for (const route of routes) this.#add(route);
    this.hono.all('*', (context) => {
      const { method, path } = context.req;
      const [match] = this.#matches(method, path);
      return match === undefined ? this.#missing(context) : this.#dispatch(match, context);
    });
    this.hono.onError((error, context) => renderFailure(error, undefined, context.env.requestId));
  }

  /** All of them, those of release 3.0.6 included. */
  get routes(): readonly Route[] {
    this.#makeV3();
    return this.#routes;
  }

  #add(route: Route): void {
    this.#routes.push(route);
    this.#router.add(route.method, honoPath(route.pattern), route);
  }

  /** The routes that match, in their order. */
  #matches(method: string, path: string): Match[] {
    // This router gives parameters by name; others of Hono give numbers.
    return this.#router.match(method, path)[0] as Match[];
  }

  /** Answers a request that no route matches. */
  #missing(context: HonoContext): Response {
    const { path } = context.req;
    // Release 3.0.6 refuses the opening of a WebSocket before it looks for its address.
    if (isV3(path) && /^websocket$/i.test(context.req.header('upgrade') ?? ''))
      return new Response('', { status: 403 });
    const methods = this.#allowed(path);
    if (methods.length > 0) return methodNotAllowed(methods, path);
    const shorter = path.replace(/\/$/, '');
    if (isV3(path) && shorter !== path && this.#allowed(shorter).length > 0) {
      const target = targetOf(context.req.raw, context.env);
      return new Response(null, { status: 307, headers: { Location: shorter + target.slice(path.length) } });
    }
    return unknownPath(path);
  }

  #allowed(path: string): string[] {
    return METHODS.filter((method) => this.definitionAt(method, path) !== undefined);
  }

  /** The path of a target, whose routes are there when this returns. */
  #ready(target: string): string {
    const path = pathOfTarget(target);
    if (isV3(path)) this.#makeV3();
    return path;
  }

  #makeV3(): void {
    const make = this.#v3;
    this.#v3 = undefined;
    for (const route of make?.() ?? []) this.#add(route);
  }

  /** The definition of the route that matches, if one does. */
  definitionAt(method: string, target: string): RouteDefinition | undefined {
    return this.routeAt(method, target)?.definition;
  }

  /** The same with the parameters of the path, decoded. */
  routeAt(method: string, target: string): { definition: RouteDefinition; params: Record<string, string> } | undefined {
    const [match] = this.#matches(method, this.#ready(target));
    return match && { definition: match[0].definition, params: decoded(match[1]) };
  }

  /** Whether `target` (path and query as sent) is a WebSocket route. */
  hasSocket(target: string): boolean {
    return this.#matches('GET', this.#ready(target)).some(([{ kind }]) => kind === 'socket');
  }

  /** A request within this process; `target` is path and query, used unchanged. */
  async request(target: string, options: RequestOptions = {}): Promise<Response> {
    const init: RequestInit & { duplex?: 'half' } = { method: options.method ?? 'GET' };
    if (options.headers) init.headers = options.headers;
    if (options.signal) init.signal = options.signal;
    if (options.body != null) Object.assign(init, { body: options.body, duplex: 'half' });
    return this.hono.fetch(new Request('http://localhost/', init), { target });
  }

  /**
   * Calls a route within this process with objects instead of a request and text. The body is validated and nodes take turns as over HTTP;
   * a refusal, or any answer but JSON, is a response as over HTTP.
   */
  async call(target: string, { method, headers, body = {}, signal = NEVER }: CallOptions): Promise<Called | Response> {
    const [route, params = {}] = this.#matches(method, this.#ready(target))[0] ?? [];
    if (route?.kind !== 'http' || route.definition.raw) {
      const sent = Object.keys(body).length > 0 ? JSON.stringify(body) : null;
      return this.request(target, { method, body: sent, signal, ...(headers && { headers }) });
    }
    const search = target.indexOf('?');
    const query = queryMembers(search < 0 ? '' : target.slice(search));
    const merged = mergeQuery(jsonCopy(body), query);
    try {
      const answer = await this.#inTurn(route, {
        params: decoded(params),
        body: route.definition.body ? validatedBody(route.definition.body, merged) : merged,
        headers: new Headers(headers),
        query,
        signal,
        stream: null,
        host: '',
        client: THIS_PROCESS,
      });
      if (answer instanceof Response) return answer;
      return { value: answer instanceof JsonText ? JSON.parse(answer.text) : jsonCopy(answer) };
    } catch (error) {
      return renderFailure(error, { path: route.pattern, method: route.method, request: merged });
    }
  }

  /**
   * Opens a WebSocket route within this process.
   * @throws Failure with the refusal's message
   */
  async openSocket(target: string, headers: Record<string, string> = {}): Promise<MessageSocket> {
    const [near, far] = socketPair();
    let accepted = false;
    const response = await this.hono.fetch(new Request('http://localhost/', { headers }), {
      target,
      connect: (connected) => {
        accepted = true;
        connected(far);
      },
    });
    if (accepted) return near;
    const body: unknown = await response.json().catch(() => undefined);
    const message = typeof body === 'object' && body !== null && 'message' in body ? String(body.message) : '';
    throw new Failure(response.status === 404 ? 'not-found' : 'conflict', message || `${target}: ${response.status}`);
  }

  async #dispatch([route, params]: Match, context: HonoContext): Promise<Response> {
    context.env.route = route.pattern;
    const made = () => routeRequest(context, decoded(params), this.#record);
    const { client } = context.env;
    const identity = client?.identity;
    const access = this.#access;
    if (identity === undefined || access === undefined) return this.#answer(route, made, context);
    const told: { answer: unknown; admission: Admission | undefined } = { answer: undefined, admission: undefined };
    const response = await this.#answer(route, made, context, (request) => {
      const admission = access.admit(route, request, identity);
      told.admission = admission;
      request.client = { ...request.client, watches: admission.watches };
      // A client that lost write access must reconnect as a viewer.
      context.env.check = (now) => {
        const { watches } = access.admit(route, request, now);
        if (watches && !admission.watches) throw forbidden('You may only watch this lab from now on.');
      };
      return (answer) => {
        told.answer = answer;
      };
    });
    const { requestId } = context.env;
    access.answered(route, made(), identity, { status: response.status, requestId, ...told });
    return response;
  }

  /** @param admit throws if the request is not allowed; its result is called with the response */
  async #answer(
    route: Route,
    made: () => RouteRequest,
    context: HonoContext,
    admit?: (request: RouteRequest) => (answer: unknown) => void,
  ): Promise<Response> {
    const refused = { path: route.pattern, method: route.method, request: {} as unknown };
    try {
      const request = made();
      const tell = admit?.(request);
      refused.request = request.query;
      if (route.kind === 'socket') return await this.#upgrade(route, request, context);
      using right = this.#rightTo(route, context);
      if (right) {
        request.stream = right.body(request.stream);
        request.signal = AbortSignal.any([request.signal, right.signal]);
      }
      if (!route.definition.raw) {
        const sent = await readJsonBody(request.stream ?? context.env.body?.() ?? null);
        request.record?.(sent);
        const body = mergeQuery(sent, request.query);
        refused.request = body;
        request.body = route.definition.body ? validatedBody(route.definition.body, body) : body;
      }
      const work = () => this.#inTurn(route, request);
      const answer = await (right ? within(right.progress, work) : work());
      tell?.(answer);
      const response = await render(answer, route, request.headers);
      const { outgoing } = context.env;
      if (answer instanceof Response && outgoing) this.#lookAfter(outgoing, route, context);
      return answer instanceof Response && outgoing ? breakingOff(response, outgoing, route.pattern) : response;
    } catch (error) {
      if (error instanceof MalformedBody) refused.request = error.request;
      if (route.kind === 'socket' && isV3(route.pattern) && context.env.connect) {
        // Release 3.0.6 accepts the connection, and ends it at once.
        context.env.connect((socket) => socket.close(ABNORMAL));
        return new Response(null, { status: 204 });
      }
      const { requestId } = context.env;
      const own = route.kind === 'http' ? route.failure?.(error, requestId) : undefined;
      const response = own ?? renderFailure(error, refused, requestId);
      response.headers.set('X-Route', route.pattern);
      return response;
    }
  }

  /** The right to a change, which may be lost before the change is done; undefined without authentication. */
  #rightTo({ method }: Route, { env: { client, check } }: HonoContext): StandingRight | undefined {
    const tag = client?.identity?.tag;
    if (this.admissions === undefined || tag === undefined || method === 'GET') return undefined;
    return new StandingRight(this.admissions, { tag, check });
  }

  /** Ends a long-lived response when its client is no longer allowed. */
  #lookAfter(outgoing: NonNullable<AppEnvironment['outgoing']>, { definition }: Route, { env }: HonoContext): void {
    // Everybody may read it; or the client has disconnected meanwhile, so that `close` does not come again.
    if (definition.open || outgoing.destroyed) return;
    const over = this.admissions?.watch({
      tag: env.client?.identity?.tag,
      check: env.check,
      end: () => outgoing.destroy(),
    });
    if (over) outgoing.once('close', over);
  }

  /** Requests of the same turn run one at a time. */
  #inTurn(route: HttpRoute, request: RouteRequest): Answer | Promise<Answer> {
    const { turn } = route;
    if (turn === undefined) return route.handle(request);
    route.definition.ahead?.(request.params);
    return this.#lock.run(turn(request.params), () => route.handle(request));
  }

  async #upgrade(route: SocketRoute, request: RouteRequest, { env }: HonoContext): Promise<Response> {
    if (!env.connect) {
      if (isV3(route.pattern)) return unknownPath(route.pattern);
      const problem = env.openingProblem ?? 'connect with a WebSocket client';
      throw invalid(`This address speaks WebSocket only: ${problem}.`);
    }
    env.connect(await route.accept(request as RouteRequest<string, undefined>));
    return new Response(null, { status: 204 });
  }
}

/** Schemas of objects accept an array as an object without members; for clients it is an error. */
function validatedBody(schema: Schema, body: unknown): unknown {
  if (Array.isArray(body)) throw invalid('Invalid request: body: expected an object, received a list');
  return validated(schema, body);
}

/** Parameters of a path, percent-decoded where they can be. */
function decoded(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, text]) => [name, tryDecodeURIComponent(text)]));
}

function pathOfTarget(target: string): string {
  const end = target.search(/[?#]/);
  return end < 0 ? target : target.slice(0, end);
}

function routeRequest(
  context: HonoContext,
  params: Record<string, string>,
  record: AppOptions['record'],
): RouteRequest {
  const target = targetOf(context.req.raw, context.env);
  const search = target.indexOf('?');
  const raw = context.req.raw;
  return {
    params,
    body: undefined,
    query: queryMembers(search < 0 ? '' : target.slice(search)),
    headers: raw.headers,
    stream: raw.body,
    signal: raw.signal,
    host: raw.headers.get('host') ?? '',
    client: context.env.client ?? THIS_PROCESS,
    ...(record && { record: (body: unknown) => record({ method: context.req.method, target, body }) }),
  };
}

async function render(answer: Answer, route: HttpRoute, asked: Headers): Promise<Response> {
  if (answer instanceof Response) {
    answer.headers.set('X-Route', route.pattern);
    return answer;
  }
  const status = route.definition.status ?? 200;
  const headers: Record<string, string> = { 'X-Route': route.pattern };
  if (answer instanceof JsonText)
    return compressed(answer.text, { status, headers: { ...headers, ...answer.headers } }, asked);
  if (answer !== undefined) return compressed(await answerBody(answer), { status, headers }, asked);
  if (status === 204) return new Response(null, { status, headers });
  return new Response('', { status, headers: { ...headers, 'Content-Type': 'application/octet-stream' } });
}

/** `{name}` -> `:name`, `{name:regex}` -> `:name{regex}` for Hono. A plain parameter is one non-empty segment. */
function honoPath(pattern: string): string {
  return pattern.replaceAll(/\{(\w+)(?::([^{}]+))?\}/g, (_whole, name: string, regex?: string) =>
    regex === undefined ? `:${name}` : `:${name}{${regex.replaceAll('\\d', '[0-9]')}}`,
  );
}
