// Defines routes: `route('POST /v2/projects', { body: ProjectCreate, status: 201 }, ({ body }) => ...)`. Patterns are those of the
// interface documents: `{name}` is one segment, `{name:\d+}` digits, `{name:.+}` the rest of the path.
import type * as v from 'valibot';
import type { Json } from '../../events/json.ts';
import type { Identity } from '../access/identity.ts';
import type { MessageSocket } from '../sockets/message-socket.ts';
import type { Schema } from './validation.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** The parameter names of a pattern. */
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
}

/** The client of a request. */
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
export type Answer = Json | object | undefined | Response | JsonText;

/** A route's texts for the API document. */
export interface RouteWords {
  summary: string;
  /** Error statuses besides those that follow from the route's definition. */
  errors?: readonly number[];
  /** Query parameters that are not body members. */
  query?: Readonly<Record<string, string>>;
  /** Media type of the response if it is neither JSON nor a file; empty without content. */
  answer?: string;
}

export interface DescribedRoute {
  /** Media type of the body; files have none. */
  type?: string;
  /** The body must be sent, though all its members may be missing. */
  required?: boolean;
  /** Error statuses of refusals that depend on the state, or on values of the right form. */
  errors: readonly number[];
  /** The route of release 2.2.57 that answers. */
  twin?: HttpRoute;
}

export interface RouteOptions<S extends Schema | undefined> {
  /** Schema of the body merged with the query; without it any JSON is accepted. */
  body?: S;
  /** For the API document: the complete body schemas, if `body` validates only their common part. */
  forms?: () => readonly Schema[];
  /** Success status; default 200. */
  status?: number;
  /** The body is not parsed: it is a file or missing. */
  raw?: boolean;
  /** For the API document: what it cannot see of a route of release 3.0.6, which reads its body by itself. */
  described?: DescribedRoute;
  /** For the API document, for routes of one kind of node, which are not in `openapi/route-words.ts`. */
  words?: RouteWords;
  /** Runs at once, before the request waits for its turn. */
  // biome-ignore lint/suspicious/noExplicitAny: as with the handler
  ahead?: (params: any) => void;
  /** Requests with a `node_id` run one at a time per node unless this is set (for streams). */
  concurrent?: boolean;
}

export interface HttpRoute {
  kind: 'http';
  method: Method;
  pattern: string;
  options: RouteOptions<Schema | undefined>;
  // biome-ignore lint/suspicious/noExplicitAny: the pattern's parameters and the body's type are known where the route is written
  handle: (request: RouteRequest<any, any>) => Answer | Promise<Answer>;
  /** Renders errors in another form than that of the v2 API. */
  failure?: (thrown: unknown, requestId: string | undefined) => Response;
}

/** A WebSocket route's function, called with the open socket. */
export type Connected = (socket: MessageSocket) => void;

export interface SocketRoute {
  kind: 'socket';
  method: 'GET';
  pattern: string;
  words?: RouteWords;
  /** Runs before the upgrade, so that it can still refuse by throwing. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  accept: (request: RouteRequest<any, undefined>) => Connected | Promise<Connected>;
}

export type Route = HttpRoute | SocketRoute;

type Spelled<Spelling extends string> = Spelling extends `${Method} ${infer Pattern}` ? Pattern : never;

export function route<Spelling extends `${Method} /${string}`, S extends Schema | undefined = undefined>(
  spelling: Spelling,
  options: RouteOptions<S>,
  handle: (
    request: RouteRequest<Spelled<Spelling>, S extends Schema ? v.InferOutput<S> : unknown>,
  ) => Answer | Promise<Answer>,
): HttpRoute {
  const [method, pattern] = spelling.split(' ') as [Method, string];
  return { kind: 'http', method, pattern, options, handle };
}

/** A WebSocket route; a plain GET gets a 400. */
export function socketRoute<Pattern extends `/${string}`>(
  pattern: Pattern,
  accept: (request: RouteRequest<Pattern, undefined>) => Connected | Promise<Connected>,
  words?: RouteWords,
): SocketRoute {
  return { kind: 'socket', method: 'GET', pattern, accept, ...(words && { words }) };
}
