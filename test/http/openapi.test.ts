// The OpenAPI document of the whole server: valid, complete, and true to the routes.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as v from 'valibot';
import { v2 } from '../../src/controller/server/api-document.ts';
import { type JsonText, type Route, route, socketRoute } from '../../src/http/app/route.ts';
import { openApiDocument, openApiRoute } from '../../src/http/openapi/document.ts';
import { LabServer } from '../controller/lab-server.ts';
import { addPeople, serve } from '../controller/people-here.ts';
import { V3_ROUTES } from '../controller/v3-privileges.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON that tests look into
type Json = any;

const load = async () => v2;

async function document(routes: readonly Route[]): Promise<Json> {
  return await openApiDocument(routes, { version: '2.2.57', load });
}

async function served({ port }: LabServer, dialect = 'v2'): Promise<Json> {
  return await (await fetch(`http://127.0.0.1:${port}/${dialect}/openapi.json`)).json();
}

/** Method and path of each route, and what the document says of it. */
function operationsOf({ paths }: Json): (readonly [string, Json])[] {
  return Object.entries<Json>(paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  );
}

for (const [dialect, version] of Object.entries({ v2: '2.2.57', v3: '3.0.6' }))
  test(`the document of /${dialect} that the server answers is valid OpenAPI 3.1`, async (t) => {
    const server = await LabServer.start(t);
    const address = `http://127.0.0.1:${server.port}/${dialect}/openapi.json`;
    const response = await fetch(address);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/json');
    const text = await response.text();
    const { valid, errors } = await new Validator().validate(JSON.parse(text));
    assert.equal(valid, true, JSON.stringify(errors, null, 1));
    const found = JSON.parse(text);
    assert.equal(found.openapi, '3.1.0');
    assert.equal(found.info.version, version);
    const mute = operationsOf(found).filter(([, { summary }]) => !summary);
    assert.deepEqual(mute, [], 'give them a summary in src/api/routes');
    const names = operationsOf(found).map(([, { operationId }]) => operationId);
    assert.equal(new Set(names).size, names.length, 'each has a name of its own');
    assert.equal(await (await fetch(address)).text(), text);
  });

test('the document of /v2 can be had of one path alone', async (t) => {
  const server = await LabServer.start(t);
  const found = await served(server);
  const path = '/v2/compute/projects/{project_id}/qemu/nodes';
  const part = await fetch(`http://127.0.0.1:${server.port}/v2/openapi.json?${new URLSearchParams({ path })}`);
  // With the schemas of its answers alone.
  const { Refusal, ComputeNode } = found.components.schemas;
  const components = { ...found.components, schemas: { Refusal, ComputeNode } };
  assert.deepEqual(await part.json(), { ...found, components, paths: { [path]: found.paths[path] } });
});

/** A pattern as the document has it. */
const plain = (spelling: string): string => spelling.replaceAll(/\{(\w+):[^{}]+\}/g, '{$1}');

/** Routes of release 3.0.6 that Labwire has in that with `{emulator}`. */
const FORWARDED = /^GET \/v3\/computes\/\{\}\/(?:docker\/images|virtualbox\/vms|vmware\/vms)$/;

test('the document of /v3 has all routes of that version, and no other', async (t) => {
  const { daemon } = await serve(t);
  const response = await daemon.app.request('/v3/openapi.json');
  const found = operationsOf(await response.json()).map(([name]) => name);
  const actual = daemon.app.routes.filter(({ pattern }) => pattern.startsWith('/v3/'));
  assert.deepEqual(found.sort(), actual.map(({ method, pattern }) => plain(`${method} ${pattern}`)).sort());
  const nameless = (name: string) => name.replaceAll(/\{[^{}]*\}/g, '{}');
  const names = new Set(found.map(nameless));
  const missing = V3_ROUTES.map(([method, pattern]) => nameless(`${method} ${pattern}`)).filter(
    (name) => !names.has(name) && !FORWARDED.test(name),
  );
  assert.deepEqual(missing, [], 'routes of release 3.0.6');
});

test('the document of /v3 is for everybody, and says which routes need no login', async (t) => {
  const served = await serve(t);
  await addPeople(served, { ada: 'admin' });
  const ask = async (method: string, path: string) => served.daemon.app.request(path, { method, headers: {} });
  const response = await ask('GET', '/v3/openapi.json');
  assert.equal(response.status, 200);
  for (const [name, { security, responses }] of operationsOf(await response.json())) {
    const [method, path] = name.split(' ') as [string, string];
    if ('101' in responses) continue;
    const { status, body } = await ask(method, path.replaceAll(/\{\w+\}/g, 'x'));
    await body?.cancel();
    const isOpen = security?.length === 0;
    // A login without a name is wrong in its form.
    assert.equal(status === 401, !isOpen, `${name}: ${status}`);
    if (!isOpen) assert.ok('401' in responses, name);
  }
});

/** Makes calls of a server, and compares their answers and bodies with its document. */
async function checkedCalls(server: LabServer, found: Json) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components: found.components });
  /** The calls that were answered in the documented form. */
  const checked = new Set<string>();
  const undescribed = new Set<string>();
  const call = async (name: string, ids: Readonly<Record<string, string>> = {}, body?: object): Promise<Json> => {
    const [method, pattern] = name.split(' ') as [string, string];
    const path = pattern.replaceAll(/\{(\w+)\}/g, (_all, parameter: string) => ids[parameter] ?? 'x');
    const text = body === undefined ? null : JSON.stringify(body);
    const headers: Record<string, string> =
      text === null ? {} : { 'Content-Type': 'application/json', 'Content-Length': String(text.length) };
    const response = await server.request(path, { method, headers, body: text });
    const content = await response.text();
    const answer =
      content === '' ? undefined : /json|octet/.test(response.headers.get('content-type') ?? '') && JSON.parse(content);
    const { responses, requestBody } = found.paths[pattern][method.toLowerCase()];
    const declared = responses[response.status];
    assert.ok(declared, `${name}: ${response.status} ${content}`);
    const { schema } =
      (declared.$ref ? found.components.responses[declared.$ref.split('/').pop()] : declared).content?.[
        'application/json'
      ] ?? {};
    const check = (what: string, wanted: Json, value: unknown) => {
      const refers = JSON.stringify(wanted).replaceAll('"#/components', '"document#/components');
      const isValid = ajv.validate(JSON.parse(refers), value);
      assert.ok(isValid, `${what}: ${ajv.errorsText()} in ${JSON.stringify(value)}`);
    };
    if (schema) check(`the answer of ${name}`, schema, answer);
    else if (response.ok && answer !== undefined && answer !== false) undescribed.add(name);
    const form = requestBody?.content['application/json']?.schema;
    if (form && response.ok) check(`the body of ${name}`, form, body ?? {});
    checked.add(`${name} ${response.status}`);
    return answer;
  };
  return { call, checked, undescribed };
}

test('what /v3 answers has the form that its document says', async (t) => {
  const server = await LabServer.start(t);
  const found = await served(server, 'v3');
  const { call, checked } = await checkedCalls(server, found);

  const PROJECT = '/v3/projects/{project_id}';
  const { project_id } = await call('POST /v3/projects', {}, { name: 'form', auto_close: false });
  const lab = { project_id };
  const nodes: Json[] = [];
  for (const node_type of ['vpcs', 'ethernet_switch', 'ethernet_hub', 'cloud', 'nat'])
    nodes.push(await call(`POST ${PROJECT}/nodes`, lab, { name: node_type, node_type, compute_id: 'local', x: 3 }));
  const ends = [nodes[0], nodes[1]].map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 0 }));
  const { link_id } = await call(`POST ${PROJECT}/links`, lab, { nodes: ends, filters: { delay: [5, 1] } });
  const { drawing_id } = await call(`POST ${PROJECT}/drawings`, lab, { svg: '<svg></svg>' });
  const { snapshot_id } = await call(`POST ${PROJECT}/snapshots`, lab, { name: 'before' });
  const template = { name: 'PC', template_type: 'vpcs', compute_id: 'local', category: 'guest' };
  const { template_id } = await call('POST /v3/templates', {}, template);
  const compute = { protocol: 'http', host: '127.0.0.1', port: 9, name: 'far' };
  await call('POST /v3/computes', {}, { compute_id: randomUUID(), ...compute });
  const { user_group_id } = await call('POST /v3/access/groups', {}, { name: 'class' });
  const { role_id } = await call('POST /v3/access/roles', {}, { name: 'watching', description: 'looks' });
  const entry = { ace_type: 'group', path: '/', group_id: user_group_id, role_id };
  const { ace_id } = await call('POST /v3/access/acl', {}, entry);
  const { resource_pool_id } = await call('POST /v3/pools', {}, { name: 'pool' });
  await call('PUT /v3/pools/{resource_pool_id}/resources/{resource_id}', { resource_pool_id, resource_id: project_id });
  const [{ user_id }] = await call('GET /v3/access/users');
  const [{ appliance_id }] = await call('GET /v3/appliances');
  await call('POST /v3/access/users/authenticate', {}, { username: 'admin', password: 'admin' });
  const ids = {
    ...{ ...lab, node_id: nodes[0].node_id, link_id, drawing_id, snapshot_id, template_id, compute_id: 'local' },
    ...{ user_id, user_group_id, role_id, ace_id, resource_pool_id, appliance_id, symbol_id: ':/symbols/cloud.svg' },
    ...{ engine: 'vmware', emulator: 'qemu', action: 'binaries' },
  };
  for (const [name, { responses }] of operationsOf(found)) {
    // Streams and WebSockets have no end.
    if (!name.startsWith('GET ') || '101' in responses || name.endsWith('/notifications')) continue;
    await call(name, ids);
  }
  for (const { node_id } of nodes) await call(`PUT ${PROJECT}/nodes/{node_id}`, { ...ids, node_id }, { x: 4 });
  for (const [what, change] of [
    ['links/{link_id}', { suspend: true }],
    ['drawings/{drawing_id}', { x: 4 }],
  ] as const)
    await call(`PUT ${PROJECT}/${what}`, ids, change);
  await call(`POST ${PROJECT}/nodes/{node_id}/duplicate`, ids, { x: 1, y: 1 });
  await call(`POST ${PROJECT}/templates/{template_id}`, ids, { x: 1, y: 1 });
  await call(`POST ${PROJECT}/links`, ids, { nodes: [] });
  await call(`POST ${PROJECT}/nodes/{node_id}/files/{path}`, ids, { any: 'bytes' });
  assert.deepEqual(await call(`GET ${PROJECT}/nodes/{node_id}/files/{path}`, ids), { any: 'bytes' });
  await call(`POST ${PROJECT}/close`, ids);
  await call(`GET ${PROJECT}/nodes`, ids);
  await call(`GET ${PROJECT}/links/{link_id}`, ids);
  await call(`POST ${PROJECT}/open`, ids);
  await call(`POST ${PROJECT}/duplicate`, ids, { name: 'copy' });
  const good = [...checked].filter((name) => / 20\d$/.test(name));
  assert.ok(good.length > 70, `${good.length} answers with success`);
});

/** Facts of an emulator's programs, also when forwarded, and the document itself. */
const OF_PROGRAMS =
  /^GET \/v2\/(?:compute\/\w+\/[\w-]+|computes\/\{compute_id\}\/\{emulator\}\/\{action\}|openapi\.json)$/;

test('what /v2 answers, computes included, has the form that its document says', async (t) => {
  const server = await LabServer.start(t);
  const found = await served(server);
  const { call, checked, undescribed } = await checkedCalls(server, found);

  const LAB = '/v2/projects/{project_id}';
  const { project_id } = await call('POST /v2/projects', {}, { name: 'form', auto_close: false });
  const lab = { project_id };
  const nodes: Json[] = [];
  for (const node_type of ['vpcs', 'ethernet_switch', 'ethernet_hub', 'cloud', 'nat'])
    nodes.push(await call(`POST ${LAB}/nodes`, lab, { name: node_type, node_type, compute_id: 'local', x: 3 }));
  const ends = [nodes[0], nodes[1]].map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 0 }));
  const { link_id } = await call(`POST ${LAB}/links`, lab, { nodes: ends, filters: { delay: [5, 1] } });
  const { drawing_id } = await call(`POST ${LAB}/drawings`, lab, { svg: '<svg></svg>' });
  const { snapshot_id } = await call(`POST ${LAB}/snapshots`, lab, { name: 'before' });
  const template = { name: 'PC', template_type: 'vpcs', compute_id: 'local', category: 'guest' };
  const { template_id } = await call('POST /v2/templates', {}, template);
  const ids = {
    ...{ ...lab, link_id, drawing_id, snapshot_id, template_id, compute_id: 'local', engine: 'vmware' },
    ...{
      emulator: 'qemu',
      action: 'binaries',
      symbol_id: ':/symbols/cloud.svg',
      adapter_number: '0',
      port_number: '0',
    },
  };
  const idOf = (type: string): string => (nodes.find(({ node_type }) => node_type === type) ?? nodes[0]).node_id;
  await call(`POST ${LAB}/links/{link_id}/start_capture`, ids, {});
  for (const [name, { responses }] of operationsOf(found)) {
    // Streams and WebSockets have no end.
    if (!name.startsWith('GET ') || '101' in responses || /notifications|pcap$|stream$/.test(name)) continue;
    await call(name, { ...ids, node_id: idOf(/(\w+)\/nodes/.exec(name)?.[1] ?? '') });
  }
  for (const node_type of ['vpcs', 'ethernet_switch'])
    await call(`PUT ${LAB}/nodes/{node_id}`, { ...ids, node_id: idOf(node_type) }, { x: 4 });
  await call(`POST ${LAB}/nodes/{node_id}/duplicate`, { ...ids, node_id: idOf('vpcs') }, { x: 1, y: 1 });
  await call(`POST ${LAB}/templates/{template_id}`, ids, { x: 1, y: 1 });
  await call(`POST ${LAB}/nodes/{node_id}/start`, { ...ids, node_id: idOf('vpcs') }, {});
  await call('POST /v2/compute/projects/{project_id}/ports/udp', ids, {});
  await call(`POST ${LAB}/close`, ids);
  await call(`GET ${LAB}/nodes`, ids);
  await call(`GET ${LAB}/links`, ids);
  await call(`POST ${LAB}/open`, ids);
  const good = [...checked].filter((name) => / 20\d$/.test(name));
  assert.ok(good.length > 70, `${good.length} answers with success`);
  const missing = [...undescribed].filter((name) => !OF_PROGRAMS.test(name));
  assert.deepEqual(missing, [], 'give them a schema in src/api/routes');
});

test('a route shows its parameters, its body, and how it ends', async () => {
  const Body = v.strictObject({
    name: v.pipe(v.string(), v.minLength(1)),
    number: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1)), 7),
  });
  const { paths } = await document([
    route('POST /v2/things/{thing_id}/ports/{port:\\d+}', { body: Body, status: 201 }, () => undefined),
    route('GET /v2/things/{path:.+}/raw', { raw: true }, () => undefined),
    route('DELETE /v2/things', { status: 204 }, () => undefined),
    socketRoute('/v2/things/ws', () => () => {}),
  ]);
  const post = paths['/v2/things/{thing_id}/ports/{port}'].post;
  assert.deepEqual(
    post.parameters.map(({ name, schema }: Json) => [name, schema.type]),
    [
      ['thing_id', 'string'],
      ['port', 'integer'],
    ],
  );
  assert.deepEqual(post.requestBody, {
    required: true,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: {
            name: { type: 'string', minLength: 1 },
            number: { type: 'integer', minimum: 1, maximum: 9007199254740991, default: 7 },
          },
          required: ['name'],
          additionalProperties: false,
        },
      },
    },
  });
  assert.deepEqual(Object.keys(post.responses), ['201', '400', '401', '403', '404', '409', '413', '500']);
  assert.deepEqual(post.responses['404'], { $ref: '#/components/responses/status404' });
  assert.deepEqual(Object.keys(paths['/v2/things/{path}/raw'].get.responses['200'].content), [
    'application/octet-stream',
  ]);
  assert.equal(paths['/v2/things'].delete.responses['204'].content, undefined);
  assert.ok(paths['/v2/things/ws'].get.responses['101']);
});

test('objects with unknown members are objects', async (t) => {
  const server = await LabServer.start(t);
  const { paths } = await served(server);
  const link = paths['/v2/projects/{project_id}/links'].post.requestBody.content['application/json'].schema;
  assert.equal(link.properties.link_style.type, 'object');
});

test('the document is not made before a client asks for it', async () => {
  const asked: string[] = [];
  const watched = new Proxy<Route>(
    route('GET /v2/things', {}, () => undefined),
    {
      get(target, member, receiver) {
        asked.push(String(member));
        return Reflect.get(target, member, receiver);
      },
    },
  );
  const own = openApiRoute([watched], { version: '2.2.57', address: '/v2/openapi.json', load });
  assert.deepEqual(asked, []);
  assert.ok(own.kind === 'http');
  const { text } = (await own.handle({ query: {} } as never)) as JsonText;
  assert.ok(text.includes('/v2/things'));
  assert.ok(asked.length > 0);
});
