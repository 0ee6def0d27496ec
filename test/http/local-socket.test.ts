// The place of the local socket: several servers that start at once where a killed one has left its socket.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, renameSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { isReachable, listenAt } from '../../src/http/access/local-socket.ts';
import { scratchDirectory } from '../store/scratch.ts';

async function end(server: Server): Promise<void> {
  const over = once(server, 'close');
  server.close();
  await over;
}

/** A socket at which nobody listens. */
async function leave(path: string): Promise<void> {
  const server = createServer().listen(`${path}.old`);
  await once(server, 'listening');
  renameSync(`${path}.old`, path);
  await end(server);
}

test('of servers that find one stale socket at once, one has it, and it goes with that one', async (t) => {
  const directory = await scratchDirectory(t);
  const path = join(directory, 'labwired.sock');
  for (let round = 0; round < 50; round += 1) {
    await leave(path);
    assert.equal(await isReachable(path), false);
    const servers = [createServer(), createServer()];
    const results = await Promise.allSettled(servers.map((server) => listenAt(server, path)));
    const winners = servers.filter((_, index) => results[index]?.status === 'fulfilled');
    const refusals = results.flatMap((one) => (one.status === 'rejected' ? [String(one.reason.message)] : []));
    assert.equal(winners.length, 1, `round ${round}: ${refusals.join(' / ')}`);
    assert.match(refusals[0]!, /another program listens at/);
    assert.equal(await isReachable(path), true, `round ${round}`);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    await end(winners[0]!);
    assert.equal(existsSync(path), false);
    assert.deepEqual(readdirSync(directory), [], 'nothing else is left');
  }
});

test('a socket that another server has put in its place is left alone', async (t) => {
  const path = join(await scratchDirectory(t), 'labwired.sock');
  const [first, second] = [createServer(), createServer()];
  await listenAt(first, path);
  renameSync(path, `${path}.away`);
  await listenAt(second, path);
  await end(first);
  assert.equal(await isReachable(path), true);
  await end(second);
});
