// Which privilege opens which route, against the table of release 3.0.6; and what Labwire's roles may do by /v3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entryPath, privilegeOf } from '../../src/controller/accounts/route-privileges.ts';
import { needOf, RULES } from '../../src/controller/accounts/rules.ts';
import { V3_ROUTES } from './v3-privileges.ts';

/** Where Labwire asks for more than the release does. */
const STRICTER: Readonly<Record<string, string>> = {
  // They drive the router.
  'GET /v3/projects/{project_id}/nodes/{node_id}/dynamips/auto_idlepc': 'Node.Modify',
  'GET /v3/projects/{project_id}/nodes/{node_id}/dynamips/idlepc_proposals': 'Node.Modify',
  // It names a file of the host.
  'POST /v3/projects/load': '-',
};

test('entries open a route of /v3 with the privilege of the release, and no other route', () => {
  const differing = V3_ROUTES.flatMap(([method, pattern, expected]) => {
    const found = privilegeOf({ method: method as 'GET', pattern }) ?? '-';
    const wanted = STRICTER[`${method} ${pattern}`] ?? expected;
    return found === wanted ? [] : [`${method} ${pattern}: ${found}, not ${wanted}`];
  });
  assert.deepEqual(differing, []);
});

test('entries open a route of /v2 with the privilege of its twin', () => {
  const twins = new Map(V3_ROUTES.map(([method, pattern, privilege]) => [`${method} ${pattern.slice(3)}`, privilege]));
  const plain = (text: string) => text.replaceAll(/\{[^{}]*\}/g, '{}');
  const byPlain = new Map([...twins].map(([name, privilege]) => [plain(name), privilege]));
  const differing = [...RULES.keys()].flatMap((rule) => {
    const [method, pattern] = rule.split(' ') as ['GET', string];
    const twin = byPlain.get(plain(`${method} ${pattern.replace(/^\/v2/, '')}`));
    const found = privilegeOf({ method, pattern }) ?? '-';
    const wanted = STRICTER[rule.replace('/v2/', '/v3/')] ?? twin;
    return !pattern.startsWith('/v2/') || twin === undefined || found === wanted
      ? []
      : [`${rule}: ${found}, not ${wanted}`];
  });
  assert.deepEqual(differing, []);
  for (const name of [
    'POST /v2/shutdown',
    'POST /v2/accounts',
    'PUT /v2/projects/{project_id}/sharing',
    'GET /v2/audit',
  ])
    assert.equal(privilegeOf({ method: name.split(' ')[0] as 'GET', pattern: name.split(' ')[1]! }), undefined, name);
});

test('a role may do by /v3 what it may do by /v2', () => {
  const without = V3_ROUTES.filter(([method, pattern]) => needOf({ method: method as 'GET', pattern }) === undefined);
  assert.deepEqual(without, [], 'say in src/controller/accounts/rules.ts what they ask for');
  const needs: Readonly<Record<string, string>> = {
    'PUT /v3/projects/{project_id}': 'change',
    'GET /v3/projects/{project_id}/nodes': 'watch',
    'POST /v3/projects/{project_id}/lock': 'change',
    'GET /v3/projects/{project_id}/locked': 'watch',
    'POST /v3/projects/{project_id}/links/{link_id}/capture/start': 'change',
    'GET /v3/projects/{project_id}/links/{link_id}/capture/stream': 'watch',
    'GET /v3/projects/{project_id}/nodes/{node_id}/console/ws': 'type',
    'POST /v3/projects': 'use',
    'POST /v3/shutdown': 'admin',
    'PUT /v3/iou_license': 'admin',
    'DELETE /v3/images/prune': 'admin',
    'GET /v3/images': 'read',
    'POST /v3/computes/{compute_id}/connect': 'admin',
  };
  for (const [name, need] of Object.entries(needs)) {
    const [method, pattern] = name.split(' ') as ['GET', string];
    assert.equal(needOf({ method, pattern }), need, name);
  }
});

test('the path of an entry is that of the request in release 3.0.6, and no parameter makes it another place', () => {
  const route = (method: 'GET' | 'POST', pattern: string) => ({ method, pattern });
  const nodes = route('GET', '/v2/projects/{project_id}/nodes');
  assert.equal(entryPath(nodes, { project_id: 'ABC' }), '/projects/abc/nodes');
  assert.equal(entryPath(nodes, { project_id: 'abc/../def' }), undefined);
  assert.equal(entryPath(nodes, {}), undefined);
  const capture = route('POST', '/v2/projects/{project_id}/links/{link_id}/start_capture');
  assert.equal(entryPath(capture, { project_id: 'p', link_id: 'l' }), '/projects/p/links/l/capture/start');
  const file = route('GET', '/v3/projects/{project_id}/files/{path:.+}');
  assert.equal(entryPath(file, { project_id: 'p', path: 'a/b' }), '/projects/p/files/a/b');
});
