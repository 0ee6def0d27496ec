// Routes of release 3.0.6 that mean the same as one of 2.2.57: the same function answers, between translations.
import type { RouteDefinition } from '../../api/routes/definition.ts';
import { Failure, invalid } from '../../failures.ts';
import { jsonCopy } from '../../host/values/json-copy.ts';
import {
  type Answer,
  type HttpRoute,
  type HttpRouteDefinition,
  JsonText,
  type Route,
  type RouteRequest,
} from '../app/route.ts';
import { JSON_TYPE, readObject, usualParams, v3Failure, WrongRequest } from './form.ts';
import { validatedLeniently } from './lenient.ts';

type Members = Record<string, unknown>;

/** What is different from the route of release 2.2.57. */
export interface Difference {
  /** Method and path there, if they differ by more than the version. */
  as?: string;
  status?: number;
  /** Whether a body must be sent. */
  needsBody?: boolean;
  /** The most bytes of a body, where 1 MiB is too little. */
  limitBytes?: number;
  /** The body for the route of 2.2.57. */
  body?: (sent: Members, params: Readonly<Record<string, string>>) => unknown;
  /** The query for the route of 2.2.57; by default none, as the query is no part of a body. */
  query?: (query: Readonly<Record<string, string>>) => Record<string, string>;
  /** What differs in the definition besides. */
  definition?: Pick<RouteDefinition, 'query' | 'errors' | 'answerType' | 'open'>;
  /** Error statuses of `before`, for the API document. */
  errors?: readonly number[];
  /** The status of what the route itself finds wrong with a body that has the right form. */
  refusal?: 400;
  /** Changes the path's parameters. */
  params?: (params: Record<string, string>) => Record<string, string>;
  /** Runs before the route. @throws Failure */
  before?: (sent: Members, params: Readonly<Record<string, string>>) => void | Promise<void>;
  /** What is wrong with the query or the place, for a 400. */
  problem?: (query: Readonly<Record<string, string>>, params: Readonly<Record<string, string>>) => string | undefined;
  /** Media type of a file. */
  type?: string;
  /** Runs the route, or answers in its place. */
  around?: (
    run: (body?: unknown) => Promise<Answer>,
    given: { sent: Members; body: never; params: Readonly<Record<string, string>>; headers: Headers },
  ) => Promise<Answer>;
  /** The answer in the form of 3.0.6. */
  answer?: (value: never) => unknown;
}

/**
 * The route of 2.2.57 with this method and path, without the version.
 * @throws Error if there is none
 */
export function twinOf<K extends Route['kind']>(
  routes: readonly Route[],
  kind: K,
  spelling: string,
): Route & { kind: K } {
  const [method, path] = spelling.split(' ');
  const pattern = `/v2${path}`;
  const found = routes.find((one) => one.pattern === pattern && one.kind === kind && one.method === method);
  if (found === undefined) throw new Error(`there is no route ${spelling}`);
  return found as Route & { kind: K };
}

/**
 * @param routes those of 2.2.57
 * @param spelling method and path without the version
 * @throws Error if there is no such route
 */
export function inDialect(routes: readonly Route[], spelling: string, difference: Difference = {}): HttpRoute {
  const [method, path] = spelling.split(' ') as [HttpRoute['method'], string];
  const twin = twinOf(routes, 'http', difference.as ?? spelling);
  const definition = definitionOf(twin, difference);
  const { status = 200 } = definition;
  return {
    kind: 'http',
    method,
    pattern: `/v3${path}`,
    definition,
    failure: v3Failure,
    handle: async (request) => {
      const usual = usualParams(request.params);
      const params = difference.params?.(usual) ?? usual;
      const raw = twin.definition.raw === true;
      const query = difference.query?.(request.query) ?? (raw ? request.query : {});
      const sent = raw || method === 'GET' ? {} : await sentIn(request, difference);
      if (!raw) request.record?.(sent);
      const body = raw ? undefined : bodyOf(twin, sent, difference, params);
      const problem = difference.problem?.(request.query, params);
      if (problem !== undefined) throw new WrongRequest(problem);
      await difference.before?.(sent, params);
      const run = async (its: unknown = body): Promise<Answer> =>
        twin.handle({ ...request, params, query, body: its, stream: raw ? request.stream : null });
      const given = { sent, body: body as never, params, headers: request.headers };
      const answer: Answer = await refusing(difference.refusal, () => difference.around?.(run, given) ?? run());
      if (difference.type !== undefined && answer instanceof Response)
        answer.headers.set('Content-Type', difference.type);
      return inForm(answer, status, difference.answer);
    },
  };
}

/** The twin's definition with the difference. */
function definitionOf({ method, definition: twin }: HttpRoute, difference: Difference): HttpRouteDefinition {
  const { needsBody = false, problem, refusal, errors = [], status = twin.status ?? 200, definition: own } = difference;
  const { query, ...others } = twin;
  return {
    ...others,
    raw: true,
    status,
    ...(twin.summary && { summary: twin.summary.replace(/ \(an extension(?:; admins)?\)$/, '') }),
    // The query is no part of a body, and reaches only routes whose body is a file.
    ...(query && twin.raw && { query }),
    ...own,
    errors: [
      ...(own?.errors ?? twin.errors?.map((each) => (each === 400 ? 422 : each)) ?? []),
      ...(method === 'GET' ? [] : [409]),
      ...(problem || refusal ? [400] : []),
      ...errors,
    ],
    described: { ...(!twin.raw && { type: JSON_TYPE }), required: needsBody },
  };
}

/** The body as it was sent. @throws Failure */
async function sentIn(request: RouteRequest, { needsBody = false, limitBytes }: Difference): Promise<Members> {
  const { headers, stream } = request;
  const isMissing = (headers.get('content-length') ?? '0') === '0' && !headers.has('transfer-encoding');
  if (needsBody && (stream === null || isMissing))
    throw invalid('Invalid request: a JSON body is required, {} at least.');
  return readObject(request, false, limitBytes);
}

function bodyOf(
  { definition: { body: schema } }: HttpRoute,
  sent: Members,
  difference: Difference,
  params: Record<string, string>,
): unknown {
  // A copy, as it is mended in place.
  const given = structuredClone(difference.body ? difference.body(sent, params) : sent);
  return schema ? validatedLeniently(schema, given) : given;
}

/** Gives refusals of a form that validation has accepted another status. */
async function refusing(status: 400 | undefined, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (status === undefined || !(error instanceof Failure) || error.code !== 'invalid') throw error;
    throw new WrongRequest(error.message);
  }
}

async function inForm(answer: Answer, status: number, translate?: Difference['answer']): Promise<Answer> {
  if (answer instanceof Response) {
    if (status === 204 && answer.ok) return new Response(null, { status });
    return answer.status === 200 && status !== 200
      ? new Response(answer.body, { status, headers: answer.headers })
      : answer;
  }
  if (status === 204) return new Response(null, { status });
  const headers: Record<string, string> = { 'Content-Type': JSON_TYPE };
  if (answer instanceof JsonText) Object.assign(headers, answer.headers);
  const value: unknown = answer instanceof JsonText ? JSON.parse(answer.text) : jsonCopy(answer ?? null);
  return new JsonText(JSON.stringify(translate ? translate(value as never) : value), headers);
}
