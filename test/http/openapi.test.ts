// The OpenAPI document of the whole server: valid, complete, and true to the routes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import * as v from 'valibot';
import { type JsonText, type Route, route, socketRoute } from '../../src/http/app/route.ts';
import { openApiDocument, openApiRoute } from '../../src/http/openapi/document.ts';
import { ROUTE_WORDS } from '../../src/http/openapi/route-words.ts';
import { LabServer } from '../controller/lab-server.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON that tests look into
type Json = any;

async function document(routes: readonly Route[]): Promise<Json> {
  return await openApiDocument(routes, { version: '2.2.57' });
}

async function served({ port }: LabServer): Promise<Json> {
  return await (await fetch(`http://127.0.0.1:${port}/v2/openapi.json`)).json();
}

test('the document that the server answers is valid OpenAPI 3.1', async (t) => {
  const server = await LabServer.start(t);
  const response = await fetch(`http://127.0.0.1:${server.port}/v2/openapi.json`);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/json');
  const text = await response.text();
  const { valid, errors } = await new Validator().validate(JSON.parse(text));
  assert.equal(valid, true, JSON.stringify(errors, null, 1));
  const found = JSON.parse(text);
  assert.equal(found.openapi, '3.1.0');
  assert.equal(found.info.version, '2.2.57');
  const path = '/v2/compute/projects/{project_id}/qemu/nodes';
  const part = await fetch(`http://127.0.0.1:${server.port}/v2/openapi.json?${new URLSearchParams({ path })}`);
  assert.deepEqual(await part.json(), { ...found, paths: { [path]: found.paths[path] } }, 'one path alone');
  const again = await fetch(`http://127.0.0.1:${server.port}/v2/openapi.json`);
  assert.equal(await again.text(), text);
});

test('every route of the server has a description, and no description is without a route', async (t) => {
  const server = await LabServer.start(t);
  const { paths } = await served(server);
  const operations = Object.entries<Json>(paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  );
  const mute = operations.filter(([, { summary }]) => !summary).map(([name]) => name);
  assert.deepEqual(mute, [], 'add them to src/http/openapi/route-words.ts');
  const known = operations.flatMap(([name]) => [
    name,
    name
      .replace(/(\/v2\/compute\/projects\/\{project_id\})\/\w+\/nodes/, '$1/{node_type}/nodes')
      .replace(/(\/v2\/compute)\/\w+\/(images|uploads)/, '$1/{emulator}/$2'),
  ]);
  const gone = Object.keys(ROUTE_WORDS).filter((name) => !known.includes(name.replaceAll(/\{(\w+):[^{}]+\}/g, '{$1}')));
  assert.deepEqual(gone, [], 'remove them from src/http/openapi/route-words.ts');
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
  const own = openApiRoute([watched], { version: '2.2.57' });
  assert.deepEqual(asked, []);
  assert.ok(own.kind === 'http');
  const { text } = (await own.handle({ query: {} } as never)) as JsonText;
  assert.ok(text.includes('/v2/things'));
  assert.ok(asked.length > 0);
});
