// What accounts without rights see of the hosts of a cluster, and how a host is forgotten over HTTP.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { addPeople, serve } from '../controller/people-here.ts';
import { eventually } from '../eventually.ts';
import { missing } from '../system/lab.ts';
import { first } from './joined-host.ts';

test('nodes of labs that an account does not see are not counted; forget takes nothing but yes', {
  skip: missing('nats-server', 'openssl'),
}, async (t) => {
  const { a } = await first(t);
  const server = await serve(t, a.state);
  const { admin, other } = await addPeople(server, { admin: 'admin', other: 'user' });
  const lab = JSON.parse((await admin('POST', '/v2/projects', { name: 'private' })).text);
  const node = { name: 'Hub', node_type: 'ethernet_hub', compute_id: 'local' };
  assert.equal((await admin('POST', `/v2/projects/${lab.project_id}/nodes`, node)).status, 201);
  const counts = async (person: typeof admin): Promise<unknown> =>
    JSON.parse((await person('GET', '/v2/cluster')).text).hosts.map(({ nodes }: { nodes: number }) => nodes);
  await eventually(
    'the host',
    () => counts(admin),
    (found) => isDeepStrictEqual(found, [1]),
  );
  assert.deepEqual(await counts(other), [0]);
  const { status, text } = await admin('DELETE', '/v2/computes/local?forget=true');
  assert.equal(status, 400);
  assert.match(text, /forget: expected yes, got \\"true\\"/);
});
