// Two hosts that take turns at being the controller, over a real NATS on this host.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../system/daemon.ts';
import { threeMembers } from './hosts.ts';
import { Nats } from './nats.ts';
import { PUT, TurnHost } from './turn-host.ts';

test('one host is the controller, goes on with another connection, and is followed by the other one with all changes', async (t) => {
  const { files, members } = await threeMembers(t);
  await new Nats(t, files.path('nats.conf')).start();
  const [a, b] = ['a', 'b'].map((id) => new TurnHost(t, id, files, members[0]!)) as [TurnHost, TurnHost];
  await a.connect();
  const first = await a.leads();
  await first.run(PUT, 'one');
  await b.connect();
  await eventually(
    'b to know the controller',
    () => b.succession.controller?.id,
    (id) => id === 'a',
  );

  // The client of NATS gives up for good, for example after a refusal.
  await a.nats?.close();
  await assert.rejects(first.run(PUT, 'refused'), { code: 'unavailable' });
  await a.connect();
  const again = await a.leads(2);
  await again.run(PUT, 'two');
  assert.equal(b.turns, 0);
  assert.ok(a.succession.isCertain && !b.succession.isCertain);

  await a.nats?.close();
  const other = await b.leads();
  assert.deepEqual(await other.all('SELECT id FROM document ORDER BY position'), [{ id: 'one' }, { id: 'two' }]);
  await other.run(PUT, 'three');
  assert.ok(!a.succession.isCertain);
  await a.connect();
  await eventually(
    'a to know the controller',
    () => a.succession.controller?.id,
    (id) => id === 'b' && a.database === undefined,
  );
  assert.deepEqual([a.turns, b.turns], [2, 1]);
});

test('a host that copies files for longer than between two looks becomes the controller at once', async (t) => {
  const { files, members } = await threeMembers(t);
  await new Nats(t, files.path('nats.conf')).start();
  const [a, b] = ['a', 'b'].map((id) => new TurnHost(t, id, files, members[0]!)) as [TurnHost, TurnHost];
  let copies = 0;
  const ended = AbortSignal.timeout(40_000);
  b.copy = (signal) => {
    copies += 1;
    return once(AbortSignal.any([signal, ended]), 'abort');
  };
  await a.connect();
  await a.leads();
  await b.connect();
  await eventually('a look', () => copies > 0);
  await sleep(11_000);
  await a.nats?.close();
  await b.leads();
  assert.equal(copies, 1);
});

test('a host that cannot begin as the controller leaves it to another one, and one that cannot end in order gives it away', async (t) => {
  const { files, members } = await threeMembers(t);
  await new Nats(t, files.path('nats.conf')).start();
  const [a, b, c] = ['a', 'b', 'c'].map((id) => new TurnHost(t, id, files, members[0]!)) as [
    TurnHost,
    TurnHost,
    TurnHost,
  ];
  await a.connect();
  await (await a.leads()).run(PUT, 'one');
  await b.connect();
  await eventually('b', () => b.succession.isReady);
  a.isBroken = true;
  await a.succession.handOver({ id: 'b', name: 'b', run: 'b' });
  await b.leads();
  // a takes the key first, as it alone is ready, and c when a has given it back.
  await eventually('a', () => a.succession.isReady);
  await b.nats?.close();
  await eventually(
    'a to try',
    () => a.succession.controller?.id,
    (id) => id === 'a',
  );
  await c.connect();
  assert.deepEqual(await (await c.leads()).all('SELECT id FROM document'), [{ id: 'one' }]);
  assert.equal(a.turns, 1);
});
