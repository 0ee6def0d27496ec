// Which privilege opens which route, against the table of release 3.0.6; and what Labwire's roles may do by /v3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LINK_ROUTES } from '../../src/api/routes/links.ts';
import { entryPath } from '../../src/controller/accounts/entry-paths.ts';
import type { Route } from '../../src/http/app/route.ts';
import { serve } from './people-here.ts';
import { V3_ROUTES } from './v3-privileges.ts';

/** Where Labwire asks for more than the release does. */
const STRICTER: Readonly<Record<string, string>> = {
  // They drive the router.
  'GET /projects/{}/nodes/{}/dynamips/auto_idlepc': 'Node.Modify',
  'GET /projects/{}/nodes/{}/dynamips/idlepc_proposals': 'Node.Modify',
  // It names a file of the host.
  'POST /projects/load': '-',
};

/** A route without the version and the names of its parameters. */
const plain = ({ method, pattern }: { method: string; pattern: string }): string =>
  `${method} ${pattern.replace(/^\/v[23]/, '').replaceAll(/\{[^{}]*\}/g, '{}')}`;

const EXPECTED = new Map(
  V3_ROUTES.map(([method, pattern, privilege]) => {
    const name = plain({ method: method!, pattern: pattern! });
    return [name, STRICTER[name] ?? privilege!];
  }),
);

for (const version of ['/v2/', '/v3/'])
  test(`entries open a route of ${version} with the privilege of release 3.0.6, and no other route`, async (t) => {
    const { daemon } = await serve(t);
    const routes = daemon.app.routes.filter(({ pattern }) => pattern.startsWith(version));
    const known = routes.filter((route) => EXPECTED.has(plain(route)));
    assert.ok(known.length > 90, `${known.length}`);
    const differing = known.flatMap((route) => {
      const [found = '-', wanted] = [route.definition.privilege, EXPECTED.get(plain(route))];
      return found === wanted ? [] : [`${plain(route)}: ${found}, not ${wanted}`];
    });
    assert.deepEqual(differing, []);
    const closed = ['POST /shutdown', 'POST /accounts', 'PUT /projects/{}/sharing', 'GET /audit'];
    for (const route of routes.filter((one) => closed.includes(plain(one))))
      assert.equal(route.definition.privilege, undefined, plain(route));
  });

test('a role may do by /v3 what it may do by /v2', async (t) => {
  const { daemon } = await serve(t);
  const { routes } = daemon.app;
  const access = ({ definition }: Route): string => definition.access ?? 'admin';
  const ofV2 = new Map(
    routes.filter(({ pattern }) => pattern.startsWith('/v2/')).map((route) => [plain(route), access(route)]),
  );
  const ofV3 = routes.filter(({ pattern }) => pattern.startsWith('/v3/'));
  const both = ofV3.filter((route) => ofV2.has(plain(route)));
  assert.ok(both.length > 80, `${both.length}`);
  for (const route of both) assert.equal(access(route), ofV2.get(plain(route)), plain(route));
  const ofThemselves: Readonly<Record<string, string>> = {
    'POST /projects/{}/links/{}/capture/start': 'change',
    'GET /projects/{}/links/{}/capture/stream': 'watch',
    'GET /projects/{}/nodes/{}/console/ws': 'type',
    'DELETE /images/prune': 'admin',
    'GET /images': 'read',
    'POST /computes/{}/connect': 'admin',
  };
  for (const [name, need] of Object.entries(ofThemselves))
    assert.equal(access(ofV3.find((route) => plain(route) === name)!), need, name);
});

test('the path of an entry is that of the request in release 3.0.6, and no parameter makes it another place', () => {
  const route = (pattern: string, definition = {}) => ({ pattern, definition });
  const nodes = route('/v2/projects/{project_id}/nodes');
  assert.equal(entryPath(nodes, { project_id: 'ABC' }), '/projects/abc/nodes');
  assert.equal(entryPath(nodes, { project_id: 'abc/../def' }), undefined);
  assert.equal(entryPath(nodes, {}), undefined);
  const start = '/v2/projects/{project_id}/links/{link_id}/start_capture';
  const capture = route(start, LINK_ROUTES[`POST ${start}`]);
  assert.equal(entryPath(capture, { project_id: 'p', link_id: 'l' }), '/projects/p/links/l/capture/start');
  const file = route('/v3/projects/{project_id}/files/{path:.+}');
  assert.equal(entryPath(file, { project_id: 'p', path: 'a/b' }), '/projects/p/files/a/b');
});
