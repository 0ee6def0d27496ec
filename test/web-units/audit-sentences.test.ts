// Lines of the audit trail as sentences.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditLine } from '../../src/api/objects.ts';
import { deedOf, namesIn } from '../../src/web/people/audit-sentences.ts';
import { AUDIT_WORDS } from '../../src/web/people/audit-words.ts';
import { serve } from '../controller/people-here.ts';

const LAB = { project_id: '11111111-0000-4000-8000-000000000000', project: 'ospf' };
const NODE = '22222222-0000-4000-8000-000000000000';
const LINK = '33333333-0000-4000-8000-000000000000';

const line = (action: string, objects: AuditLine['objects'], status = 200): AuditLine => ({
  ...{ time: '2026-01-01T00:00:00Z', account: 'ada', address: '127.0.0.1', action, objects, status },
});

test('every route of which the trail has a line has a sentence, and no sentence is of another', async (t) => {
  const { daemon } = await serve(t);
  const noted = daemon.app.routes.filter(
    ({ method, pattern, definition: { access = 'admin', unaudited } }) =>
      (method !== 'GET' || access === 'type' || access === 'change') &&
      !unaudited &&
      !pattern.startsWith('/v2/compute/'),
  );
  assert.deepEqual(
    Object.keys(AUDIT_WORDS).toSorted(),
    [...new Set(noted.map(({ method, pattern }) => `${method} ${pattern.replace(/^\/v[23]\//, '')}`))].toSorted(),
  );
});

test('a sentence names what it is about: by the answer, by another line, or by the identifier', () => {
  const node = '/v2/projects/{project_id}/nodes';
  const made = line(`POST ${node}`, { ...LAB, node_id: NODE, name: 'PC1' }, 201);
  const deleted = line(`DELETE ${node}/{node_id}`, { ...LAB, node_id: NODE }, 204);
  const cases: readonly [AuditLine, readonly AuditLine[], string][] = [
    [made, [], 'Add the node PC1 to the lab ospf'],
    [deleted, [made], 'Delete the node PC1 of the lab ospf'],
    [deleted, [], 'Delete the node 22222222 of the lab ospf'],
    [line('DELETE /v2/projects/{project_id}', { project_id: LAB.project_id }, 204), [made], 'Delete the lab ospf'],
    [line('DELETE /v2/projects/{project_id}', { project_id: LAB.project_id }, 204), [], 'Delete the lab 11111111'],
    [line('POST /v2/projects', { project_id: LAB.project_id, name: 'ospf' }), [], 'Make the lab ospf'],
    [
      line('PUT /v2/projects/{project_id}/links/{link_id}', { ...LAB, link_id: LINK }),
      [],
      'Change the link 33333333 of the lab ospf',
    ],
    [
      line('POST /v2/projects/{project_id}/duplicate', { ...LAB, name: 'bgp' }, 201),
      [],
      'Duplicate the lab ospf as bgp',
    ],
    [
      line('POST /v2/projects/{project_id}/files/{path:.+}', { ...LAB, path: 'README.txt' }),
      [],
      'Write the file README.txt of the lab ospf',
    ],
    [line('PUT /v2/accounts/{name}', { name: 'Zoë' }), [], 'Change the account Zoë'],
    [line('labwired user add', { account: 'bob' }, 0), [], 'On the host: labwired user add bob'],
    [line('POST /v2/compute/projects', { name: 'x' }), [], 'POST /v2/compute/projects x'],
  ];
  for (const [one, others, sentence] of cases) assert.equal(deedOf(one, namesIn([one, ...others])), sentence);
});

test('the name of a copy is not that of what was copied', () => {
  const copied = line('POST /v2/projects/{project_id}/nodes/{node_id}/duplicate', {
    ...LAB,
    node_id: NODE,
    name: 'PC9',
  });
  assert.equal(deedOf(copied, namesIn([copied])), 'Duplicate a node of the lab ospf as PC9');
  const stopped = line('POST /v2/projects/{project_id}/nodes/{node_id}/stop', { ...LAB, node_id: NODE }, 403);
  assert.equal(deedOf(stopped, namesIn([stopped, copied])), 'Stop the node 22222222 of the lab ospf');
});
