import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { FabricPort, MemoryDevice } from '../../src/fabric/fabric.ts';
import type { SwitchPortSettings } from '../../src/fabric/model.ts';
import { BROADCAST, frame, mac } from './frames.ts';
import { devicePort, ends, type Peer, quiet, settled, startFabric, until } from './peers.ts';

type Ports = Omit<SwitchPortSettings, 'number' | 'etherType'>[];

interface At {
  peer: Peer;
  port: FabricPort;
  send(...frames: Buffer[]): Promise<void>;
}

function settings(ports: (Ports[number] & { etherType?: number })[], ageing = 300_000) {
  return { ports: ports.map((port, number) => ({ etherType: 0x8100, ...port, number })), ageing };
}

/** A switch, and a peer at each of its ports. */
async function switchWith(
  t: TestContext,
  ports: (Ports[number] & { etherType?: number })[],
  ageing?: number,
): Promise<{ device: MemoryDevice<'ethernet-switch'>; at: At[]; told: object[] }> {
  const fabric = await startFabric(t);
  const told: object[] = [];
  const device = await fabric.createDevice('ethernet-switch', settings(ports, ageing), (message) => told.push(message));
  const at: At[] = [];
  for (const number of ports.keys()) {
    const { peer, port, localPort } = await devicePort(t, fabric, device, number);
    at.push({ peer, port, send: (...frames) => peer.send(localPort, ...frames) });
  }
  return { device, at, told };
}

const access = (vlan: number) => ({ type: 'access', vlan }) as const;
const trunk = (vlan: number) => ({ type: 'dot1q', vlan }) as const;
const tunnel = (vlan: number, etherType: number) => ({ type: 'qinq', vlan, etherType }) as const;

/**
 * Sends frames at one port and says what each port hears of them: nothing of something else is left over, since a last
 * broadcast in each VLAN follows on the same way.
 */
async function heard(from: At, sent: Buffer[], at: At[], last: Buffer): Promise<Buffer[][]> {
  await from.send(...sent, last);
  const all: Buffer[][] = [];
  for (const one of at) {
    if (one === from) {
      all.push([]);
      continue;
    }
    const isLast = (bytes: Buffer): boolean => bytes.toString('latin1').endsWith('the last');
    await until(async () => one.peer.heard.some(isLast));
    all.push(one.peer.heard.splice(0).filter((bytes) => !isLast(bytes)));
  }
  assert.deepEqual(from.peer.heard, []);
  return all;
}

const lastFrom = (number: number, ...tags: Parameters<typeof frame>[3][]): Buffer =>
  frame(BROADCAST, mac(number), 'the last', ...tags);

test('a frame goes where its address was heard, and to all ports until then', async (t) => {
  const { device, at } = await switchWith(t, [access(1), access(1), access(1)]);
  const [a, b] = at as [At, At, At];
  const question = frame(mac(2), mac(1), 'where are you');
  assert.deepEqual(await heard(a, [question], at, lastFrom(1)), [[], [question], [question]]);
  const answer = frame(mac(1), mac(2), 'here');
  assert.deepEqual(await heard(b, [answer], at, lastFrom(2)), [[answer], [], []]);
  const again = frame(mac(2), mac(1), 'hello');
  assert.deepEqual(await heard(a, [again], at, lastFrom(1)), [[], [again], []]);
  const table = (await device.ask('macTable')).map(({ vlan, address, port }) => [vlan, address & 0xff, port]);
  assert.deepEqual(table.sort(), [
    [1, 1, 0],
    [1, 2, 1],
  ]);
});

test("groups are flooded, a group is no host's address, and a frame for its own port stays there", async (t) => {
  const { device, at } = await switchWith(t, [access(1), access(1), access(1)]);
  const [a] = at as [At, At, At];
  const group = frame('01:80:c2:00:00:00', mac(1), 'to a group');
  const local = frame(mac(1), mac(3), 'to the same port');
  const fromGroup = frame(mac(9), '03:00:00:00:00:01', 'from a group');
  assert.deepEqual(await heard(a, [group, local, fromGroup], at, lastFrom(1)), [
    [],
    [group, fromGroup],
    [group, fromGroup],
  ]);
  assert.equal((await device.ask('macTable')).length, 2);
});

test('an address that moves is followed, and one that is not heard again is forgotten', async (t) => {
  const { device, at } = await switchWith(t, [access(1), access(1), access(1)], 2_000);
  const [a, b, c] = at as [At, At, At];
  await heard(a, [], at, lastFrom(1));
  await heard(b, [], at, lastFrom(1));
  const found = frame(mac(1), mac(3), 'found');
  assert.deepEqual(await heard(c, [found], at, lastFrom(3)), [[], [found], []]);
  await until(async () => (await device.ask('macTable')).length === 0);
  assert.deepEqual(await heard(c, [found], at, lastFrom(3)), [[found], [found], []]);
});

test('VLANs do not hear each other, and the same address may be in two of them', async (t) => {
  const { at } = await switchWith(t, [access(10), access(10), access(20), access(20)]);
  const [a, b, c, d] = at as [At, At, At, At];
  const ten = [a, b];
  const twenty = [c, d];
  assert.deepEqual(await heard(a, [], ten, lastFrom(1)), [[], []]);
  assert.deepEqual(await heard(c, [], twenty, lastFrom(1)), [[], []]);
  const toTen = frame(mac(1), mac(2), 'ten');
  const toTwenty = frame(mac(1), mac(2), 'twenty');
  assert.deepEqual(await heard(b, [toTen], ten, lastFrom(2)), [[toTen], []]);
  assert.deepEqual(await heard(d, [toTwenty], twenty, lastFrom(2)), [[toTwenty], []]);
  assert.deepEqual(
    at.map(({ peer }) => peer.heard),
    [[], [], [], []],
  );
});

test('a trunk carries the native VLAN without a tag and the others with one; access ports never see a tag', async (t) => {
  const { at } = await switchWith(t, [trunk(5), trunk(5), access(5), access(7), trunk(9)]);
  const [one, two, five, seven, nine] = at as [At, At, At, At, At];
  const native = frame(BROADCAST, mac(1), 'native');
  await one.send(native);
  assert.deepEqual(await two.peer.take(1), [native]);
  assert.deepEqual(await five.peer.take(1), [native]);
  assert.deepEqual(await nine.peer.take(1), [frame(BROADCAST, mac(1), 'native', { vlan: 5 })]);
  const tagged = frame(BROADCAST, mac(1), 'seven', { vlan: 7, priority: 5 });
  await one.send(tagged);
  assert.deepEqual(await two.peer.take(1), [tagged]);
  assert.deepEqual(await nine.peer.take(1), [tagged]);
  assert.deepEqual(await seven.peer.take(1), [frame(BROADCAST, mac(1), 'seven')]);
  await seven.send(frame(BROADCAST, mac(7), 'up'));
  for (const { peer } of [one, two, nine]) {
    assert.deepEqual(await peer.take(1), [frame(BROADCAST, mac(7), 'up', { vlan: 7 })]);
  }
  const nowhere = frame(BROADCAST, mac(1), 'a VLAN of trunks alone', { vlan: 99 });
  await one.send(nowhere, native);
  assert.deepEqual(await two.peer.take(2), [nowhere, native]);
  assert.deepEqual(await five.peer.take(1), [native]);
  assert.deepEqual([seven.peer.heard, nine.peer.heard.length > 0], [[], true]);
});

test('a priority tag names no VLAN: it is taken off, and its priority stays where the frame is tagged again', async (t) => {
  const { at } = await switchWith(t, [access(7), trunk(7), access(7), trunk(1)]);
  const [port, native, other, far] = at as [At, At, At, At];
  const plain = frame(BROADCAST, mac(1), 'voice');
  await port.send(frame(BROADCAST, mac(1), 'voice', { vlan: 0, priority: 6 }));
  assert.deepEqual(await other.peer.take(1), [plain]);
  assert.deepEqual(await native.peer.take(1), [plain]);
  assert.deepEqual(await far.peer.take(1), [frame(BROADCAST, mac(1), 'voice', { vlan: 7, priority: 6 })]);
  await native.send(frame(BROADCAST, mac(2), 'back', { vlan: 0, priority: 3 }));
  assert.deepEqual(await port.peer.take(1), [frame(BROADCAST, mac(2), 'back')]);
  assert.deepEqual(await far.peer.take(1), [frame(BROADCAST, mac(2), 'back', { vlan: 7, priority: 3 })]);
});

for (const etherType of [0x8100, 0x88a8, 0x9100, 0x9200]) {
  test(`a tunnel keeps its customers' tags behind one of type 0x${etherType.toString(16)}`, async (t) => {
    const { at } = await switchWith(t, [tunnel(777, etherType), trunk(1), tunnel(777, etherType), access(234)]);
    const [near, carrier, far, stranger] = at as [At, At, At, At];
    const outer = { vlan: 777, type: etherType };
    for (const tags of [[], [{ vlan: 234, priority: 2 }], [{ vlan: 0, priority: 1 }]]) {
      const customers = frame(BROADCAST, mac(1), 'through the tunnel', ...tags);
      const double = frame(BROADCAST, mac(1), 'through the tunnel', outer, ...tags);
      await near.send(customers);
      assert.deepEqual(await carrier.peer.take(1), [double]);
      assert.deepEqual(await far.peer.take(1), [customers]);
      await carrier.send(double);
      assert.deepEqual(await near.peer.take(1), [customers]);
      assert.deepEqual(await far.peer.take(1), [customers]);
    }
    assert.deepEqual(stranger.peer.heard, []);
  });
}

test('what a port does not take is dropped and counted: tags at access ports, VLAN 4095, runts', async (t) => {
  const { device, at } = await switchWith(t, [access(1), trunk(1), access(1)]);
  const [port, trunked, other] = at as [At, At, At];
  const short = frame(BROADCAST, mac(1), '', { vlan: 1 }).subarray(0, 17);
  await port.send(frame(BROADCAST, mac(1), 'tagged', { vlan: 1 }), Buffer.alloc(13), short);
  await settled(port.port, ({ drops }) => drops.wrongTag === 1 && drops.runt === 2);
  await trunked.send(frame(BROADCAST, mac(2), 'reserved', { vlan: 4095 }), short);
  await settled(trunked.port, ({ drops }) => drops.wrongTag === 1 && drops.runt === 1);
  assert.deepEqual(await device.ask('macTable'), []);
  await port.send(frame(BROADCAST, mac(1), 'good'));
  assert.deepEqual(await other.peer.take(1), [frame(BROADCAST, mac(1), 'good')]);
});

test('frames of every size are tagged whole, and one that the tag makes too long is counted', async (t) => {
  const { at } = await switchWith(t, [access(2), trunk(1), access(2)]);
  const [port, trunked, other] = at as [At, At, At];
  for (const bytes of [0, 46, 1500, 9000, 65_507 - 14 - 4]) {
    const payload = 'x'.repeat(bytes);
    await port.send(frame(BROADCAST, mac(1), payload));
    assert.deepEqual(await trunked.peer.take(1), [frame(BROADCAST, mac(1), payload, { vlan: 2 })]);
    assert.deepEqual(await other.peer.take(1), [frame(BROADCAST, mac(1), payload)]);
  }
  await port.send(frame(BROADCAST, mac(1), 'x'.repeat(65_507 - 14)));
  await settled(trunked.port, ({ drops }) => drops.tooLong === 1);
  assert.equal((await other.peer.take(1))[0]!.length, 65_507);
});

test('a burst from a trunk to an access port arrives whole and in order', async (t) => {
  const { at } = await switchWith(t, [trunk(1), access(7), access(7)]);
  const [trunked, port, other] = at as [At, At, At];
  const numbers = Array.from({ length: 300 }, (_, index) => `frame ${index}`);
  await trunked.send(...numbers.map((text) => frame(BROADCAST, mac(1), text, { vlan: 7 })));
  const expected = numbers.map((text) => frame(BROADCAST, mac(1), text));
  assert.deepEqual(await port.peer.take(300), expected);
  assert.deepEqual(await other.peer.take(300), expected);
});

test('ports change while frames flow: their addresses are forgotten, those of the others are kept', async (t) => {
  const { device, at } = await switchWith(t, [access(1), access(1), access(1)]);
  const [a, b, c] = at as [At, At, At];
  for (const [index, one] of at.entries()) await heard(one, [], at, lastFrom(index + 1));
  await device.configure(settings([access(1), access(8), access(1)]));
  const table = await device.ask('macTable');
  assert.deepEqual(table.map(({ port }) => port).sort(), [0, 2]);
  const unknown = frame(mac(2), mac(1), 'no longer here');
  assert.deepEqual(await heard(a, [unknown], [a, c], lastFrom(1)), [[], [unknown]]);
  await device.configure(settings([access(1), trunk(8), access(1)]));
  await a.send(frame(mac(2), mac(1), 'by the trunk'));
  assert.deepEqual(await b.peer.take(1), [frame(mac(2), mac(1), 'by the trunk', { vlan: 1 })]);
});

test('a port that leaves takes its addresses along, and one that is not configured is in VLAN 1', async (t) => {
  const fabric = await startFabric(t);
  const device = await fabric.createDevice('ethernet-switch', settings([access(1), access(2)]));
  const a = await devicePort(t, fabric, device, 0);
  const extra = await devicePort(t, fabric, device, 40);
  await extra.peer.send(extra.localPort, frame(BROADCAST, mac(4), 'in one'));
  assert.deepEqual(await a.peer.take(1), [frame(BROADCAST, mac(4), 'in one')]);
  assert.deepEqual(
    (await device.ask('macTable')).map(({ port }) => port),
    [40],
  );
  await extra.port.close();
  assert.deepEqual(await device.ask('macTable'), []);
  const next = await devicePort(t, fabric, device, 1);
  await next.peer.send(next.localPort, frame(BROADCAST, mac(5), 'in two'));
  await settled(next.port, ({ toDevice }) => toDevice.frames === 1);
  assert.deepEqual(
    (await device.ask('macTable')).map(({ vlan, port }) => [vlan, port]),
    [[2, 1]],
  );
  assert.deepEqual(a.peer.heard, []);
});

test('the table of addresses is bounded, reported to be full once, and can be cleared', async (t) => {
  const { device, at, told } = await switchWith(t, [access(1), access(1)]);
  const [a, b] = at as [At, At];
  const most = 16_384;
  for (let first = 0; first < most + 200; first += 64) {
    const count = Math.min(64, most + 200 - first);
    const frames = Array.from({ length: count }, (_, index) => frame(mac(65_000), mac(first + index), ''));
    await a.send(...frames);
    await b.peer.take(count);
  }
  assert.equal((await device.ask('macTable')).length, most);
  await until(async () => told.length > 0);
  assert.deepEqual(told, [{ kind: 'mac-table-full' }]);
  device.tell({ kind: 'clear' });
  assert.deepEqual(await device.ask('macTable'), []);
  await a.send(frame(BROADCAST, mac(1), 'learned again'));
  await b.peer.take(1);
  assert.equal((await device.ask('macTable')).length, 1);
});

test('a loop of switches neither takes the fabric over nor holds up other switches, and ends with the loop', async (t) => {
  const fabric = await startFabric(t);
  const create = () => fabric.createDevice('ethernet-switch', settings([trunk(1), trunk(2), access(3)]));
  const [left, right] = [await create(), await create()];
  const loops: FabricPort[] = [];
  for (let number = 0; number < 2; number++) {
    const addresses = await ends();
    for (const [index, device] of [left, right].entries()) {
      const port = await fabric.createPort({ kind: 'memory', device, number });
      await port.connect(addresses[index]!);
      loops.push(port);
    }
  }
  const spark = await devicePort(t, fabric, left, 2);
  const calm = await create();
  const [a, b] = [await devicePort(t, fabric, calm, 0), await devicePort(t, fabric, calm, 0)];
  for (let number = 0; number < 100; number++)
    await spark.peer.send(spark.localPort, frame(BROADCAST, mac(number), 'x'.repeat(1000)));
  await spark.peer.take(100);
  await a.peer.send(a.localPort, frame(BROADCAST, mac(1), 'in the storm'));
  assert.deepEqual(await b.peer.take(1), [frame(BROADCAST, mac(1), 'in the storm')]);
  for (const port of loops) await port.disconnect();
  await quiet(spark.port);
  await a.peer.send(a.localPort, frame(BROADCAST, mac(1), 'after the storm'));
  assert.deepEqual(await b.peer.take(1), [frame(BROADCAST, mac(1), 'after the storm')]);
});
