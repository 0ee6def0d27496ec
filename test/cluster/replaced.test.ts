// The host of `init` is gone for good: another one that runs NATS admits and forgets hosts in its place.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectMember } from '../../src/cluster/connection.ts';
import { readLeases } from '../../src/cluster/leases.ts';
import { replacedBy, serveRegistry } from '../../src/cluster/registry-copies.ts';
import { ignore } from '../../src/failures.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { eventually } from '../system/daemon.ts';
import { missing } from '../system/lab.ts';
import { first, Host, refused } from './joined-host.ts';
import { KillableHost } from './killable-hosts.ts';
import { copied, Nats } from './nats.ts';

const skip = missing('nats-server', 'openssl');

test('a host that runs NATS replaces the first one when that is gone, and not before', {
  skip,
}, async (t) => {
  const { a, nats, line } = await first(t, { servers: '3' });
  await a.start();
  const [b, c, d] = ['b', 'c', 'd'].map((name) => new Host(t, name)) as [Host, Host, Host];
  const servers: Nats[] = [];
  for (const host of [b, c]) {
    const own = host === b ? line : (await a.run('token', undefined, { storage: true })).trim();
    await host.run('join', own, { address: `127.0.0.1:${await freeTcpPort()}` });
    servers.push(await new Nats(t, host.files.path('nats.conf')).start());
    await host.start();
  }
  await eventually('both', () => a.held.has('b') && a.held.has('c'));
  assert.match(await b.run('renew'), /new certificate/);
  await refused(b.run('token'), /not the controller.*"labwired cluster forget" of that host replaces it/);
  await refused(b.run('forget', 'a'), /a is there: its lease was renewed .* Stop its server first/);
  await copied(b.files, 1);
  // c has learned of itself, and so of the list.
  await eventually('the list on b', async () => (await b.files.hostNames()).join() === 'a,b,c');

  // Cut off from the others, b does not know whether they have a.
  await Promise.all([nats.stop(), servers[1]!.stop()]);
  await refused(b.run('forget', 'a'), /Whether a is gone cannot be known: most of the NATS servers must run/);
  const { registrar, term } = (await b.files.storage())!;
  assert.deepEqual([registrar, term, (await b.files.member()).controller], ['a', 0, false]);
  await servers[1]!.start();

  await a.cluster!.stop();
  a.cluster = undefined;
  // NATS may still elect its leaders when a leaves, so that the lease ends by itself.
  const nb = await connectMember(b.files, await b.files.member());
  t.after(() => nb.close());
  await eventually('the end of the lease of a', () =>
    readLeases(nb).then(
      (leases) => leases.every(({ name }) => name !== 'a'),
      () => false,
    ),
  );
  assert.match(await b.run('forget', 'a'), /This host admits hosts from now on[\s\S]*a is forgotten/);
  await b.cluster!.stop();
  await b.start();
  await eventually(
    'd joins through b',
    async () => d.run('join', (await b.run('token')).trim()).catch(String),
    (said) => /has joined/.test(said),
  );
  await eventually('the list on c', async () => (await c.files.hostNames()).join() === 'b,c,d');

  // Back, the first host neither admits others nor takes its list back. Its NATS reaches the others only after its server has begun.
  for (const { pid } of servers) process.kill(pid, 'SIGSTOP');
  await nats.start();
  a.said.length = 0;
  await a.start();
  await eventually(
    'the server of a to begin',
    () => a.said.join(),
    (said) => /most of the cluster's NATS servers must run/.test(said),
  );
  for (const { pid } of servers) process.kill(pid, 'SIGCONT');
  await eventually(
    'the refusal of a',
    () => a.said.join(),
    (said) => /b has replaced this host|does not know this host/.test(said),
  );
  assert.match(await a.run('leave'), /has left the cluster/);
  assert.deepEqual([await b.files.hostNames(), await c.files.hostNames()], Array(2).fill(['b', 'c', 'd']));
});

test('the first host learns at once that no other host has replaced it, though it listens itself', {
  skip,
}, async (t) => {
  const { a } = await first(t, { servers: '3' });
  const own = await connectMember(a.files, await a.files.member());
  t.after(() => own.close());
  serveRegistry(own, { files: a.files, host: 'a', log: { info: ignore, warn: ignore, error: ignore } });
  await own.flush();
  const begin = performance.now();
  assert.equal(await replacedBy(own, a.files, 'a'), undefined);
  // Questions to others have 5 s for their answers.
  assert.ok(performance.now() - begin < 3_000);
});

test('the first host begins again although its former connection is still open, as after a cut of its machine', {
  skip,
}, async (t) => {
  const former = new KillableHost(t, 'a');
  const { host } = former;
  await host.run('init', undefined, { name: 'lab', address: `127.0.0.1:${await freeTcpPort()}`, servers: '3' });
  await new Nats(t, host.files.path('nats.conf')).start();
  former.start();
  const waits = /most of the cluster's NATS servers must run/;
  await eventually(
    'the former server',
    () => former.told.map(({ reason }) => reason).join(),
    (said) => waits.test(said),
  );
  process.kill(former.pid, 'SIGSTOP');
  await host.start();
  await eventually(
    'the new one',
    () => host.said.join(),
    (said) => waits.test(said),
  );
  assert.match(host.said.join(), /does not answer, and may have replaced this one/);
});
