// Requests and answers in the form of release 3.0.6: the query is never part of the body, validation fails with 422, errors are
// `{"message"}`, JSON is compact.
import * as v from 'valibot';
import type { RouteDefinitions } from '../../api/routes/definition.ts';
import { Failure, invalid } from '../../failures.ts';
import { readJsonBody } from '../app/body.ts';
import { failureHeaders, renderFailure, statusOf } from '../app/errors.ts';
import {
  type Answer,
  type Handler,
  type HttpRoute,
  type HttpSpelling,
  JsonText,
  type RouteRequest,
  routesOf,
} from '../app/route.ts';
import { validatedLeniently } from './lenient.ts';

export interface V3Options {
  /** The status for what a rule of accounts refuses, such as a name that is taken. */
  conflict?: 400 | 409;
  /** Reads another kind of body than JSON. */
  read?: (request: RouteRequest) => Promise<unknown>;
  /** Media type of the body that is read. */
  type?: string;
}

export const JSON_TYPE = 'application/json';

/** Identifiers that may be any text. */
const NO_UUID: ReadonlySet<string> = new Set(['compute_id', 'symbol_id']);

const IDENTIFIER = v.pipe(v.string(), v.uuid());

/** Any spelling of a UUID, in the usual one; undefined for another text. */
function usualIdentifier(text: string): string | undefined {
  const digits = text.replaceAll(/[{}-]|^urn:uuid:/gi, '').toLowerCase();
  const usual = digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return v.is(IDENTIFIER, usual) ? usual : undefined;
}

/**
 * A path's parameters with identifiers in the usual spelling.
 * @param other makes something of what is no identifier
 */
export function usualParams(
  params: Readonly<Record<string, string>>,
  other: (name: string, text: string) => string = refuseIdentifier,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).map(([name, text]) => [
      name,
      name.endsWith('_id') && !NO_UUID.has(name) ? (usualIdentifier(text) ?? other(name, text)) : text,
    ]),
  );
}

/** As `usualParams`, with what is no identifier as it is. */
export function recognizedParams(params: Readonly<Record<string, string>>): Record<string, string> {
  return usualParams(params, (_name, text) => text);
}

/** @throws Failure `invalid` */
function refuseIdentifier(name: string, text: string): never {
  throw invalid(`${name}: expected a UUID, got ${JSON.stringify(text)}.`);
}

/**
 * The body, an object. Without a type it is JSON; `fetch` names text/plain for a string.
 * @param isTyped whether the type of an empty body counts, too
 * @param limitBytes of the body, if not the usual one
 * @throws Failure `invalid`, `too-large`
 */
export async function readObject(
  { headers, stream }: Pick<RouteRequest, 'headers' | 'stream'>,
  isTyped = true,
  limitBytes?: number,
): Promise<Record<string, unknown>> {
  const type = headers.get('content-type') ?? '';
  const body = await readJsonBody(stream, limitBytes);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid('Invalid request: body: expected an object.');
  const counts = isTyped || Object.keys(body).length > 0;
  if (counts && type !== '' && !/^application\/(?:[\w.-]+\+)?json\b/i.test(type))
    throw invalid(`Invalid request: the body has the type ${type}; send application/json.`);
  return body as Record<string, unknown>;
}

/** A refusal with 400: of what has the right form and is wrong for the place. */
export class WrongRequest extends Failure {
  constructor(message: string) {
    super('conflict', message);
  }
}

/** Renders any thrown value. */
export function v3Failure(thrown: unknown, requestId: string | undefined, conflict = 409): Response {
  // Unexpected errors are logged, and shortages of the host recognized, in one place.
  if (!(thrown instanceof Failure)) return renderFailure(thrown, undefined, requestId);
  const { code, message } = thrown;
  const status =
    thrown instanceof WrongRequest ? 400 : code === 'invalid' ? 422 : code === 'conflict' ? conflict : statusOf(thrown);
  const headers = failureHeaders(thrown, JSON_TYPE);
  if (code === 'unauthorized') headers.set('WWW-Authenticate', 'Bearer');
  return new Response(JSON.stringify({ message }), { status, headers });
}

/** As `routesOf`, for routes that speak to clients of release 3.0.6. */
export function v3RoutesOf<Definitions extends RouteDefinitions>(definitions: Definitions, usual: V3Options = {}) {
  const { route } = routesOf(definitions);
  return {
    route: <Spelling extends HttpSpelling<Definitions>>(
      spelling: Spelling,
      handle: Handler<Spelling, Definitions[Spelling]>,
      options?: V3Options,
    ): HttpRoute => inV3Form(route(spelling, handle), { ...usual, ...options }),
  };
}

function inV3Form(
  given: HttpRoute,
  { conflict = 409, read = readObject, type = JSON_TYPE }: V3Options = {},
): HttpRoute {
  const { body: schema, raw } = given.definition;
  const handle = async (request: RouteRequest): Promise<Answer> => {
    const params = usualParams(request.params as Record<string, string>);
    const sent = schema === undefined ? {} : await read(request);
    if (!raw && type === JSON_TYPE) request.record?.(sent);
    const body = schema && validatedLeniently(schema, sent);
    const answer = await given.handle({ ...request, params, body });
    if (answer === undefined || answer instanceof Response || answer instanceof JsonText) return answer;
    return new JsonText(JSON.stringify(answer), { 'Content-Type': JSON_TYPE });
  };
  return {
    ...given,
    definition: {
      ...given.definition,
      raw: true,
      errors: [...(given.definition.errors ?? []), ...(given.method === 'GET' ? [] : [conflict])],
      described: { ...(!raw && { type }) },
    },
    handle,
    failure: (thrown, requestId) => v3Failure(thrown, requestId, conflict),
  };
}
