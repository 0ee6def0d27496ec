// The OpenAPI document, made at the first request from the routes' patterns and the schemas that validate their bodies.
import type { Json } from '../../events/json.ts';
import { answerText } from '../../events/json.ts';
import { type HttpRoute, JsonText, type Route, type RouteWords, route } from '../app/route.ts';
import type { Schema } from '../app/validation.ts';

type Node = { [member: string]: Json };
/** The body schema of a route. */
type SchemaOf = (schema: Schema, pattern: string) => Node;

export interface OpenApiOptions {
  /** Release of the API. */
  version: string;
}

const DESCRIPTION = `Labwire speaks the GNS3 API, version 2.

Query parameters are written over the members of a JSON body before it is checked. A body that is empty is an empty object. Each
refusal has a body \`{"message", "status"}\`; that of an emulator also has \`exception\`.`;

/** Meaning of each error status. */
const REFUSALS: Record<number, string> = {
  304: 'Not changed since the ETag that was sent',
  400: 'The request is invalid; the message names the member and what would fit',
  401: 'Credentials are missing or wrong',
  403: 'Not allowed: a path that leads elsewhere, a closed project, a foreign Host or Origin, an account that may not',
  404: 'Something that the path or the body names does not exist',
  408: 'Something took too long, or the client left',
  409: 'It cannot be done in the present state; the message says why',
  413: 'The body is too large',
  500: 'An error of the server; its log has the details',
  503: 'Not available for the moment',
  507: 'No space is left on the disk',
};

/** `GET /v2/openapi.json` for these routes and itself; `path` limits it to one path, which is cheap and not cached. */
export function openApiRoute(routes: readonly Route[], options: OpenApiOptions): Route {
  let text: Promise<string> | undefined;
  const own: Route = route('GET /v2/openapi.json', {}, async ({ query: { path } }) => {
    if (path !== undefined) {
      const wanted = [...routes, own].filter(({ pattern }) => pathOf(pattern) === path);
      return new JsonText(await answerText(await openApiDocument(wanted, options)));
    }
    text ??= openApiDocument([...routes, own], options).then(answerText);
    return new JsonText(await text);
  });
  return own;
}

export async function openApiDocument(routes: readonly Route[], { version }: OpenApiOptions): Promise<Node> {
  // Loaded only when needed.
  const { toJsonSchema } = await import('@valibot/to-json-schema');
  const { wordsOf } = await import('./route-words.ts');
  const { describedBody } = await import('./setting-words.ts');
  const converted = (schema: Schema): Node => {
    const { $schema: _dialect, ...plain } = toJsonSchema(schema, {
      target: 'draft-2020-12',
      typeMode: 'input',
      errorMode: 'ignore',
      // Objects with unknown members.
      overrideSchema: ({ valibotSchema }) => (valibotSchema.type === 'custom' ? { type: 'object' } : undefined),
    });
    return inlined(plain as Node);
  };
  const schemaOf = (schema: Schema, pattern: string): Node => describedBody(converted(schema), pattern);
  const paths: Record<string, Node> = {};
  for (const each of routes) {
    const path = pathOf(each.pattern);
    const entry = operation(each, ownWords(each) ?? wordsOf(each.method, each.pattern), schemaOf);
    paths[path] = { ...paths[path], [each.method.toLowerCase()]: entry };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Labwire',
      version,
      description: DESCRIPTION,
      license: { name: 'GPL-3.0-or-later', identifier: 'GPL-3.0-or-later' },
    },
    servers: [{ url: '/' }],
    security: [{}, { basic: [] }, { bearer: [] }],
    paths,
    components: {
      securitySchemes: { basic: { type: 'http', scheme: 'basic' }, bearer: { type: 'http', scheme: 'bearer' } },
      responses: Object.fromEntries(
        Object.entries(REFUSALS).map(([status, description]) => [
          `status${status}`,
          refusal(Number(status), description),
        ]),
      ),
      schemas: {
        Refusal: {
          type: 'object',
          properties: {
            message: { type: 'string' },
            status: { type: 'integer' },
            exception: { type: 'string', description: 'Name of the error of an emulator' },
            image: { type: 'string', description: 'Name of an image that is missing' },
            path: { type: 'string', description: 'Pattern of the route that refused (400 only)' },
            method: { type: 'string', description: 'Method of the route that refused (400 only)' },
            request: { description: 'The body as it was understood (400 only)' },
          },
          required: ['message', 'status'],
        },
      },
    },
  };
}

/** Inlines `$defs`, whose references would be wrong in the document. Lazy schemas, which have them, are not recursive. */
function inlined({ $defs, ...schema }: Node): Node {
  if ($defs === undefined) return schema;
  return JSON.parse(JSON.stringify(schema), (_key, value) => {
    const name = typeof value?.$ref === 'string' && /^#\/\$defs\/(\w+)$/.exec(value.$ref)?.[1];
    if (!name) return value;
    const { $ref: _, ...beside } = value;
    return { ...(($defs as Node)[name] as Node), ...beside };
  });
}

function refusal(status: number, description: string): Node {
  // These two have no body.
  if (status === 304 || status === 401) return { description };
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } } };
}

function operation(each: Route, words: RouteWords | undefined, schemaOf: SchemaOf): Node {
  const parameters = [...pathParameters(each.pattern), ...queryParameters(words?.query ?? {})];
  const statuses = [...new Set([...refusalsOf(each), ...(words?.errors ?? [])])];
  return {
    ...(words && { summary: words.summary }),
    operationId: identifier(each),
    tags: [tagOf(each.pattern)],
    ...(parameters.length > 0 && { parameters }),
    ...(each.kind === 'http' && requestBody(each, schemaOf)),
    responses: {
      ...success(each, words?.answer),
      ...Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/status${status}` }])),
    },
  };
}

/** Texts defined with the route. */
function ownWords(each: Route): RouteWords | undefined {
  return each.kind === 'http' ? each.options.words : each.words;
}

/** `{name:regex}` -> `{name}`. */
function pathOf(pattern: string): string {
  return pattern.replaceAll(/\{(\w+):[^{}]+\}/g, '{$1}');
}

function pathParameters(pattern: string): Node[] {
  return [...pattern.matchAll(/\{(\w+)(?::([^{}]+))?\}/g)].map(([, name, form]) => ({
    name: name!,
    in: 'path',
    required: true,
    ...(form === '.+' && { description: 'Takes the rest of the path, slashes included' }),
    schema: form === '\\d+' ? { type: 'integer', minimum: 0 } : { type: 'string', minLength: 1 },
  }));
}

function queryParameters(query: Readonly<Record<string, string>>): Node[] {
  return Object.entries(query).map(([name, description]) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'string' },
  }));
}

/** Error statuses that follow from the route's definition. */
function refusalsOf({ kind, method, pattern, ...rest }: Route): number[] {
  const { raw, body } = 'options' in rest ? rest.options : { raw: false, body: undefined };
  const found = [401, 403, 500];
  // Computes validate ids.
  if (body || kind === 'socket' || /^\/v2\/compute\/.*\{(project|node)_id\}/.test(pattern)) found.push(400);
  if (!raw && method !== 'GET') found.push(400, 413);
  if (pattern.includes('{')) found.push(404);
  if (method !== 'GET') found.push(409);
  return found;
}

function requestBody({ method, pattern, options }: HttpRoute, schemaOf: SchemaOf): Node {
  const { raw, body, forms } = options;
  if (raw) return method === 'GET' ? {} : { requestBody: { content: { 'application/octet-stream': {} } } };
  if (!body) return {};
  const schema = schemaOf(body, pattern);
  if (forms) schema['anyOf'] = forms().map((form) => schemaOf(form, pattern));
  const required = Array.isArray(schema['required']) && schema['required'].length > 0;
  return { requestBody: { required, content: { 'application/json': { schema } } } };
}

function success(each: Route, answer: string | undefined): Node {
  if (each.kind === 'socket') return { 101: { description: 'The connection is a WebSocket from now on' } };
  const { status = 200, raw } = each.options;
  const type = answer ?? (raw ? 'application/octet-stream' : 'application/json');
  const content = status === 204 || type === '' ? {} : { content: { [type]: {} } };
  return { [status]: { description: 'Done', ...content } };
}

function identifier({ method, pattern }: Route): string {
  return [method.toLowerCase(), ...(pathOf(pattern).match(/\w+/g) ?? [])].join('_');
}

/** Parts of a project with their own routes. */
const NOUNS = ['nodes', 'links', 'drawings', 'snapshots', 'templates'];

/** The subject of a route: a noun of the controller, or `compute` and a noun. */
function tagOf(pattern: string): string {
  const [, , first = '', second = '', third = '', fourth, fifth] = pattern.split('/');
  if (first === 'compute') return `compute ${fifth === 'nodes' ? fourth : second}`;
  return first === 'projects' && NOUNS.includes(third) ? third : first;
}
