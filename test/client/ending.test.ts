// What is undone when a command is interrupted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ending } from '../../src/client/frame/ending.ts';

test('a step that is added while others are done is done, too', async () => {
  const ending = new Ending();
  const done: string[] = [];
  const stopping = Promise.withResolvers<void>();
  ending.defer(async () => {
    await stopping.promise;
    done.push('start A');
  });
  const ran = ending.run();
  // The command goes on until its next request.
  ending.defer(() => void done.push('start B'));
  stopping.resolve();
  await ran;
  assert.deepEqual(done, ['start A', 'start B']);
});
