// How a route is written down: `route('POST /v2/projects', { body: ProjectCreate, status: 201 }, ({ body }) => ...)`.
// The pattern is the one of the interface documents: `{name}` is one segment, `{name:\d+}` digits, `{name:.+}` the rest of the path.
import type * as v from 'valibot';
import type { Json } from '../../events/json.ts';
import type { Identity } from '../access/identity.ts';
import type { MessageSocket } from '../sockets/message-socket.ts';
import type { Schema } from './validation.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** The names in braces of a pattern. */
type ParameterNames<Pattern extends string> = Pattern extends `${string}{${infer Inner}}${infer Rest}`
  ? (Inner extends `${infer Name}:${string}` ? Name : Inner) | ParameterNames<Rest>
  : never;

export type Parameters<Pattern extends string> = Record<ParameterNames<Pattern>, string>;

/** What a handler is given. Path parameters are percent-decoded once. */
export interface RouteRequest<Pattern extends string = string, Body = unknown> {
  params: Parameters<Pattern>;
  /** The JSON body with the query parameters merged in, checked against the route's schema; on raw routes the query alone. */
  body: Body;
  query: Record<string, string>;
  headers: Headers;
  /** The body as it arrives; only raw routes may read it. */
  stream: ReadableStream<Uint8Array> | null;
  /** Aborted when the client has gone. */
  signal: AbortSignal;
  /** The `Host` header, which clients of a wildcard address are told to use. */
  host: string;
  client: RequestClient;
}

/** Who sends a request. */
export interface RequestClient {
  /** Its address, also behind a trusted proxy. */
  address: string;
  /** Who it is; undefined where nobody is asked, and of this process: such a request may do everything. */
  identity: Identity | undefined;
  /** It may look and change nothing: what it sends to a console is to be dropped. */
  watches?: boolean;
}

/** An answer whose JSON is written already. */
export class JsonText {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(text: string, headers: Readonly<Record<string, string>> = {}) {
    this.text = text;
    this.headers = headers;
  }
}

/** JSON, nothing, or a whole response where neither will do. */
export type Answer = Json | object | undefined | Response | JsonText;

/** What the API document says of a route. */
export interface RouteWords {
  summary: string;
  /** Statuses of refusals beyond those that follow from the route's form. */
  errors?: readonly number[];
  /** Query parameters that are not members of the body. */
  query?: Readonly<Record<string, string>>;
  /** Type of the answer, where it is neither JSON nor, for a file, bytes; empty for an answer without content. */
  answer?: string;
}

export interface RouteOptions<S extends Schema | undefined> {
  /** Schema of the body after the query was merged in; without it any JSON will do. */
  body?: S;
  /** For the API document: what the body is in full, one schema a form, where `body` checks what all forms share. */
  forms?: () => readonly Schema[];
  /** Status of success; 200 when not given. */
  status?: number;
  /** The body is not parsed: it is a file, or not there. */
  raw?: boolean;
  /** For the API document, of routes that `openapi/route-words.ts` does not have: those of one kind of node. */
  words?: RouteWords;
  /** Runs at once, before the request waits for its turn. */
  // biome-ignore lint/suspicious/noExplicitAny: as with the handler
  ahead?: (params: any) => void;
  /** Requests with a `node_id` run one at a time per node, unless this is set (streams that last). */
  concurrent?: boolean;
}

export interface HttpRoute {
  kind: 'http';
  method: Method;
  pattern: string;
  options: RouteOptions<Schema | undefined>;
  // biome-ignore lint/suspicious/noExplicitAny: the pattern's parameters and the body's type are known where the route is written
  handle: (request: RouteRequest<any, any>) => Answer | Promise<Answer>;
}

/** What a WebSocket route does once the socket is open. */
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

/** A route that becomes a WebSocket; a plain GET of it is a 400. */
export function socketRoute<Pattern extends `/${string}`>(
  pattern: Pattern,
  accept: (request: RouteRequest<Pattern, undefined>) => Connected | Promise<Connected>,
  words?: RouteWords,
): SocketRoute {
  return { kind: 'socket', method: 'GET', pattern, accept, ...(words && { words }) };
}
