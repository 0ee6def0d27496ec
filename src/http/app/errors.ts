// The only place that maps failures to status codes and error bodies (as in release 2.2.57).

import { answerText } from '../../events/json.ts';
import { Failure, type FailureCode, internal, messageOf, systemCode, unavailable } from '../../failures.ts';
import { log } from '../../host/log.ts';

const STATUS: Record<FailureCode, number> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  'time-out': 408,
  conflict: 409,
  'image-missing': 409,
  'too-large': 413,
  internal: 500,
  unavailable: 503,
  'out-of-space': 507,
};

/** Members of a 400 response about the rejected request. */
export interface RefusedRequest {
  /** The route's pattern. */
  path: string;
  method: string;
  /** The parsed body with the query parameters merged in. */
  request: unknown;
}

/** The status of a failure in the v2 API. */
export function statusOf({ code }: Failure): number {
  return STATUS[code];
}

/** Renders any thrown value; only messages of expected failures reach the client. */
export function renderFailure(thrown: unknown, refused?: RefusedRequest, requestId?: string): Response {
  const failure = shortage(thrown) ?? asFailure(thrown, refused, requestId);
  const status = STATUS[failure.code];
  const body: Record<string, unknown> = { message: failure.message, status };
  if (failure.exception !== undefined) body['exception'] = failure.exception;
  if (failure.image !== undefined) Object.assign(body, { exception: 'ImageMissingError', image: failure.image });
  if (failure.code === 'invalid' && refused) Object.assign(body, refused);
  return new Response(answerText(body), { status, headers: failureHeaders(failure, 'application/json') });
}

export const failureHeaders = ({ retrySeconds }: Failure, type: string): Headers =>
  new Headers({ 'Content-Type': type, ...(retrySeconds !== undefined && { 'Retry-After': String(retrySeconds) }) });

function asFailure(thrown: unknown, refused: RefusedRequest | undefined, requestId: string | undefined): Failure {
  if (thrown instanceof Failure) return thrown;
  if (!(thrown instanceof SuppressedError)) return unexpected(thrown, refused, requestId);
  // The client gets the original error; the failed rollback is only logged.
  log.error('what a failed request has done cannot be undone', { request: requestId, reason: messageOf(thrown.error) });
  return asFailure(thrown.suppressed, refused, requestId);
}

/** The request is valid, but there are no free file descriptors; it will succeed later. */
function shortage(thrown: unknown): Failure | undefined {
  for (let cause = thrown; cause instanceof Error; cause = cause.cause) {
    const code = systemCode(cause);
    if (code !== 'EMFILE' && code !== 'ENFILE') continue;
    log.warn('no file descriptor to spare', { error: cause.message });
    return unavailable('The server has no file descriptor to spare: try again in a moment.', { cause });
  }
  return undefined;
}

function unexpected(thrown: unknown, refused: RefusedRequest | undefined, request: string | undefined): Failure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { method, path: route } = refused ?? {};
  log.error('unexpected error', { method, route, request, stack: error.stack ?? error.message });
  const where = request === undefined ? '' : ` of request ${request}`;
  return internal(`Internal error: the server log has the details${where}.`);
}

/** Whether a path is of release 3.0.6. */
export function isV3(path: string): boolean {
  return /^\/v3(?:\/|$)/.test(path);
}

/** The form of release 3.0.6 for what its router refuses. */
function detail(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify({ detail: text }), {
    status,
    headers: { ...headers, 'Content-Type': 'application/json' },
  });
}

/** The router's response for an unknown path. */
export function unknownPath(path: string): Response {
  if (isV3(path)) return detail(404, 'Not Found');
  return new Response('404: Not Found', { status: 404, headers: { 'Content-Type': 'text/plain; charset=utf-8' } });
}

/** The router's response for a known path with another method. */
export function methodNotAllowed(methods: readonly string[], path: string): Response {
  if (isV3(path)) return detail(405, 'Method Not Allowed', { Allow: methods[0] ?? '' });
  return new Response('405: Method Not Allowed', {
    status: 405,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', Allow: [...methods, 'OPTIONS'].sort().join(',') },
  });
}
