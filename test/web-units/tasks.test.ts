// The list of long work: what it counts, keeps and forgets; without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperationObject } from '../../src/api/objects.ts';
import { Tasks } from '../../src/web/model/transfer/tasks.ts';

const MIBIBYTE = 1024 * 1024;

/** A list with a clock that tests turn. */
class Clock {
  now = 1_000_000;
  readonly cancelled: string[] = [];
  readonly tasks = new Tasks({ now: () => this.now, cancel: async (id) => this.cancelled.push(id) });

  tell(more: Partial<OperationObject> = {}): void {
    this.tasks.apply(this.operation(more));
  }

  operation(more: Partial<OperationObject> = {}): OperationObject {
    return {
      operation_id: 'a',
      kind: 'duplicate',
      name: 'copy',
      project_id: 'p',
      done: 0,
      total: 100 * MIBIBYTE,
      unit: 'bytes',
      state: 'running',
      cancellable: true,
      message: '',
      ...more,
    };
  }
}

test('work of the server is shown when it takes its time, with its rate and what is left', () => {
  const clock = new Clock();
  clock.tell();
  assert.deepEqual(clock.tasks.list(), []);
  for (let second = 1; second <= 4; second++) {
    clock.now += 1_000;
    clock.tell({ done: second * 10 * MIBIBYTE });
  }
  const [task] = clock.tasks.list();
  assert.ok(task);
  assert.equal(task.rate, 10 * MIBIBYTE);
  assert.equal(task.left, 6);
  assert.equal(task.fraction, 0.4);
  task.actions.cancel?.();
  assert.deepEqual(clock.cancelled, ['a']);
  clock.tell({ state: 'cancelled', cancellable: false });
  assert.deepEqual([task.state, task.actions.cancel], ['cancelled', undefined]);
  clock.tasks.dismiss('a');
  assert.deepEqual(clock.tasks.list(), []);
});

test('what ended within a moment is not shown; what failed later stays with its reason', () => {
  const clock = new Clock();
  clock.tell();
  clock.now += 100;
  clock.tell({ state: 'done', done: 100 * MIBIBYTE });
  clock.tell({ operation_id: 'b' });
  clock.now += 5_000;
  clock.tell({ operation_id: 'b', state: 'failed', message: 'name: it is taken' });
  assert.deepEqual(
    clock.tasks.list().map(({ id, state, message }) => [id, state, message]),
    [['b', 'failed', 'name: it is taken']],
  );
});

test('a task of this page whose answer was lost follows the server, and has failed if the server does not know it', () => {
  const clock = new Clock();
  const followed = clock.tasks.add({ id: 'a', kind: 'duplicate', name: 'copy' });
  clock.tell({ state: 'done' });
  assert.equal(followed.state, 'running', 'its answer counts');
  followed.rest('waiting', 'lost');
  followed.lost = 'perhaps done';
  clock.tell({ done: 10 * MIBIBYTE });
  assert.deepEqual([followed.state, followed.message, followed.fraction], ['running', '', 0.1]);
  clock.tell({ state: 'done', done: 100 * MIBIBYTE });
  assert.equal(followed.state, 'done');
  assert.ok(clock.tasks.list().includes(followed), 'also a fast one, of which nothing else was said');

  const unknown = clock.tasks.add({ id: 'b', kind: 'snapshot', name: 'Before' });
  clock.tasks.read([]);
  assert.equal(unknown.state, 'running');
  unknown.lost = 'perhaps done';
  clock.tasks.read([]);
  assert.deepEqual([unknown.state, unknown.message], ['failed', 'perhaps done']);
});

test('the bar never goes back, though more is found to do or a cut loses bytes', () => {
  const clock = new Clock();
  clock.tell({ done: 80 * MIBIBYTE });
  const before = clock.tasks.list()[0]?.fraction ?? 0;
  clock.now += 1_000;
  clock.tell({ done: 80 * MIBIBYTE, total: 400 * MIBIBYTE });
  const [task] = clock.tasks.list();
  assert.ok(task);
  assert.equal(task.fraction, 0.8);
  assert.ok(before <= 0.8);
  task.done = 10 * MIBIBYTE;
  assert.equal(task.fraction, 0.8);
  // A rate across a cut would be less than nothing.
  clock.now += 1_000;
  task.done = 20 * MIBIBYTE;
  assert.equal(task.rate, 10 * MIBIBYTE);
});

test('after a pause of the connection the server’s list holds: what is not in it is over', () => {
  const clock = new Clock();
  clock.tell();
  clock.tell({ operation_id: 'b' });
  const upload = clock.tasks.add({ id: 'mine', kind: 'upload', name: 'disk.qcow2' });
  clock.now += 1_000;
  const [b] = [
    { operation_id: 'b', kind: 'open', name: 'lab', project_id: 'p', done: 3, total: 9, unit: 'nodes' as const },
  ];
  clock.tasks.read([{ ...b!, state: 'running', cancellable: true, message: '' }]);
  assert.deepEqual(
    clock.tasks.list().map(({ id }) => id),
    ['mine', 'b'],
  );
  upload.isSending = true;
  assert.ok(clock.tasks.isSending);
});

test('a list that was made before an operation ended, and comes after that, does not make it run again', () => {
  const clock = new Clock();
  const before = [clock.operation(), clock.operation({ operation_id: 'b', state: 'cancelling' })];
  clock.tell({ state: 'done' });
  clock.tell({ operation_id: 'b', state: 'cancelled' });
  clock.tasks.read(before);
  clock.now += 5_000;
  assert.deepEqual(clock.tasks.list(), []);
  // The same operation begins again, such as the next piece of an upload.
  clock.tell();
  clock.tasks.read(before);
  clock.now += 5_000;
  assert.deepEqual(
    clock.tasks.list().map(({ id, state }) => [id, state]),
    [['a', 'running']],
  );
});
