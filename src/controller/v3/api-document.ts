// What the OpenAPI document says of the API of release 3.0.6: of a route that translates one of 2.2.57 what the document of that one says, in
// the form of 3.0.6. Loaded only for the document.
import type { Route } from '../../http/app/route.ts';
import { describedAnswers } from '../../http/openapi/answers.ts';
import type { Dialect, Node } from '../../http/openapi/dialect.ts';
import { V3_ANSWERS } from './api-objects.ts';

const DESCRIPTION = `Labwire speaks the GNS3 API, version 3, of which this document describes the controller. Version 2 has a document of its own,
/v2/openapi.json.

Without accounts no login is needed. Query parameters are never part of a body. Members that a body does not name are ignored, and texts
are read as what they mean: "700" is an integer, "no" is false. Identifiers may have any spelling of a UUID. Each refusal has a body
\`{"message"}\`, an unknown address or method \`{"detail"}\`.`;

/** Members of bodies that version 3 treats differently, by method and path. */
const BODIES: Readonly<Record<string, (body: Node) => Node>> = {
  'POST /v3/projects': ({ properties, ...body }) => {
    const { path: _path, ...others } = properties as Node;
    return { ...body, properties: others };
  },
  'POST /v3/projects/{project_id}/links': ({ properties, ...body }) => {
    const { nodes, ...others } = properties as Node;
    return { ...body, properties: { ...others, nodes: { ...(nodes as Node), minItems: 2 } }, required: ['nodes'] };
  },
};

const nameOf = ({ method, pattern }: Pick<Route, 'method' | 'pattern'>): string => `${method} ${pattern}`;

/** Identifiers that may be any text. */
const UUID = /\{(?!compute_id|symbol_id)\w+_id\}/;

function statuses(route: Route): number[] {
  if (route.kind === 'socket') return [403, 404];
  const {
    pattern,
    definition: { body, open },
  } = route;
  const found = [403, 500];
  if (!open) found.push(401);
  if (pattern.includes('{')) found.push(404);
  if (body !== undefined || UUID.test(pattern)) found.push(422);
  if (body !== undefined) found.push(413);
  return found;
}

/** Unknown members are ignored. */
function withoutLimits(schema: Node): Node {
  return JSON.parse(JSON.stringify(schema), (_name, value) => {
    if (value?.additionalProperties === false) delete value.additionalProperties;
    return value;
  });
}

export const v3: Dialect = {
  description: DESCRIPTION,
  security: [{ bearer: [] }, { token: [] }, {}],
  securitySchemes: {
    bearer: { type: 'http', scheme: 'bearer', description: 'The token that a login answers' },
    token: {
      type: 'apiKey',
      in: 'query',
      name: 'token',
      description: 'The same token in the address; WebSockets take no other',
    },
  },
  refusals: {
    304: 'Not changed since the ETag that was sent',
    400: 'The request has the right form, and is wrong for what it is about; the message says why',
    401: 'The token is missing, wrong or has ended',
    403: 'Not allowed: no privilege, a closed project, something built in, a path that leads elsewhere, a foreign Host or Origin',
    404: 'Something that the path or the body names does not exist',
    408: 'Something took too long, or the client left',
    409: 'It cannot be done in the present state; the message says why',
    413: 'The body is too large',
    422: 'The request is invalid; the message names the member and what would fit',
    429: 'Too many wrong passwords; Retry-After says when to try again',
    500: 'An error of the server; its log has the details',
    503: 'Not available for the moment',
    507: 'No space is left on the disk',
  },
  refusal: {
    type: 'object',
    properties: { message: { type: 'string' }, detail: { type: 'string', description: 'Of an unknown address' } },
    anyOf: [{ required: ['message'] }, { required: ['detail'] }],
  },
  withoutBody: [304],
  statuses,
  body: (schema, route) => withoutLimits(BODIES[nameOf(route)]?.(schema) ?? schema),
  ...describedAnswers(V3_ANSWERS),
};
