// Two hosts that take turns at being the controller, over a real NATS on this host.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import type { Database } from '../../src/store/database.ts';
import { fill, scratchFileSystem } from '../store/scratch.ts';
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

test('hosts whose disks are full leave the role to one that can keep changes', async (t) => {
  const { files, members } = await threeMembers(t);
  await new Nats(t, files.path('nats.conf')).start();
  const disks = [await scratchFileSystem(t, '8M'), await scratchFileSystem(t, '8M'), undefined];
  if (disks.slice(0, 2).includes(undefined)) return;
  const [a, b, c] = ['a', 'b', 'c'].map((id, at) => new TurnHost(t, id, files, members[0]!, disks[at])) as [
    TurnHost,
    TurnHost,
    TurnHost,
  ];
  await a.connect();
  const first = await a.leads();
  for (const host of [b, c]) {
    await host.connect();
    await eventually('a standby host', () => host.succession.isReady);
  }
  fill(join(disks[1]!, 'full'));
  let changes = 0;
  /** Larger than the space that a database has left. */
  const change = async (): Promise<unknown> => first.run(PUT.replace('{}', 'x'.repeat(100_000)), `${changes++}`);
  await eventually('b to know that it cannot follow', async () => {
    await change();
    return !b.succession.isReady;
  });
  await a.nats?.close();
  const second = await c.leads();
  assert.deepEqual([b.turns, (await second.all('SELECT id FROM document')).length], [0, changes]);

  // The disk of the controller itself.
  await a.connect();
  await eventually('a', () => a.succession.isReady);
  await c.succession.handOver({ id: 'a', name: 'a', run: 'a' });
  const third = await a.leads(2);
  await eventually('c', () => c.succession.isReady);
  fill(join(disks[0]!, 'full'));
  await assert.rejects(async () => {
    for (;;) await third.run(PUT.replace('{}', 'x'.repeat(100_000)), `${changes++}`);
  });
  const last = await c.leads(2);
  // The change that filled the disk is in the log: its client was told that it may be made.
  assert.ok((await last.all('SELECT id FROM document')).length >= changes - 1);
  assert.equal(b.turns, 0);
});

test('a log that several controllers have filled is shortened, and takes changes again', async (t) => {
  const { files, members } = await threeMembers(t);
  await new Nats(t, files.path('nats.conf')).start();
  const a = new TurnHost(t, 'a', files, members[0]!);
  await a.connect();
  const put = async (database: Database, id: string, bytes = 20_000): Promise<unknown> =>
    database.run(PUT.replace('{}', 'x'.repeat(bytes)), id);
  const first = await a.leads();
  await put(first, 'one');
  const { streams } = await jetstreamManager(a.nats!);
  const space = 256 * 1024;
  await streams.update('labwire-changes', { max_bytes: space });
  // Before the next look, and without room for the first message of a controller.
  for (const bytes of [20_000, 200, 2])
    await assert.rejects(
      async () => {
        for (let change = 0; ; change += 1) await put(first, `${bytes} ${change}`, bytes);
      },
      { code: 'unavailable', message: /maximum bytes/ },
    );
  await a.nats!.close();
  await a.connect();
  await put(await a.leads(2), 'two');
  const { state } = await (await jetstreamManager(a.nats!)).streams.info('labwire-changes');
  assert.ok(state.bytes < space / 4, `${state.bytes} bytes`);
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
