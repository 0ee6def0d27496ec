// The types of routes: a handler has the parameters and the body of its definition, and gives the answer that it promises.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { answers, type RouteDefinitions } from '../../src/api/routes/definition.ts';
import { App } from '../../src/http/app/app.ts';
import { routesOf } from '../../src/http/app/route.ts';

const ROUTES = {
  'PUT /v2/things/{thing_id}': { body: v.object({ size: v.number() }), answer: answers<{ size: number }>() },
  'DELETE /v2/{kind}/{thing_id}': { status: 204 },
  'GET /v2/things/ws': { socket: true },
} as const satisfies RouteDefinitions;

test('a handler that differs from the definition of its route does not compile', () => {
  const { route, socketRoute } = routesOf(ROUTES);
  route('PUT /v2/things/{thing_id}', ({ body }) => ({ size: body.size }));
  // @ts-expect-error no such route
  route('PUT /v2/thing/{thing_id}', () => undefined);
  // @ts-expect-error another answer
  route('PUT /v2/things/{thing_id}', () => ({ size: 'large' }));
  // @ts-expect-error no answer
  route('PUT /v2/things/{thing_id}', () => undefined);
  // @ts-expect-error a member that the body does not have
  route('PUT /v2/things/{thing_id}', ({ body }) => ({ size: body.length }));
  // @ts-expect-error a parameter that the pattern does not have
  route('PUT /v2/things/{thing_id}', ({ params }) => ({ size: Number(params.project_id) }));
  // @ts-expect-error an answer where there is none
  route('DELETE /v2/{kind}/{thing_id}', () => ({ size: 1 }));
  // @ts-expect-error a WebSocket
  route('GET /v2/things/ws', () => undefined);
  // @ts-expect-error no WebSocket
  socketRoute('/v2/things/{thing_id}', () => () => {});
});

test('a parameter with one value is filled in', async () => {
  const { route } = routesOf(ROUTES, { kind: 'things' });
  const app = new App([route('DELETE /v2/{kind}/{thing_id}', ({ params }) => assert.equal(params.thing_id, 'x'))]);
  const status = async (path: string) => (await app.request(path, { method: 'DELETE' })).status;
  assert.deepEqual([await status('/v2/things/x'), await status('/v2/others/x')], [204, 404]);
});
