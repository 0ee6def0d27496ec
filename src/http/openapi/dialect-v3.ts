// What the OpenAPI document says of the API of release 3.0.6: of a route that translates one of 2.2.57 what the document of that one says, in
// the form of 3.0.6. Loaded only for the document.
import { needsNoLogin } from '../access/gate.ts';
import type { HttpRoute, Route, RouteWords } from '../app/route.ts';
import type { Dialect, Node } from './dialect.ts';
import { answerSchema, objectSchemas } from './objects-v3.ts';
import { wordsOf } from './route-words.ts';

const DESCRIPTION = `Labwire speaks the GNS3 API, version 3, of which this document describes the controller. Version 2 has a document of its own,
/v2/openapi.json.

Without accounts no login is needed. Query parameters are never part of a body. Members that a body does not name are ignored, and texts
are read as what they mean: "700" is an integer, "no" is false. Identifiers may have any spelling of a UUID. Each refusal has a body
\`{"message"}\`, an unknown address or method \`{"detail"}\`.`;

/** Texts of routes that only version 3 has, or has in another form; the others have those of version 2. */
export const V3_WORDS: Readonly<Record<string, RouteWords>> = {
  'GET /v3/openapi.json': { summary: 'This document' },
  'POST /v3/access/users/authenticate': { summary: 'Log in with a name and a password', errors: [401, 429] },
  'POST /v3/access/users/login': { summary: 'Log in by a form', errors: [401, 429] },
  'GET /v3/access/users/me': { summary: 'Read the user who is logged in' },
  'PUT /v3/access/users/me': { summary: 'Change address, name or password of the user who is logged in' },
  'GET /v3/access/users': { summary: 'List users' },
  'POST /v3/access/users': {
    summary: 'Create a user, who has no rights before an entry of the access list grants some',
  },
  'GET /v3/access/users/{user_id}': { summary: 'Read a user' },
  'PUT /v3/access/users/{user_id}': { summary: 'Update a user' },
  'DELETE /v3/access/users/{user_id}': { summary: 'Delete a user' },
  'GET /v3/access/users/{user_id}/groups': { summary: 'List the groups of a user' },
  'GET /v3/access/groups': { summary: 'List groups' },
  'POST /v3/access/groups': { summary: 'Create a group' },
  'GET /v3/access/groups/{user_group_id}': { summary: 'Read a group' },
  'PUT /v3/access/groups/{user_group_id}': { summary: 'Rename a group' },
  'DELETE /v3/access/groups/{user_group_id}': { summary: 'Delete a group' },
  'GET /v3/access/groups/{user_group_id}/members': { summary: 'List the users of a group' },
  'PUT /v3/access/groups/{user_group_id}/members/{user_id}': { summary: 'Add a user to a group' },
  'DELETE /v3/access/groups/{user_group_id}/members/{user_id}': { summary: 'Remove a user from a group' },
  'GET /v3/access/privileges': { summary: 'List privileges' },
  'GET /v3/access/roles': { summary: 'List roles' },
  'POST /v3/access/roles': { summary: 'Create a role' },
  'GET /v3/access/roles/{role_id}': { summary: 'Read a role' },
  'PUT /v3/access/roles/{role_id}': { summary: 'Update a role' },
  'DELETE /v3/access/roles/{role_id}': { summary: 'Delete a role and its entries of the access list' },
  'GET /v3/access/roles/{role_id}/privileges': { summary: 'List the privileges of a role' },
  'PUT /v3/access/roles/{role_id}/privileges/{privilege_id}': { summary: 'Add a privilege to a role' },
  'DELETE /v3/access/roles/{role_id}/privileges/{privilege_id}': { summary: 'Remove a privilege from a role' },
  'GET /v3/access/acl': { summary: 'List the entries of the access list' },
  'POST /v3/access/acl': { summary: 'Create an entry of the access list', errors: [404] },
  'GET /v3/access/acl/endpoints': { summary: 'List the paths that entries can name' },
  'GET /v3/access/acl/{ace_id}': { summary: 'Read an entry of the access list' },
  'PUT /v3/access/acl/{ace_id}': { summary: 'Update an entry of the access list' },
  'DELETE /v3/access/acl/{ace_id}': { summary: 'Delete an entry of the access list' },
  'GET /v3/pools': { summary: 'List pools of labs' },
  'POST /v3/pools': { summary: 'Create a pool of labs' },
  'GET /v3/pools/{resource_pool_id}': { summary: 'Read a pool' },
  'PUT /v3/pools/{resource_pool_id}': { summary: 'Rename a pool' },
  'DELETE /v3/pools/{resource_pool_id}': { summary: 'Delete a pool' },
  'GET /v3/pools/{resource_pool_id}/resources': { summary: 'List the labs of a pool' },
  'PUT /v3/pools/{resource_pool_id}/resources/{resource_id}': { summary: 'Add a lab to a pool' },
  'DELETE /v3/pools/{resource_pool_id}/resources/{resource_id}': { summary: 'Remove a lab from all pools' },
  'GET /v3/images': {
    summary: 'List images',
    query: { image_type: 'Only those of this type: qemu, ios or iou' },
    errors: [422],
  },
  'GET /v3/images/{path:.+}': { summary: 'Read what is known of an image' },
  'POST /v3/images/upload/{path:.+}': {
    summary: 'Upload an image; its content says which type it has',
    query: { install_appliances: 'yes: create templates of appliances whose images are complete now' },
    answer: 'application/json',
    errors: [408, 507],
  },
  'POST /v3/images/qemu/{path:.+}': { summary: 'Create an empty disk image' },
  'DELETE /v3/images/{path:.+}': { summary: 'Delete an image that no node and no template uses', errors: [400] },
  'DELETE /v3/images/prune': { summary: 'Delete all images that no node and no template uses' },
  'POST /v3/images/install': { summary: 'Create templates of appliances whose images are complete' },
  'GET /v3/appliances/{appliance_id}': { summary: 'Read an appliance' },
  'POST /v3/appliances/{appliance_id}/version': {
    summary: 'Add a version to an appliance until the list of appliances is read again',
    errors: [400],
  },
  'POST /v3/appliances/{appliance_id}/install': {
    summary: 'Create a template of an appliance',
    query: { version: 'Version of the appliance, if it has some' },
    errors: [400],
  },
  'DELETE /v3/templates/{template_id}': {
    summary: 'Delete a template',
    query: { prune_images: 'yes: with its images that no node and no other template uses' },
  },
  'POST /v3/projects/{project_id}/nodes/{node_id}/files/{path:.+}': {
    summary: 'Write a file of a node',
    errors: [408, 507],
    answer: 'application/json',
  },
  'POST /v3/computes/{compute_id}/connect': { summary: 'Connect to a compute' },
  'GET /v3/projects/{project_id}/export': {
    summary: 'Export a project as an archive',
    query: {
      compression: 'zstd (default), zip, bzip2, lzma or none',
      compression_level: 'Of zip 0 to 9, bzip2 1 to 9, zstd 1 to 22',
      include_images: 'yes: with the images of its nodes',
      include_snapshots: 'yes: with its snapshots',
      reset_mac_addresses: 'yes: without MAC addresses, so that the copy gets its own',
      keep_compute_ids: 'yes: with the computes of its nodes',
    },
    answer: 'application/gns3project',
    errors: [409, 422],
  },
};

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

/** The texts of the route of version 2 that answers, or has the same path. */
function inherited(route: Route): RouteWords | undefined {
  const twin = route.kind === 'http' ? route.options.described?.twin : undefined;
  const words = wordsOf(twin ?? { ...route, pattern: route.pattern.replace('/v3', '/v2') });
  if (words === undefined) return undefined;
  const { summary, query, errors = [], ...others } = words;
  return {
    ...others,
    summary: summary.replace(/ \(an extension(?:; admins)?\)$/, ''),
    errors: errors.map((status) => (status === 400 ? 422 : status)),
    // The query is no part of a body, and reaches only routes whose body is a file.
    ...(query && twin && isFile(route) && { query }),
  };
}

const isFile = (route: Route): boolean => route.kind === 'http' && route.options.described?.type === undefined;

/** Identifiers that may be any text. */
const UUID = /\{(?!compute_id|symbol_id)\w+_id\}/;

function statuses(route: Route): number[] {
  const { method, pattern } = route;
  if (route.kind === 'socket') return [403, 404];
  const { body, described } = route.options;
  const found = [403, 500, ...(described?.errors ?? [])];
  if (!needsNoLogin(method, pattern)) found.push(401);
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
  words: (route) => V3_WORDS[nameOf(route)] ?? inherited(route),
  statuses,
  isOpen: ({ method, pattern }) => needsNoLogin(method, pattern),
  body: (schema, route) => withoutLimits(BODIES[nameOf(route)]?.(schema) ?? schema),
  answer: (route: HttpRoute) => answerSchema(nameOf(route)),
  objects: objectSchemas,
};
