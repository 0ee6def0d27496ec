// What NATS lets a joined host do that neither runs NATS nor may be the controller.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { connectMember } from '../../src/cluster/connection.ts';
import { leasesOf, readLeases, renewLease } from '../../src/cluster/leases.ts';
import { eventually } from '../system/daemon.ts';
import { missing } from '../system/lab.ts';
import { threeMembers } from './hosts.ts';
import { first, Host } from './joined-host.ts';
import { Nats } from './nats.ts';
import { PUT, TurnHost } from './turn-host.ts';

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

test('answers that a joined host directs at the log, the key of the controller or calls of NATS change nothing there', {
  skip,
}, async (t) => {
  const { files, members } = await threeMembers(t);
  await new Nats(t, files.path('nats.conf')).start();
  const first = new TurnHost(t, 'a', files, members[0]!);
  await first.connect();
  const database = await first.leads();
  await database.run(PUT, 'before');
  await leasesOf(first.nats!, true);
  const b = await connectMember(files, members[1]!);
  t.after(() => b.close());
  await renewLease(await leasesOf(b, false), { ...about, node_types: [], id: randomUUID(), run: 'b', name: 'b' });
  const calls: [string, string][] = [
    ['$JS.API.INFO', ''],
    ['$JS.API.STREAM.INFO.KV_labwire-hosts', ''],
    ['$JS.API.STREAM.MSG.GET.KV_labwire-hosts', JSON.stringify({ last_by_subj: '$KV.labwire-hosts.b' })],
    ['$KV.labwire-hosts.b', JSON.stringify({ name: 'b' })],
    ['labwire.find.b', ''],
    ['labwire.leave.b', ''],
  ];
  const places = [
    'labwire.changes',
    'labwire.audit',
    '$KV.labwire-controller.controller',
    '$O.labwire-labs.M.ZGF0YWJhc2U=',
    ...['DELETE', 'PURGE'].map((call) => `$JS.API.STREAM.${call}.labwire-changes`),
    'labwire.hand-over.a',
    'labwire.registry.a',
    ...['frames', 'joined-frames'].map((frames) => `labwire.${frames}.a.c.5`),
    // Where only host c may send.
    ...['$KV.labwire-hosts.c', 'labwire.find.c', 'labwire.leave.c', 'labwire.up.c.x', 'labwire.ask.c.x'],
  ];
  const heard: string[] = [];
  first.nats!.subscribe('>', {
    callback: (_error, { subject }) => {
      if (places.includes(subject)) heard.push(subject);
    },
  });
  await first.nats!.flush();
  const own = async (): Promise<unknown> => {
    const { streams } = await jetstreamManager(first.nats!);
    const infos = await Promise.all(['labwire-changes', 'labwire-audit'].map((name) => streams.info(name)));
    return infos.map(({ state }) => [state.messages, state.last_seq]);
  };
  const before = await own();
  for (const reply of places) for (const [call, body] of calls) b.publish(call, body, { reply });
  // Calls that are answered come after those.
  await b.flush();
  await readLeases(b);
  await first.nats!.flush();
  assert.deepEqual(
    heard.filter((subject) => subject !== '$KV.labwire-controller.controller'),
    [],
  );
  assert.deepEqual(await own(), before);
  await database.run(PUT, 'after');
  assert.deepEqual([first.turns, first.succession.isCertain], [1, true]);
  const next = new TurnHost(t, 'c', files, members[0]!);
  await next.connect();
  await eventually('the copy of the other host', () => next.succession.isReady);
  await first.succession.handOver({ id: 'c', name: 'c', run: 'c' });
  assert.deepEqual(await (await next.leads()).all('SELECT id FROM document ORDER BY position'), [
    { id: 'before' },
    { id: 'after' },
  ]);
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
