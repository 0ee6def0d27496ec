// NATS on a disk that becomes slow: strace delays each call by which the real server writes to its store, or waits for the disk.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { messageOf } from '../../src/failures.ts';
import type { Cleanup } from '../cleanup.ts';
import { eventually } from '../system/daemon.ts';
import { missing } from '../system/lab.ts';
import { two } from './joined-host.ts';
import { ready } from './nats.ts';
import { PUT, TurnHost } from './turn-host.ts';

const CHANGES = 8;
/** Of files alone: NATS writes to connections by other calls. */
const CALLS = 'pwrite64,fsync,fdatasync';

/** Delays the calls of a process until the returned function is called. */
async function slowed(t: Cleanup, pid: number, milliseconds: number): Promise<() => Promise<void>> {
  const inject = `inject=${CALLS}:delay_exit=${milliseconds * 1_000}`;
  const words = ['-f', '-o', '/dev/null', '-e', `trace=${CALLS}`, '-e', inject, '-p', `${pid}`];
  const strace = spawn('strace', words, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(strace, 'exit');
  t.after(() => strace.kill('SIGKILL'));
  await ready(strace, 'strace', ' attached');
  return async () => {
    strace.kill('SIGTERM');
    await ended;
  };
}

/** `isBorne`: no change is refused, and no lease ends. */
for (const { delay, isBorne } of [
  { delay: 250, isBorne: true },
  { delay: 3_000, isBorne: false },
]) {
  test(`a disk on which each write takes ${delay} ms loses no acknowledged change`, {
    skip: missing('strace', 'nats-server'),
  }, async (t) => {
    const { a, nats } = await two(t);
    const controller = new TurnHost(t, 'a', a.files, await a.files.member());
    await controller.connect();
    await controller.leads();
    const healed = await slowed(t, nats.pid, delay);
    const acknowledged: string[] = [];
    const refused: string[] = [];
    for (let round = 0; round < CHANGES; round += 1) {
      const id = `change ${round}`;
      const change = controller.database?.run(PUT, id) ?? Promise.reject(new Error('no controller'));
      await change.then(
        () => acknowledged.push(id),
        (error: unknown) => refused.push(messageOf(error)),
      );
    }
    await healed();
    // As a server does whose session with NATS has failed.
    if (!controller.database) {
      await controller.nats?.close();
      await controller.connect();
    }
    t.diagnostic(`${acknowledged.length} acknowledged; ${refused}; ${a.said.slice(3)}`);
    for (const reason of refused)
      assert.match(
        reason,
        /cluster cannot keep it|has not confirmed the change|is the controller no more|no controller/,
      );
    const rows = await (await controller.leads()).all<{ id: string }>('SELECT id FROM document');
    const kept = new Set(rows.map(({ id }) => id));
    assert.deepEqual(
      acknowledged.filter((id) => !kept.has(id)),
      [],
    );
    const ends = (): number => a.said.filter((text) => text.includes('the lease of a host has ended')).length;
    if (isBorne) assert.deepEqual([acknowledged.length, controller.turns, ends()], [CHANGES, 1, 0]);
    else
      await eventually(
        'the lease of b, if it had ended',
        () => a.said.filter((text) => text.includes('a host holds its lease')).length,
        (begins) => begins === ends() + 1,
      );
  });
}
