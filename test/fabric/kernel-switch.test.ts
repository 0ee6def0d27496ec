// Switches between nodes' interfaces: the kernel forwards frames to known addresses, all else goes through the switch.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fabric, FabricPort, MemoryDevice } from '../../src/fabric/fabric.ts';
import type { SwitchPortSettings } from '../../src/fabric/model.ts';
import { keepFromHost } from '../../src/host/network/interface-programs.ts';
import { changeLink } from '../../src/host/network/kernel-interfaces.ts';
import { BROADCAST, frame, mac, type Tag } from './frames.ts';
import { type Container, container, KERNEL, NOTHING, pair, pathOf, sends, startFabric } from './kernel-peers.ts';
import { cannotMakeInterfaces, ip, transfer } from './namespaces.ts';
import { ends, type Peer, peerWithCable, until } from './peers.ts';

const skip = cannotMakeInterfaces;
const MEGABYTE = 1 << 20;

interface Plugged extends Container {
  /** The switch's port. */
  atSwitch: FabricPort;
  /** The container's interface. */
  inside: string;
  macAddress: string;
  address: string;
}

interface Rig {
  fabric: Fabric;
  device: MemoryDevice<'ethernet-switch'>;
  containers: Plugged[];
}

const ACCESS = { type: 'access', vlan: 1 } as const;
const TRUNK = { type: 'dot1q', vlan: 1 } as const;

/** Containers 10.99.0.1, 10.99.0.2 ... at the ports of a switch, who know each other's addresses. */
async function rig(
  t: TestContext,
  ports: Omit<SwitchPortSettings, 'number' | 'etherType'>[],
  ageing = 300_000,
): Promise<Rig> {
  const fabric = await startFabric(t);
  const settings = ports.map((port, number) => ({ ...port, number, etherType: 0x88a8 }));
  const device = await fabric.createDevice('ethernet-switch', { ports: settings, ageing });
  const containers: Plugged[] = [];
  for (const { number } of settings) {
    const address = `10.99.0.${number + 1}`;
    const one = await container(t, fabric, `${address}/24`);
    const atSwitch = await fabric.createPort({ kind: 'memory', device, number });
    const [near, far] = await ends();
    await one.port.connect(near);
    await atSwitch.connect(far);
    const shown = JSON.parse(await one.namespace.ip('-json', 'link', 'show', 'type', 'veth'));
    containers.push({ ...one, atSwitch, inside: shown[0].ifname, macAddress: shown[0].address, address });
  }
  for (const one of containers) {
    for (const other of containers) if (other !== one) await know(one, other);
  }
  return { fabric, device, containers };
}

/** From now on the container asks nobody for the other's MAC address. */
async function know({ namespace, inside }: Plugged, { address, macAddress }: Plugged, on = inside): Promise<void> {
  await namespace.ip('neigh', 'replace', address, 'lladdr', macAddress, 'dev', on, 'nud', 'permanent');
}

function ping({ namespace }: Plugged, address: string, ...more: string[]): Promise<string> {
  return namespace.run('ping', '-c', '1', '-W', '1', ...more, address);
}

/** Frames that went through the fabric: those that its own interfaces have taken from the kernel. */
async function throughFabric(): Promise<number> {
  const shown: { ifname: string; stats64: { tx: { packets: number } } }[] = JSON.parse(
    await ip('-json', '-s', 'link', 'show'),
  );
  return shown
    .filter(({ ifname }) => ifname.startsWith('lwr'))
    .reduce((sum, { stats64 }) => sum + stats64.tx.packets, 0);
}

/** Frames that an interface of the host has sent. */
async function sentBy(link: string): Promise<number> {
  const [{ stats64 }] = JSON.parse(await ip('-json', '-s', 'link', 'show', 'dev', link));
  return stats64.tx.packets;
}

/** Waits until frames between two containers skip the fabric. */
async function inKernel(from: Plugged, to: Plugged): Promise<void> {
  await until(async () => {
    await ping(from, to.address);
    const before = await throughFabric();
    await ping(from, to.address);
    return (await throughFabric()) === before;
  });
}

test('frames between known addresses of a switch skip the fabric, and are counted exactly', { skip }, async (t) => {
  const { containers } = await rig(t, [ACCESS, ACCESS, ACCESS]);
  const [a, b, c] = containers as [Plugged, Plugged, Plugged];
  await inKernel(a, b);
  const before = await throughFabric();
  const sent = await sentBy(b.link);
  await transfer(a.namespace, b.namespace, b.address, 32 * MEGABYTE);
  assert.equal(await throughFabric(), before);
  assert.equal(await sentBy(b.link), sent, 'frames come out of the other end at once');
  const [near, far, nearSwitch, farSwitch] = await Promise.all(
    [a.port, b.port, a.atSwitch, b.atSwitch].map((port) => port.statistics()),
  );
  assert.ok(near!.toCable.bytes > 32 * MEGABYTE);
  assert.deepEqual(near!.toCable, nearSwitch!.toDevice);
  assert.deepEqual(near!.toDevice, nearSwitch!.toCable);
  assert.deepEqual(far!.toCable, farSwitch!.toDevice);
  assert.deepEqual(far!.toDevice, farSwitch!.toCable);
  // Only what the switch flooded before it knew the addresses is more on one side.
  assert.ok(Math.abs(near!.toCable.frames - far!.toDevice.frames) <= 2);
  assert.ok((await c.port.statistics()).toDevice.frames <= 2, 'the third port gets what is flooded, and nothing else');
  const cable = await a.port.cableStatistics();
  assert.deepEqual(cable.outgoing.delivered, near!.toCable);
  assert.deepEqual(cable.incoming.delivered, near!.toDevice);
  assert.deepEqual([near!.path, nearSwitch!.path], [KERNEL, KERNEL]);
});

test('a switch counts the same both ways, frame by frame and byte by byte', { skip }, async (t) => {
  const { containers } = await rig(t, [ACCESS, ACCESS]);
  const [a, b] = containers as [Plugged, Plugged];
  const count = async () => {
    const figures = async () => {
      const all = await Promise.all([a.port, b.port, a.atSwitch, b.atSwitch].map((port) => port.statistics()));
      return all.flatMap(({ toCable, toDevice }) => [toCable.frames, toCable.bytes, toDevice.frames, toDevice.bytes]);
    };
    const before = await figures();
    await ping(a, b.address, '-c', '5', '-i', '0.02', '-s', '3000');
    return (await figures()).map((figure, index) => figure - before[index]!);
  };
  await inKernel(a, b);
  const kernel = await count();
  await b.atSwitch.impair(NOTHING);
  assert.deepEqual(await pathOf(b), { by: 'fabric', reason: 'the link is suspended, filtered or impaired' });
  assert.deepEqual(await count(), kernel);
});

/** A port of a switch at whose interface the test itself sends and receives frames. */
interface RawPort {
  send(bytes: Buffer): Promise<void>;
  peer: Peer;
  atSwitch: FabricPort;
}

async function rawPort(
  t: TestContext,
  fabric: Fabric,
  device: MemoryDevice<'ethernet-switch'>,
  number: number,
): Promise<RawPort> {
  const { link, inside, port } = await pair(t, fabric);
  keepFromHost(inside);
  changeLink(inside, { up: true });
  await sends(link);
  const { peer, cable } = await peerWithCable(t);
  const outside = await fabric.createPort({ kind: 'packet', interface: inside });
  await outside.connect(cable);
  const atSwitch = await fabric.createPort({ kind: 'memory', device, number });
  const [near, far] = await ends();
  await port.connect(near);
  await atSwitch.connect(far);
  return { peer, atSwitch, send: (bytes) => peer.send(cable.localPort, bytes) };
}

const TAGS: readonly (readonly Tag[])[] = [
  [],
  [{ vlan: 1 }],
  [{ vlan: 2, priority: 5 }],
  [{ vlan: 3 }],
  [{ vlan: 0, priority: 3 }],
  [{ vlan: 2, type: 0x88a8 }],
  [{ vlan: 2 }, { vlan: 3 }],
];

test('the kernel hands each frame with each tag to those to whom the switch would', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const settings = [ACCESS, ACCESS, { ...ACCESS, vlan: 2 }, TRUNK, { ...TRUNK, vlan: 2 }, TRUNK];
  const ports = settings.map((port, number) => ({ ...port, number, etherType: 0x88a8 }));
  const device = await fabric.createDevice('ethernet-switch', { ports, ageing: 300_000 });
  const raw: RawPort[] = [];
  for (const { number } of ports) raw.push(await rawPort(t, fabric, device, number));
  let sent = 0;
  let heardBefore: number[] = raw.map(() => 0);
  /** Who got what of the frames sent so far: few at a time, as a busy host drops more. */
  const heard = async (): Promise<string[]> => {
    const statistics = () => Promise.all(raw.map(({ atSwitch }) => atSwitch.statistics()));
    await until(async () => (await statistics()).reduce((sum, { toDevice }) => sum + toDevice.frames, 0) === sent);
    const after = (await statistics()).map(({ toCable }) => toCable.frames);
    const got: string[] = [];
    for (const [at, { peer }] of raw.entries())
      for (const bytes of await peer.take(after[at]! - heardBefore[at]!)) got.push(`${at}: ${bytes.toString('hex')}`);
    heardBefore = after;
    return got;
  };
  /** Every port sends to every other and to all, with each tag: who got which frame. */
  const everything = async (): Promise<string[]> => {
    const got: string[] = [];
    for (const [from, { send }] of raw.entries())
      for (const [nth, tags] of TAGS.entries()) {
        for (const to of [BROADCAST, ...raw.map((_, index) => mac(index + 1))]) {
          await send(frame(to, mac(from + 1), `from ${from} with ${nth}`, ...tags));
          sent++;
        }
        got.push(...(await heard()));
      }
    return got.sort();
  };
  await everything();
  const before = await throughFabric();
  const inTheKernel = await everything();
  const fewer = (await throughFabric()) - before;
  for (const { atSwitch } of raw) await atSwitch.impair(NOTHING);
  assert.deepEqual(inTheKernel, await everything());
  const all = (await throughFabric()) - before - fewer;
  assert.equal(all, sent / 3);
  // Untagged frames within both VLANs, and those with a tag of both that two trunks keep.
  t.diagnostic(`${fewer} of ${all} frames went through the switch`);
  assert.ok(fewer < all - 20);
});

test('frames follow an address to another port at once', { skip }, async (t) => {
  const { containers } = await rig(t, [ACCESS, ACCESS, ACCESS]);
  const [a, b, c] = containers as [Plugged, Plugged, Plugged];
  await inKernel(a, b);
  // The third container takes the second one's place.
  await b.namespace.ip('link', 'set', b.inside, 'down');
  await c.namespace.ip('address', 'flush', 'dev', c.inside);
  await c.namespace.ip('link', 'set', c.inside, 'address', b.macAddress);
  await c.namespace.ip('address', 'add', `${b.address}/24`, 'dev', c.inside);
  await know(c, a);
  await c.namespace.run('ping', '-c', '1', '-W', '2', a.address);
  await ping(a, b.address);
  await inKernel(a, b);
  assert.ok((await c.port.statistics()).toDevice.frames >= 2);
});

test('an address that is heard in the kernel alone stays known, and a silent one is forgotten', { skip }, async (t) => {
  const { device, containers } = await rig(t, [ACCESS, ACCESS], 2_000);
  const [a, b] = containers as [Plugged, Plugged];
  await inKernel(a, b);
  const before = await throughFabric();
  for (const end = Date.now() + 3_000; Date.now() < end; ) await ping(a, b.address, '-c', '10', '-i', '0.02');
  assert.equal(await throughFabric(), before);
  const entries = await device.ask('macTable');
  assert.equal(entries.length, 2);
  assert.ok(entries.every(({ age }) => age < 1_500));
  await until(async () => (await device.ask('macTable')).length === 0);
  await ping(a, b.address);
  assert.ok((await throughFabric()) > before, 'the switch learns them again');
  await inKernel(a, b);
});

test('a cleared table, a suspended link and an unplugged one take effect with the next frame', { skip }, async (t) => {
  const { device, containers } = await rig(t, [ACCESS, ACCESS]);
  const [a, b] = containers as [Plugged, Plugged];
  await inKernel(a, b);
  const before = await throughFabric();
  await device.tell({ kind: 'clear' });
  await ping(a, b.address);
  assert.ok((await throughFabric()) > before);
  await inKernel(a, b);

  await b.port.impair({ frequencyDrop: -1 });
  await assert.rejects(ping(a, b.address));
  await b.port.impair({});
  await inKernel(a, b);

  const { toDevice } = await b.port.statistics();
  await b.port.disconnect();
  assert.deepEqual((await b.port.statistics()).toDevice, toDevice, 'counts stay when the cable goes');
  await assert.rejects(ping(a, b.address));
  await b.atSwitch.close();
  await assert.rejects(ping(a, b.address));
  assert.equal((await a.port.statistics()).path.by, 'kernel');
  await device.close();
  await assert.rejects(ping(a, b.address));
});

test('a stream through a switch survives changes of the way', { skip }, async (t) => {
  const { containers } = await rig(t, [ACCESS, ACCESS]);
  const [a, b] = containers as [Plugged, Plugged];
  let isOver = false;
  const stream = transfer(a.namespace, b.namespace, b.address, 128 * MEGABYTE).finally(() => {
    isOver = true;
  });
  let changes = 0;
  for (; !isOver; changes += 2) {
    await b.port.impair(NOTHING);
    await b.port.impair({});
    await sleep(1);
  }
  await stream;
  t.diagnostic(`${changes} changes`);
});
