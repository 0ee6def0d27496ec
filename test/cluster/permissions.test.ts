// What NATS lets a joined host do that neither runs NATS nor may be the controller.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { headers } from '@nats-io/transport-node';
import { connectMember } from '../../src/cluster/connection.ts';
import { leasesOf, readLeases, renewLease } from '../../src/cluster/leases.ts';
import { eventually } from '../system/daemon.ts';
import { missing } from '../system/lab.ts';
import { threeMembers } from './hosts.ts';
import { first, Host } from './joined-host.ts';
import { Nats } from './nats.ts';

const about = { version: '1', address: '192.0.2.1', port: 3080, free_memory_bytes: 1, cores: 1, kvm: false };

const skip = missing('nats-server', 'openssl');

test('a host reads all leases, and cannot let NATS send what it has written to another host or into the log', {
  skip,
}, async (t) => {
  const { files, members } = await threeMembers(t);
  await new Nats(t, files.path('nats.conf')).start();
  const [a, b] = (await Promise.all(members.slice(0, 2).map((member) => connectMember(files, member)))) as [
    Awaited<ReturnType<typeof connectMember>>,
    Awaited<ReturnType<typeof connectMember>>,
  ];
  t.after(() => Promise.all([a.close(), b.close()]));
  await leasesOf(a, true);
  const node_types = ['written by b'];
  await renewLease(await leasesOf(b, false), { ...about, node_types, id: randomUUID(), run: 'b', name: 'b' });
  assert.deepEqual(
    (await readLeases(b)).map(({ name }) => name),
    ['b'],
  );
  const rollup = headers();
  rollup.set('Nats-Rollup', 'all');
  await renewLease(await leasesOf(a, true), { ...about, node_types, id: randomUUID(), run: 'a', name: 'a' });
  b.publish('$KV.labwire-hosts.b', '', { headers: rollup });
  await b.flush();
  assert.deepEqual(
    (await readLeases(b)).map(({ name }) => name),
    ['a', 'b'],
  );
  const arrived: string[] = [];
  a.subscribe('labwire.>', { callback: (_error, message) => void arrived.push(message.string()) });
  await a.flush();
  const [stream, subject] = ['KV_labwire-hosts', '$KV.labwire-hosts.b'];
  const config = { name: 'x', deliver_subject: 'labwire.down.c.x', deliver_policy: 'all', ack_policy: 'none' };
  const calls: [string, object?][] = [
    [`DIRECT.GET.${stream}.${subject}`],
    [`DIRECT.GET.${stream}`, { last_by_subj: subject }],
    [`CONSUMER.CREATE.${stream}`, { stream_name: stream, config: { ...config, name: undefined } }],
    [`CONSUMER.CREATE.${stream}.x`, { stream_name: stream, config }],
    [`CONSUMER.DURABLE.CREATE.${stream}.x`, { stream_name: stream, config: { ...config, durable_name: 'x' } }],
  ];
  for (const reply of ['labwire.down.c.x', 'labwire.changes'])
    for (const [call, body] of calls) b.publish(`$JS.API.${call}`, body && JSON.stringify(body), { reply });
  // A call that is allowed comes after those that are not.
  await b.request('$JS.API.INFO');
  await readLeases(b);
  assert.deepEqual(arrived, []);
});

test('a host that takes the name or the id of another one in its lease takes no part', { skip }, async (t) => {
  const { a, line } = await first(t);
  await a.takePart();
  const [b, c] = [new Host(t, 'b'), new Host(t, 'c')];
  await b.run('join', line);
  await c.run('join', await a.line());
  for (const host of [b, c]) await host.start();
  await eventually('both', () => a.held.has('b') && a.held.has('c'));
  await b.cluster!.stop();
  b.cluster = undefined;
  const known = new Map(a.leases);
  const nats = await connectMember(b.files, await b.files.member());
  t.after(() => nats.close());
  const [ofFirst, own, ofThird] = await Promise.all([a, b, c].map(async ({ files }) => (await files.member()).id));
  const write = (said: object): void =>
    nats.publish('$KV.labwire-hosts.b', JSON.stringify({ ...about, node_types: [], run: 'x', ...said }));
  for (const said of [
    { name: 'c', id: ofThird },
    { name: 'c', id: randomUUID() },
    { name: 'b', id: 'local' },
    { name: 'a', id: ofFirst },
    { name: 'b', id: ofFirst },
    { name: 'b', id: ofThird },
  ]) {
    write(said);
    await sleep(100); // NATS keeps the last one only
  }
  await eventually(
    'the refusal',
    () => a.said.join(),
    (said) => /a host says that it is another one.*"b"/.test(said),
  );
  write({ name: 'b', id: own, address: 'after' });
  await eventually('the last lease', () => a.leases.get('b') === `${own} after`);
  assert.deepEqual(a.leases, known.set('b', `${own} after`));
});
