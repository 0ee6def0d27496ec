// What the OpenAPI document says of the API of release 2.2.57. Loaded only for the document.
import { ABSENT_DEFAULTS } from '../../api/kinds/absent-settings.ts';
import { defaultOf, effectOf, READ_ONLY_PROPERTIES } from '../../api/kinds/kinds.ts';
import { settingWords } from '../../api/kinds/setting-words.ts';
import type { RouteDefinition } from '../../api/routes/definition.ts';
import type { Json } from '../../events/json.ts';
import type { Route } from '../../http/app/route.ts';
import { describedAnswers } from '../../http/openapi/answers.ts';
import type { Dialect, Node } from '../../http/openapi/dialect.ts';
import { V2_ANSWERS } from './api-objects.ts';

const DESCRIPTION = `Labwire speaks the GNS3 API, version 2. Version 3 has a document of its own, /v3/openapi.json.

Query parameters are written over the members of a JSON body before it is checked. A body that is empty is an empty object. Each
refusal has a body \`{"message", "status"}\`; that of an emulator also has \`exception\`.`;

const fromTable = describedAnswers(V2_ANSWERS);

export const v2: Dialect = {
  description: DESCRIPTION,
  security: [{}, { basic: [] }, { bearer: [] }],
  securitySchemes: { basic: { type: 'http', scheme: 'basic' }, bearer: { type: 'http', scheme: 'bearer' } },
  refusals: {
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
  },
  refusal: {
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
  withoutBody: [304, 401],
  described,
  statuses,
  ...fromTable,
  answer: (route, converted) => {
    const schema = route.definition.answer?.schema;
    return schema ? converted(schema) : fromTable.answer(route, converted);
  },
};

/** Error statuses that follow from the route's definition. */
function statuses({ kind, method, pattern, definition: { raw, body } }: Route): number[] {
  const found = [401, 403, 500];
  // Computes validate ids.
  if (body || kind === 'socket' || /^\/v2\/compute\/.*\{(project|node)_id\}/.test(pattern)) found.push(400);
  if (!raw && method !== 'GET') found.push(400, 413);
  if (pattern.includes('{')) found.push(404);
  if (method !== 'GET') found.push(409);
  return found;
}

/** Clients may send these back; they are ignored. */
const READ_ONLY: ReadonlySet<string> = new Set([...READ_ONLY_PROPERTIES, 'template_id', 'builtin', 'halt_reason']);

/** The body's schema with texts for its settings. */
function described(schema: Node, { settings }: RouteDefinition): Node {
  if (settings === undefined) return schema;
  // A template's type gives the kind; its settings apply to nodes created later.
  return settings === true ? withTexts(schema, kindOfTemplate(schema)) : withTexts(schema, settings, true);
}

function kindOfTemplate({ properties }: Node): string | undefined {
  const type = isNode(properties) ? properties['template_type'] : undefined;
  return isNode(type) && typeof type['const'] === 'string' ? type['const'] : undefined;
}

/** Adds texts to the schema, also within lists. `kind` is the type of the node, if `ofNode`, or of the template. */
function withTexts(schema: Node, kind: string | undefined, ofNode = false): Node {
  const result: Node = { ...schema };
  for (const member of ['oneOf', 'anyOf', 'prefixItems'] as const) {
    const forms = schema[member];
    if (Array.isArray(forms)) result[member] = forms.map((form) => (isNode(form) ? withTexts(form, kind) : form));
  }
  if (isNode(schema['items'])) result['items'] = withTexts(schema['items'], undefined);
  if (!isNode(schema['properties'])) return result;
  result['properties'] = Object.fromEntries(
    Object.entries(schema['properties']).map(([name, property]) => [
      name,
      setting(name, property as Node, kind, ofNode),
    ]),
  );
  return result;
}

function setting(name: string, property: Node, kind: string | undefined, ofNode: boolean): Node {
  const found = settingWords(kind, name);
  const inner = withTexts(property, undefined);
  if (!found) return inner;
  const { title, description, unit, lines, images, secret, group, order } = found;
  const effect = ofNode ? effectOf(kind!, name) : undefined;
  const isAbsent = Object.hasOwn(ABSENT_DEFAULTS, name);
  // No `default`: a change without the member leaves the value as it is.
  const usual = kind !== undefined && (ofNode || isAbsent) ? (defaultOf(kind, name) as Json | undefined) : undefined;
  return {
    ...inner,
    title,
    ...(description !== undefined && { description }),
    'x-order': order,
    ...(group !== '' && { 'x-group': group }),
    ...(READ_ONLY.has(name) && { readOnly: true }),
    ...(isAbsent && { 'x-absent': true }),
    ...(usual !== undefined && usual !== null && { 'x-default': usual }),
    ...(unit !== undefined && { 'x-unit': unit }),
    ...(lines && { 'x-lines': true }),
    ...(secret && { 'x-secret': true }),
    ...(images && kind !== undefined && { 'x-images': kind }),
    ...(effect && effect !== 'live' && { 'x-effect': effect }),
  };
}

function isNode(value: Json | undefined): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
