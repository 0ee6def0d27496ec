// The OpenAPI document, made at the first request from the routes' patterns and the schemas that validate their bodies.
import type { Schema } from '../../api/routes/definition.ts';
import { answerText } from '../../events/json.ts';
import { type HttpRoute, JsonText, type Route, route } from '../app/route.ts';
import { reference } from './answers.ts';
import type { Dialect, Node, SchemaOf } from './dialect.ts';

type AnswerOf = (route: HttpRoute) => Node | undefined;

export interface OpenApiOptions {
  /** Release of the API. */
  version: string;
  address: `/${string}/openapi.json`;
  /** Everybody may read it without a login. */
  open?: true;
  load: () => Promise<Dialect>;
}

/**
 * The route of the document for these routes and itself. `path` limits it to one path, which is cheap and not cached; one that everybody may
 * read has no such limit, so that it is made only once.
 */
export function openApiRoute(routes: readonly Route[], options: OpenApiOptions): HttpRoute {
  const { address, open } = options;
  let text: Promise<string> | undefined;
  const definition = {
    access: 'read',
    summary: 'This document',
    ...(open ? { open } : { query: { path: 'Only what it says of this path' } }),
  } as const;
  const own: HttpRoute = route(`GET ${address}`, definition, async ({ query: { path } }) => {
    const all = [...routes, own];
    if (path !== undefined && !open) {
      const wanted = all.filter(({ pattern }) => pathOf(pattern) === path);
      return new JsonText(await answerText(await openApiDocument(wanted, options, all)));
    }
    text ??= openApiDocument(all, options).then(answerText);
    return new JsonText(await text);
  });
  return own;
}

/** @param all the routes whose bodies have members of answers */
export async function openApiDocument(
  routes: readonly Route[],
  { version, load }: Pick<OpenApiOptions, 'version' | 'load'>,
  all = routes,
): Promise<Node> {
  // Loaded only when needed.
  const { toJsonSchema } = await import('@valibot/to-json-schema');
  const dialect = await load();
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
  const schemaOf: SchemaOf = (schema, definition) =>
    dialect.described?.(converted(schema), definition) ?? converted(schema);
  const named: Node = {};
  const answers: Node[] = [];
  const answerOf = (each: HttpRoute): Node | undefined => {
    const answer = dialect.answer?.(each, (schema) => withReferences(converted(schema), named));
    if (answer) answers.push(answer);
    return answer;
  };
  const paths: Record<string, Node> = {};
  for (const each of routes) {
    const path = pathOf(each.pattern);
    paths[path] = { ...paths[path], [each.method.toLowerCase()]: operation(each, dialect, schemaOf, answerOf) };
  }
  const { description, security, securitySchemes, refusals, withoutBody } = dialect;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Labwire',
      version,
      description,
      license: { name: 'GPL-3.0-or-later', identifier: 'GPL-3.0-or-later' },
    },
    servers: [{ url: '/' }],
    security,
    paths,
    components: {
      securitySchemes,
      responses: Object.fromEntries(
        Object.entries(refusals).map(([status, description]) => [
          `status${status}`,
          withoutBody.includes(Number(status)) ? { description } : refusal(description),
        ]),
      ),
      schemas: { Refusal: dialect.refusal, ...named, ...dialect.objects?.(answers, all, schemaOf) },
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

/** Moves each object with a name into `named`, and refers to it there. */
function withReferences(schema: Node, named: Node): Node {
  return JSON.parse(JSON.stringify(schema), (_key, value) => {
    if (typeof value?.title !== 'string') return value;
    const { title, ...object } = value;
    named[title] = object;
    return reference(title);
  });
}

function refusal(description: string): Node {
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } } };
}

function operation(each: Route, dialect: Dialect, schemaOf: SchemaOf, answerOf: AnswerOf): Node {
  const { summary, query = {}, errors = [], answerType, open } = each.definition;
  const parameters = [...pathParameters(each.pattern), ...queryParameters(query)];
  const statuses = [...new Set([...dialect.statuses(each), ...errors])];
  return {
    ...(summary !== undefined && { summary }),
    operationId: identifier(each),
    tags: [tagOf(each.pattern)],
    ...(open && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(each.kind === 'http' && requestBody(each, dialect, schemaOf)),
    responses: {
      ...success(each, answerType, answerOf),
      ...Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/status${status}` }])),
    },
  };
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

function requestBody(route: HttpRoute, { body: change }: Dialect, schemaOf: SchemaOf): Node {
  const { method, definition } = route;
  const { raw, body, forms, described } = definition;
  const type = described?.type ?? (raw ? undefined : 'application/json');
  if (type === undefined)
    return method === 'GET' ? {} : { requestBody: { content: { 'application/octet-stream': {} } } };
  if (!body) return {};
  const plain = schemaOf(body, definition);
  if (forms) plain['anyOf'] = forms().map((form) => schemaOf(form, definition));
  const schema = change?.(plain, route) ?? plain;
  const required = described?.required || (Array.isArray(schema['required']) && schema['required'].length > 0);
  return { requestBody: { required, content: { [type]: { schema } } } };
}

function success(each: Route, answer: string | undefined, answerOf: AnswerOf): Node {
  if (each.kind === 'socket') return { 101: { description: 'The connection is a WebSocket from now on' } };
  const { status = 200, raw, described } = each.definition;
  const isFile = raw && described?.type === undefined;
  const type = answer ?? (isFile ? 'application/octet-stream' : 'application/json');
  if (status === 204 || type === '') return { [status]: { description: 'Done' } };
  const schema = type === 'application/json' ? answerOf(each) : undefined;
  return { [status]: { description: 'Done', content: { [type]: schema === undefined ? {} : { schema } } } };
}

function identifier({ method, pattern }: Route): string {
  return [method.toLowerCase(), ...(pathOf(pattern).match(/\w+/g) ?? [])].join('_');
}

/** Parts of a project with their own routes. */
const NOUNS = ['nodes', 'links', 'drawings', 'snapshots', 'templates'];

/** The subject of a route: a noun of the controller, or `compute` and a noun. */
function tagOf(pattern: string): string {
  const [, , first = '', second = '', third = '', fourth, fifth] = pattern.split('/');
  if (first === 'access') return second;
  if (first === 'compute') return `compute ${fifth === 'nodes' ? fourth : second}`;
  return first === 'projects' && NOUNS.includes(third) ? third : first;
}
