// Three hosts that run NATS, and one that only connects: any one of the three may die.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { LEASE_MS } from '../../src/api/leases.ts';
import { connectMember } from '../../src/cluster/connection.ts';
import { isJoined } from '../../src/cluster/nats-users.ts';
import { framesTo, subjects } from '../../src/cluster/subjects.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { eventually } from '../system/daemon.ts';
import { first, Host, refused } from './joined-host.ts';
import { copied, Nats } from './nats.ts';

/** The line that a command prints for the next host. */
const lineOf = async (a: Host): Promise<string> => (await a.run('token', undefined, { storage: true })).trim();

/** Between all of these hosts, each at another one of the NATS servers of `b` and `c`. */
async function framesArriveOnce(t: TestContext, hosts: readonly Host[], a: Host): Promise<void> {
  // Copies of the registry on other hosts are some seconds old.
  const servers = (await a.files.hosts()).flatMap(({ name, server }) => (name !== 'a' && server) || []);
  const ends = await Promise.all(
    hosts.map(async ({ name, files }, index) => {
      const member = await files.member();
      const nats = await connectMember(files, { ...member, servers: [servers[index % 2]!] });
      t.after(() => nats.close());
      const arrived: string[] = [];
      const { framesHere, framesOfJoined } = subjects(name);
      for (const subject of [framesHere, framesOfJoined])
        nats.subscribe(`${subject}.*.*`, { callback: (_error, message) => void arrived.push(message.string()) });
      await nats.flush();
      return { name, nats, arrived, joined: isJoined(member) };
    }),
  );
  const send = async (word: string): Promise<void> => {
    for (const { name, nats, joined } of ends) {
      for (const to of ends)
        if (to.name !== name) nats.publish(framesTo({ host: to.name, port: 5 }, name, joined), `${word} ${name}`);
      await nats.flush();
    }
  };
  const others = ends.length - 1;
  // Other servers learn of a subscription a moment later.
  await eventually('the subscriptions', async () => {
    await send('probe');
    return ends.every(({ arrived }) => new Set(arrived).size === others);
  });
  await send('frame');
  const frames = ({ arrived }: { arrived: string[] }): string[] => arrived.filter((word) => word.startsWith('frame'));
  await eventually('all frames', () => ends.every((end) => frames(end).length >= others));
  await sleep(500);
  for (const end of ends)
    assert.deepEqual(
      frames(end).sort(),
      ends.filter((other) => other !== end).map(({ name }) => `frame ${name}`),
      end.name,
    );
}

test('three hosts run NATS: leases, streams and a new host go on when one of them dies', async (t) => {
  const { a, nats, line } = await first(t, { servers: '3' });
  await a.start();
  const [b, c, d] = ['b', 'c', 'd'].map((name) => new Host(t, name)) as [Host, Host, Host];
  const servers = [nats];
  for (const [host, own] of [
    [b, line],
    [c, await lineOf(a)],
  ] as const) {
    const out = await host.run('join', own, { address: `127.0.0.1:${await freeTcpPort()}` });
    assert.match(out, /systemctl enable --now labwire-nats/);
    servers.push(await new Nats(t, host.files.path('nats.conf')).start());
    await host.start((stream) => void stream.pipe(stream));
  }
  await eventually('both', () => a.held.has('b') && a.held.has('c'));
  await refused(a.run('token', undefined, { storage: true }), /all its NATS servers \(3 of 3\)/);
  const plain = (await a.run('token')).trim();
  await refused(d.run('join', `${plain}.storage`, { address: '127.0.0.1:1' }), /line was changed/);
  await d.run('join', plain);
  await d.start((stream) => void stream.pipe(stream));
  await eventually('d', () => a.held.has('d'));
  await copied(b.files, 1);
  const all = /^a .*yes$[\s\S]*^b .*yes$[\s\S]*^c .*yes$[\s\S]*^d .*no$/m;
  await eventually(
    'the status',
    () => d.run('status').catch(String),
    (said) => all.test(said),
  );
  await eventually('the list of servers on d', async () => (await d.files.member()).servers.length === 3);

  // Without a word, as when its machine loses power: connections to it stay open.
  process.kill(servers[0]!.pid, 'SIGSTOP');
  const echo = async (host: string): Promise<string> => {
    try {
      const stream = a.cluster!.dial(host);
      stream.write('over');
      const text = String((await once(stream, 'data', { signal: AbortSignal.timeout(2_000) }))[0]);
      stream.destroy();
      return text;
    } catch (error) {
      return String(error);
    }
  };
  for (const host of ['b', 'c', 'd'])
    await eventually(
      `a stream to ${host}`,
      () => echo(host),
      (text) => text === 'over',
    );
  assert.deepEqual(a.absent, [], 'no host counts as gone');
  await servers[0]!.stop();
  // Hosts come and go while one NATS is away, which learns of it later.
  const e = new Host(t, 'e');
  const served = (await a.run('token')).trim().replace(/\/\/[^#]+/, `//${(await b.files.member()).server}`);
  await eventually(
    'e joins through b',
    () => e.run('join', served).catch(String),
    (said) => /has joined/.test(said),
  );
  await e.start();
  await eventually('e', () => a.held.has('e'));
  await framesArriveOnce(t, [b, d, e], a);
  await servers[0]!.start();
  await a.run('forget', 'e');
  await eventually(
    'e is refused everywhere',
    () => e.run('status').catch(String),
    (said) => /does not know this host/.test(said),
  );

  // Without a majority nobody can renew a lease: nothing counts as lost, and all goes on by itself.
  await Promise.all([servers[1]!.stop(), servers[2]!.stop()]);
  await refused(a.run('status'), /leases of the cluster cannot be read .*most of the NATS servers/);
  await sleep(LEASE_MS + 1_000);
  assert.deepEqual(
    a.absent.filter((host) => host !== 'e'),
    [],
  );
  await Promise.all([servers[1]!.start(), servers[2]!.start()]);
  a.held.clear();
  await eventually('b and d again', () => a.held.has('b') && a.held.has('d'));
  await eventually(
    'a stream to b again',
    () => echo('b'),
    (text) => text === 'over',
  );

  // A NATS that is gone for good no longer counts for the majority.
  await servers[2]!.stop();
  await c.cluster?.stop();
  c.cluster = undefined;
  assert.match(await a.run('forget', 'c'), /c is forgotten/);
  await eventually('a without both', () => a.forgotten.includes('c') && a.forgotten.includes('e'));
  assert.match(await lineOf(a), /\.storage$/);
});

test('a first host that cannot read its list of hosts says so, and holds up no lease', async (t) => {
  const { a, line } = await first(t, { servers: '3' });
  await a.start();
  const b = new Host(t, 'b');
  await b.run('join', line, { address: `127.0.0.1:${await freeTcpPort()}` });
  await new Nats(t, b.files.path('nats.conf')).start();
  await b.start();
  await eventually('b', () => a.held.has('b'));
  await rename(a.files.authority.key, `${a.files.authority.key}.away`);
  const reports = (): number => a.said.filter((said) => /get no copy.*ca-key/.test(said)).length;
  await eventually('the reason', () => reports() > 0);
  const before = b.renewals.length;
  await sleep(3 * LEASE_MS);
  const times = b.renewals.slice(before - 1);
  const longest = Math.max(...times.slice(1).map((time, index) => time - times[index]!));
  // A renewal that waits for the copy comes after the time of an answer, 5 s, as well.
  assert.ok(longest < LEASE_MS, `${longest} ms`);
  assert.equal(reports(), 1);
});

test('a connection to a NATS that is gone without a word ends, however much is left to send', async (t) => {
  const { a, nats } = await first(t);
  const connection = await connectMember(a.files, await a.files.member());
  t.after(() => connection.close());
  process.kill(nats.pid, 'SIGSTOP');
  for (let count = 0; count < 32; count += 1) connection.publish('labwire.x', new Uint8Array(1_000_000));
  const signal = AbortSignal.timeout(20_000);
  await Promise.race([connection.closed(), once(signal, 'abort')]);
  assert.ok(!signal.aborted);
});
