// Notifications: who hears what, in which order, and what happens to a listener that does not listen.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ComputeEvents, ControllerEvents, ProjectEvents } from '../../src/api/events.ts';
import { EventBus } from '../../src/events/bus.ts';
import { objectFeed } from '../../src/events/feed.ts';
import type { Subscription } from '../../src/events/subscription.ts';
import { lineStream, socketStream } from '../../src/http/sockets/event-streams.ts';
import { socketPair } from '../../src/http/sockets/message-socket.ts';
import { eventually } from '../eventually.ts';

type Anything = Record<string, object>;

const options = {
  silence: 30,
  ping: () => ({ cpu_usage_percent: 1, memory_usage_percent: 2 }),
  text: (message: { line: string }) => message.line,
};

async function actions(subscription: Subscription): Promise<string[]> {
  const heard: string[] = [];
  for (;;) {
    const taken = await subscription.take(0);
    if (taken.kind !== 'message') return heard;
    heard.push(taken.message.action);
  }
}

test('a project listener hears its project and what names none; order is the order of emission', async () => {
  const bus = new EventBus<Anything>();
  bus.emit('before', {}, 'p1');
  const one = bus.subscribe('p1');
  const all = bus.subscribe();
  bus.emit('a', {}, 'p1');
  bus.emit('b', {}, 'p2');
  bus.emit('c', {});
  assert.deepEqual(await actions(one), ['a', 'c']);
  assert.deepEqual(await actions(all), ['a', 'b', 'c']);
  assert.equal(bus.listeners('p1'), 1);
  one.end();
  assert.equal(bus.listeners('p1'), 0);
});

test('a listener that takes nothing is ended and reported, the others go on', async () => {
  const bus = new EventBus<Anything>();
  const stalled = bus.subscribe('p');
  const good = bus.subscribe('p');
  for (let n = 0; n < 20_000; n += 1) {
    bus.emit('x', { n }, 'p');
    if (n % 100 === 0) await actions(good);
  }
  assert.equal(bus.listeners('p'), 1);
  const taken = await stalled.take(0);
  assert.ok(taken.kind === 'end' && /too slow/.test(taken.reason));
});

test('the history is bounded by its size, too, and forgets the payloads of a deleted lab', async () => {
  const bus = new EventBus<Anything>();
  const picture = 'x'.repeat(1024 * 1024);
  const kept = async (since: number, project: string): Promise<number | 'gap'> => {
    const listener = bus.subscribe(project, `${bus.epoch}-${since}`);
    const { length } = await actions(listener);
    listener.end();
    return listener.gap ? 'gap' : length;
  };
  const payloads: WeakRef<object>[] = [];
  const draw = (): void => {
    const payload = { svg: picture };
    payloads.push(new WeakRef(payload));
    bus.emit('drawing.created', payload, 'p');
  };
  for (let n = 0; n < 40; n += 1) draw();
  assert.equal(await kept(8, 'p'), 32);
  assert.equal(await kept(7, 'p'), 'gap');
  bus.emit('other', {}, 'q');
  bus.forget(({ projectId }) => projectId === 'p');
  assert.deepEqual([await kept(8, 'p'), await kept(8, 'q')], [0, 1]);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const left = (): number => {
    collect();
    return payloads.filter((payload) => payload.deref()).length;
  };
  await eventually('all payloads collected', left, (count) => count === 0, 5_000);
});

test('a listener that takes nothing is ended after some large events, too', async () => {
  const bus = new EventBus<Anything>();
  const stalled = bus.subscribe('p');
  for (let n = 0; n < 200; n += 1) bus.emit('x', { svg: 'x'.repeat(1024 * 1024) }, 'p');
  const taken = await stalled.take(0);
  assert.ok(taken.kind === 'end' && /too slow: 129 events/.test(taken.reason));
});

test('a line stream opens with a ping, gives one sorted JSON object a line, pings in silence, and ends with the reason', async () => {
  const bus = new EventBus<Anything>();
  let left = 0;
  const response = lineStream(bus.subscribe('p'), { ...options, left: () => (left += 1) });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const next = async (): Promise<string> => (await reader.read()).value ?? 'end';
  assert.equal(await next(), '{"action":"ping","event":{"cpu_usage_percent":1,"memory_usage_percent":2}}\n');
  bus.emit('node.created', { z: 'ü', a: 1 }, 'p');
  assert.equal(await next(), '{"action":"node.created","event":{"a":1,"z":"\\u00fc"}}\n');
  assert.match(await next(), /"ping"/);
  bus.close('over');
  assert.match(await next(), /"log.warning".*"over"/);
  assert.equal(await next(), 'end');
  assert.equal(left, 1);
});

test('a WebSocket stream sends the same lines and notices that its client has gone', async () => {
  const bus = new EventBus<Anything>();
  let left = 0;
  const [near, far] = socketPair();
  const heard: string[] = [];
  near.listen({ message: (data) => heard.push(String(data)) });
  socketStream(bus.subscribe('p'), { ...options, silence: 10_000, left: () => (left += 1) })(far);
  bus.emit('node.created', {}, 'p');
  await eventually('both lines', () => heard.length === 2);
  assert.deepEqual(
    heard.map((line) => JSON.parse(line).action),
    ['ping', 'node.created'],
  );
  near.close();
  await eventually('the end of the stream', () => left === 1);
  assert.equal(bus.listeners('p'), 0);
});

test('a WebSocket that is slow to read gets no ping, and so no number, ahead of the events that wait for it', async (t) => {
  const bus = new EventBus<Anything>();
  const [near, far] = socketPair();
  const heard: string[] = [];
  let unread = 1024 * 1024;
  t.after(() => near.close());
  near.listen({ message: (data) => heard.push(JSON.parse(String(data)).sequence), backlog: () => unread });
  socketStream(bus.subscribe('p', 'now'), options)(far);
  bus.emit('a', {}, 'p');
  bus.emit('b', {}, 'p');
  await sleep(4 * options.silence);
  unread = 0;
  await eventually('a ping in silence', () => heard.length > 3);
  assert.deepEqual(
    heard.slice(0, 4).map((sequence) => sequence.split('-')[1]),
    ['0', '1', '2', '2'],
  );
});

test('a listener that is given up as too slow has left, and a WebSocket is closed although its client does not read', async (t) => {
  const bus = new EventBus<Anything>();
  let left = 0;
  const counted = { ...options, silence: 10_000, left: () => (left += 1) };
  const [near, far] = socketPair();
  const heard: string[] = [];
  t.after(() => near.close());
  const closed = new Promise<[number, string]>((resolve) => {
    const close = (code: number, reason: string): void => resolve([code, reason]);
    near.listen({ message: (data) => heard.push(String(data)), close, backlog: () => 1024 * 1024 });
  });
  socketStream(bus.subscribe('p'), counted)(far);
  const response = lineStream(bus.subscribe('p'), counted);
  for (let n = 0; n <= 10_000; n += 1) bus.emit('x', {}, 'p');
  const [code, reason] = await Promise.race([closed, sleep(2_000, [0, 'still open'] as const)]);
  assert.equal(code, 1001);
  for (const text of [reason, heard.at(-1)]) assert.match(text ?? '', /too slow: 10000 events/);
  assert.deepEqual([left, bus.listeners('p')], [2, 0]);
  assert.match(await response.text(), /"ping".*\n.*too slow/);
  assert.equal(left, 2);
});

test('in process, what one end has not passed on counts as unsent at the other', () => {
  const [near, far] = socketPair();
  assert.equal(far.bufferedAmount, 0);
  near.listen({ backlog: () => 42 });
  assert.equal(far.bufferedAmount, 42);
});

test('what is reported is the payload as it was when it was emitted', async () => {
  const properties = { list: [1] };
  const payload = { name: 'A', properties };
  const frozen = new EventBus<Anything>();
  const one = frozen.subscribe();
  frozen.emit('a', payload);
  assert.throws(() => properties.list.push(2), TypeError);
  assert.throws(() => Object.assign(payload, { name: 'B' }), TypeError);

  const mutable = { name: 'A', list: [1] };
  const written = new EventBus<Anything>({ copies: true });
  const other = written.subscribe('p');
  written.emit('a', mutable, 'p');
  mutable.list.push(2);
  mutable.name = 'B';
  const [first, second] = [await one.take(0), await other.take(0)];
  assert.ok(first.kind === 'message' && second.kind === 'message');
  assert.equal(first.message.line, '{"action":"a","event":{"name":"A","properties":{"list":[1]}}}');
  assert.equal(second.message.line, '{"action":"a","event":{"list":[1],"name":"A"}}');
  assert.equal(second.message.scopedLine, '{"action":"a","event":{"list":[1],"name":"A"},"project_id":"p"}');
});

test('an action that no bus has, and a payload of another action, do not compile', () => {
  const computes = new EventBus<ComputeEvents>();
  const controller = new EventBus<ControllerEvents>();
  const project = new EventBus<ProjectEvents>();
  const node = { name: 'A', node_id: 'n', project_id: 'p', status: 'started' } as const;
  computes.emit('node.updated', node);
  // @ts-expect-error a misspelt action
  computes.emit('node.update', node);
  // @ts-expect-error an action of another bus
  computes.emit('link.created', node);
  // @ts-expect-error a payload of another action
  computes.emit('node.updated', { message: 'A has started.' });
  // @ts-expect-error a member of another type
  project.emit('log.error', { message: 5 });
  // @ts-expect-error a node as its compute describes it is not the node that clients see
  project.emit('node.updated', node, 'p');
  // @ts-expect-error progress of the controller names its compute, or null
  controller.tell('operation.ended', {} as ComputeEvents['operation.ended']);
  // @ts-expect-error a project's event for everybody
  controller.emit('snapshot.restored', {} as ProjectEvents['snapshot.restored']);
  // What computes of other makes say is passed on by its own verb, whatever it is.
  project.relay({ action: 'node.blinks', event: {}, project_id: 'p' });
  assert.deepEqual(
    [computes, controller, project].map(({ emitted }) => emitted),
    [4, 1, 3],
  );
});

test('a feed of objects: a ping first and in silence, events in order and before what follows them, and the end', async () => {
  const bus = new EventBus<Anything>({ copies: true });
  const feed = objectFeed(bus.subscribe(undefined, undefined, true), options);
  bus.emit('before', {});
  const heard: string[] = [];
  let closed = 0;
  feed.listen({
    message: ({ action, event, project_id: project }) => heard.push(`${action} ${project} ${JSON.stringify(event)}`),
    close: () => (closed += 1),
  });
  const work = async (): Promise<void> => {
    const payload = { n: 1, none: undefined };
    bus.emit('a', payload, 'p');
    payload.n = 2;
    bus.tell('b', {});
  };
  await work();
  const ping = `ping undefined ${JSON.stringify(options.ping())}`;
  assert.deepEqual(heard, [ping, 'before undefined {}', 'a p {"n":1}', 'b undefined {}']);
  await eventually('a ping', () => heard.length === 5);
  assert.equal(heard[4], ping);
  bus.emit('last', {});
  bus.close('it ends');
  await Promise.resolve();
  assert.deepEqual([heard.at(-1), closed], ['last undefined {}', 1]);
  const pings = heard.length;
  await new Promise((resolve) => setTimeout(resolve, 3 * options.silence));
  assert.deepEqual([heard.length, closed], [pings, 1]);
});
