// A server that cannot start answers nobody: clients and health checks never take it for one that can.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Daemon, ownDaemon, startDaemon } from '../system/daemon.ts';
import { rig } from './rig.ts';

/** How the start was refused, and how often somebody could connect meanwhile. */
async function refusalOf(
  daemon: Daemon,
): Promise<{ code: number | null; said: string; tried: number; connected: number }> {
  let over = false;
  let tried = 0;
  let connected = 0;
  const knocking = (async () => {
    while (!over) {
      tried += 1;
      const socket = connect(daemon.port, '127.0.0.1');
      await once(socket, 'connect').then(
        () => (connected += 1),
        () => {},
      );
      socket.destroy();
    }
  })();
  const { code, said } = await daemon.refusal();
  over = true;
  await knocking;
  return { code, said, tried, connected };
}

rig(
  {
    name: 'refused-starts',
    promise: 'a server whose start fails never listens, and one that listens serves',
  },
  async (t) => {
    const first = await startDaemon(t);
    // It said that it is ready: all routes answer.
    assert.deepEqual(await first.get('/v2/projects'), []);
    const second = ownDaemon(t, { flags: ['--state', first.state] });
    await second.choosePort();
    const refused = await refusalOf(second);
    assert.deepEqual([refused.code, refused.connected], [1, 0], refused.said);
    assert.match(refused.said, new RegExp(`is in use by another labwired \\(pid ${first.pid}\\)`));

    await first.end('SIGTERM');
    const database = join(first.state, 'labwire.db');
    const bytes = readFileSync(database);
    writeFileSync(database, bytes.fill(0xff, 0, 4096));
    const damaged = await refusalOf(first);
    assert.deepEqual([damaged.code, damaged.connected], [1, 0], damaged.said);
    assert.match(damaged.said, /labwire\.db is damaged .* "labwired recover"/);
    return [
      { what: 'failed starts: a state directory in use, a damaged database', value: 2 },
      { what: 'attempts to connect meanwhile', value: refused.tried + damaged.tried },
      { what: 'of these answered', value: refused.connected + damaged.connected },
    ];
  },
);
