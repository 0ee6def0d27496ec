// Routes: their definitions (src/api/routes) with their handlers. `const { route } = routesOf(PROJECT_ROUTES)`, then
// `route('POST /v2/projects', ({ body }) => ...)`: a body or an answer of another type than the definition's does not compile.
import type * as v from 'valibot';
import type { Answers, Method, RouteDefinition, RouteDefinitions, Schema } from '../../api/routes/definition.ts';
import type { Json } from '../../events/json.ts';
import type { Identity } from '../access/identity.ts';
import type { MessageSocket } from '../sockets/message-socket.ts';

type ParameterNames<Pattern extends string> = Pattern extends `${string}{${infer Inner}}${infer Rest}`
  ? (Inner extends `${infer Name}:${string}` ? Name : Inner) | ParameterNames<Rest>
  : never;

export type Parameters<Pattern extends string> = Record<ParameterNames<Pattern>, string>;

/** A handler's argument. Path parameters are percent-decoded once. */
export interface RouteRequest<Pattern extends string = string, Body = unknown> {
  params: Parameters<Pattern>;
  /** The JSON body with the query parameters merged in, validated by the route's schema; on raw routes only the query. */
  body: Body;
  query: Record<string, string>;
  headers: Headers;
  /** The unread body, for raw routes only. */
  stream: ReadableStream<Uint8Array> | null;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  /** The `Host` header, returned to clients where the server's own address is a wildcard. */
  host: string;
  client: RequestClient;
  /** Notes the JSON body as sent; for raw routes that read one by themselves. */
  record?: (body: unknown) => void;
}

export interface RequestClient {
  /** The client's address, also behind a trusted proxy. */
  address: string;
  /** Undefined without authentication and for requests of this process, which may do everything. */
  identity: Identity | undefined;
  /** Read-only: its input to a console is dropped. */
  watches?: boolean;
}

/** A response with finished JSON. */
export class JsonText {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(text: string, headers: Readonly<Record<string, string>> = {}) {
    this.text = text;
    this.headers = headers;
  }
}

/** JSON, nothing, or a complete Response if neither fits. */
// biome-ignore lint/suspicious/noConfusingVoidType: what handlers without an answer return
export type Answer = Json | object | void | Response | JsonText;

/** What a handler of this definition gives: the JSON that it promises, or a finished response. */
type Given<D extends RouteDefinition> = D extends { answer: Answers<infer T> }
  ? T | JsonText | Response
  : // biome-ignore lint/suspicious/noConfusingVoidType: what handlers without an answer return
    void | undefined | JsonText | Response;

type BodyOf<D extends RouteDefinition> = D extends { body: infer S extends Schema } ? v.InferOutput<S> : unknown;

/** A definition with what only the server uses of it. */
export interface HttpRouteDefinition extends RouteDefinition {
  /** Runs at once, before the request waits for its turn. */
  // biome-ignore lint/suspicious/noExplicitAny: as with the handler
  ahead?: (params: any) => void;
  /** For the API document: what it cannot see of a route of release 3.0.6, which reads its body by itself. */
  described?: DescribedRoute;
}

export interface DescribedRoute {
  /** Media type of the body; files have none. */
  type?: string;
  /** The body must be sent, though all its members may be missing. */
  required?: boolean;
}

export interface HttpRoute {
  kind: 'http';
  method: Method;
  pattern: string;
  definition: HttpRouteDefinition;
  // biome-ignore lint/suspicious/noExplicitAny: the pattern's parameters and the body's type are known where the route is written
  handle: (request: RouteRequest<any, any>) => Answer | Promise<Answer>;
  /** Names what a request is about: those of the same name run one at a time. */
  // biome-ignore lint/suspicious/noExplicitAny: as with the handler
  turn?: (params: any) => string;
  /** Renders errors in another form than that of the v2 API. */
  failure?: (thrown: unknown, requestId: string | undefined) => Response;
}

/** A WebSocket route's function, called with the open socket. */
export type Connected = (socket: MessageSocket) => void;

export interface SocketRoute {
  kind: 'socket';
  method: 'GET';
  pattern: string;
  definition: RouteDefinition;
  /** Runs before the upgrade, so that it can still refuse by throwing. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  accept: (request: RouteRequest<any, undefined>) => Connected | Promise<Connected>;
}

export type Route = HttpRoute | SocketRoute;

type PatternOf<Spelling extends string> = Spelling extends `${Method} ${infer Pattern}` ? Pattern : never;

export type Handler<Spelling extends string, D extends RouteDefinition> = (
  request: RouteRequest<PatternOf<Spelling>, BodyOf<D>>,
) => Given<D> | Promise<Given<D>>;

/** A route that is defined where it is handled, as those of one kind of node are. */
export function route<Spelling extends `${Method} /${string}`, const D extends HttpRouteDefinition>(
  spelling: Spelling,
  definition: D,
  handle: (request: RouteRequest<PatternOf<Spelling>, BodyOf<D>>) => Answer | Promise<Answer>,
): HttpRoute {
  const [method, pattern] = spelling.split(' ') as [Method, string];
  return { kind: 'http', method, pattern, definition, handle };
}

/** A WebSocket route; a plain GET gets a 400. */
export function socketRoute<Pattern extends `/${string}`>(
  pattern: Pattern,
  accept: (request: RouteRequest<Pattern, undefined>) => Connected | Promise<Connected>,
  definition: RouteDefinition = {},
): SocketRoute {
  return { kind: 'socket', method: 'GET', pattern, definition, accept };
}

type SocketSpelling<Definitions> = {
  [Spelling in keyof Definitions]: Definitions[Spelling] extends { socket: true } ? Spelling : never;
}[keyof Definitions];
type SocketPattern<Definitions> = PatternOf<SocketSpelling<Definitions> & string> & `/${string}`;
export type HttpSpelling<Definitions> = Exclude<keyof Definitions, SocketSpelling<Definitions>> &
  `${Method} /${string}`;

/**
 * The two functions that make routes of these definitions from their handlers.
 * @param fixed parameters of the pattern that have one value here
 */
export function routesOf<Definitions extends RouteDefinitions>(
  definitions: Definitions,
  fixed: Readonly<Record<string, string>> = {},
) {
  const filled = <Spelling extends string>(spelling: Spelling): Spelling =>
    spelling.replaceAll(/\{(\w+)\}/g, (all, name: string) => fixed[name] ?? all) as Spelling;
  return {
    /** @param more what only the handler's side knows */
    route: <Spelling extends HttpSpelling<Definitions>>(
      spelling: Spelling,
      handle: Handler<Spelling, Definitions[Spelling]>,
      more?: HttpRouteDefinition,
    ): HttpRoute =>
      route(
        filled(spelling),
        // Most are shared by all kinds of node.
        (more ? { ...definitions[spelling], ...more } : definitions[spelling]) as HttpRouteDefinition,
        handle as HttpRoute['handle'],
      ),
    socketRoute: <Pattern extends SocketPattern<Definitions>>(
      pattern: Pattern,
      accept: (request: RouteRequest<Pattern, undefined>) => Connected | Promise<Connected>,
    ): SocketRoute => socketRoute(filled(pattern), accept, definitions[`GET ${pattern}`]),
  };
}
