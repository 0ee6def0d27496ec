// NATS reads its configuration again when a host is forgotten: it keeps what it knows of the subscriptions at the other servers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '@nats-io/transport-node';
import { connectMember } from '../../src/cluster/connection.ts';
import { eventually } from '../eventually.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { missing } from '../system/lab.ts';
import { first, Host } from './joined-host.ts';
import { Nats } from './nats.ts';

const RELOADS = 100;
/** Milliseconds of new subscriptions around each of them. */
const AROUND_MS = 12;

test('a NATS that reads its configuration loses no subscription of another server', {
  skip: missing('nats-server', 'openssl'),
}, async (t) => {
  const { a, nats, line } = await first(t, { servers: '3' });
  await a.start();
  const b = new Host(t, 'b');
  await b.run('join', line, { address: `127.0.0.1:${await freeTcpPort()}` });
  await new Nats(t, b.files.path('nats.conf')).start();
  const connected = async (host: Host) => {
    const member = await host.files.member();
    const connection = await connectMember(host.files, { ...member, servers: [member.server!] });
    t.after(() => connection.close());
    return connection;
  };
  const [here, there] = [await connected(a), await connected(b)];
  const subjects: string[] = [];
  for (let reload = 0; reload < RELOADS; reload += 1) {
    const end = performance.now() + AROUND_MS;
    setTimeout(() => process.kill(nats.pid, 'SIGHUP'), 2);
    while (performance.now() < end) {
      for (let more = 0; more < 20; more += 1) {
        subjects.push(`labwire.test.${subjects.length}`);
        there.subscribe(subjects.at(-1)!, { callback: (_error, message) => void message.respond() });
      }
      await there.flush();
    }
  }
  // The other server learns of a subscription a moment later, of a lost one never.
  const ask = async (subject: string): Promise<string[]> => {
    try {
      await here.request(subject, '', { timeout: 20_000 });
      return [];
    } catch (error) {
      assert.ok(error instanceof RequestError && error.isNoResponders(), String(error));
      return [subject];
    }
  };
  let left = subjects;
  await eventually(
    'an answer by each subscription',
    async () => {
      const without: string[] = [];
      for (let from = 0; from < left.length; from += 500)
        without.push(...(await Promise.all(left.slice(from, from + 500).map(ask))).flat());
      left = without;
      return left;
    },
    ({ length }) => length === 0,
    20_000,
  );
});
