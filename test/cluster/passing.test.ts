// Hosts that pass their clients on to the controller, and what NATS lets none of them do, over a real NATS on this host.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { connectMember } from '../../src/cluster/connection.ts';
import { BUCKET, subjects } from '../../src/cluster/subjects.ts';
import { eventually } from '../system/daemon.ts';
import { missing } from '../system/lab.ts';
import { first, Host } from './joined-host.ts';

const skip = missing('nats-server', 'openssl');

test('a host reaches the controller for its clients under its own name only, while one answers', {
  skip,
}, async (t) => {
  const { a, line } = await first(t);
  await a.start((stream) => void stream.pipe(stream));
  const b = new Host(t, 'b');
  await eventually('the controller', () => a.said.join().includes('takes part'));
  await b.run('join', line);
  await b.start();
  await eventually('b', () => b.said.join().includes('takes part'));
  assert.deepEqual([a.cluster!.isController, b.cluster!.isController], [true, false]);
  const stream = b.cluster!.dialController();
  stream.write('hello');
  assert.equal(String((await once(stream, 'data'))[0]), 'hello');
  assert.deepEqual(a.passed, ['b']);

  const nats = await connectMember(b.files, await b.files.member());
  t.after(() => nats.close());
  const violations: string[] = [];
  void (async () => {
    for await (const status of nats.status()) if (status.type === 'error') violations.push(status.error.message);
  })();
  const begins = Buffer.from([1, 0, 0, 0, 0, 120]);
  nats.publish(`${subjects('c').ask}.1`, begins);
  nats.publish(subjects('c').find);
  nats.subscribe(`${subjects('c').answer}.1`);
  await eventually('the refusals', () => violations.length === 3);
  // Meant for a controller before or after this one.
  nats.publish(`${subjects('b').ask}.${crypto.randomUUID()}-1`, begins);
  // NATS does not look where answers go. The controller would write them where b may not.
  const bucket = await new Kvm(jetstream(nats)).open(BUCKET);
  const lease = async (): Promise<unknown> => (await bucket.get('a'))?.json();
  const before = (await lease()) as { id: string };
  nats.publish(subjects('b').find, '', { reply: `$KV.${BUCKET}.a` });
  await nats.request(subjects('b').find, '');
  assert.equal(((await lease()) as { id: string }).id, before.id);
  assert.deepEqual(a.passed, ['b']);

  await a.cluster!.stop();
  const begin = performance.now();
  await eventually('the end of the stream', () => stream.destroyed);
  // Long before its answers are missing.
  assert.ok(performance.now() - begin < 3_000);
  await eventually('no controller', () => {
    try {
      b.cluster!.dialController().destroy();
      return false;
    } catch (error) {
      return /no host is the controller now/.test(String(error));
    }
  });
});
