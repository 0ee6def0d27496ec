// Threads for tasks: one that hangs is ended, and takes nobody else with it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaskThread, ThreadEnded } from '../../src/host/processes/task-thread.ts';

test('a task that never ends is given up, and the next one is done by another thread', async () => {
  const thread = new TaskThread<'loop' | 'answer', string>({
    name: 'endless',
    source: new URL('./endless-worker.ts', import.meta.url),
    resourceLimits: {},
    idleMs: 1_000,
    longestTaskMs: 2_000,
  });
  // On a busy machine the thread may need longer than that to start.
  const answer = (): Promise<string> =>
    thread.run('answer').catch((reason: unknown) => {
      if (reason instanceof ThreadEnded) return answer();
      throw reason;
    });
  assert.equal(await answer(), 'answer');
  const error: unknown = await thread.run('loop').catch((reason: unknown) => reason);
  assert.ok(error instanceof ThreadEnded && /more than 2000 ms/.test(error.message), String(error));
  assert.equal(await answer(), 'answer');
});
