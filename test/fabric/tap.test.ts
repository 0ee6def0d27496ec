import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Fabric, FabricPort, InterfaceChange } from '../../src/fabric/fabric.ts';
import { findLink } from '../../src/host/network/kernel-interfaces.ts';
import { scratchDirectory } from '../store/scratch.ts';
import {
  cablePair,
  cannotMakeDevices,
  cannotMakeInterfaces,
  ip,
  Namespace,
  removeAfter,
  transfer,
  uniqueName,
} from './namespaces.ts';
import { ends, peerWithCable, settled, startFabric, until } from './peers.ts';
import { recordedTcp } from './recorded.ts';

const run = promisify(execFile);
const skip = cannotMakeInterfaces;
const MEGABYTE = 1 << 20;

interface Container {
  namespace: Namespace;
  link: string;
  port: FabricPort;
  changes: InterfaceChange[];
}

/** A namespace whose interface is a TAP of the fabric's port. */
async function container(t: TestContext, fabric: Fabric, address: string): Promise<Container> {
  const link = uniqueName();
  const changes: InterfaceChange[] = [];
  const port = await fabric.createPort({ kind: 'tap', interface: link }, (change) => changes.push(change));
  const namespace = await Namespace.create(t);
  await namespace.adopt(link, address);
  return { namespace, link, port, changes };
}

/** Two of them with a cable in between, which is fused when both fabrics are one. */
async function twoContainers(
  t: TestContext,
  near: Fabric,
  far: Fabric,
  prefix = '10.99.0.',
): Promise<[Container, Container]> {
  const length = prefix.includes(':') ? 64 : 24;
  const a = await container(t, near, `${prefix}1/${length}`);
  const b = await container(t, far, `${prefix}2/${length}`);
  const [one, two] = await ends();
  await a.port.connect(one);
  await b.port.connect(two);
  return [a, b];
}

test('containers ping each other from TAP to TAP', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = await twoContainers(t, fabric, fabric);
  assert.equal((await a.port.statistics()).fused, true);
  await a.namespace.run('ping', '-c', '3', '-i', '0.1', '-W', '10', '10.99.0.2');
  assert.deepEqual([...a.changes, ...b.changes], []);
});

for (const [version, prefix] of [
  ['IPv4', '10.99.0.'],
  ['IPv6', 'fd00:99::'],
] as const) {
  test(`a stream over ${version} passes a fused cable in super-frames that are never cut`, { skip }, async (t) => {
    const fabric = await startFabric(t);
    const [a, b] = await twoContainers(t, fabric, fabric, prefix);
    await transfer(a.namespace, b.namespace, `${prefix}2`, 32 * MEGABYTE);
    const { toCable } = await a.port.statistics();
    assert.ok(toCable.bytes > 32 * MEGABYTE);
    assert.ok(toCable.bytes / toCable.frames < 1514, 'the frames are counted as the cable would have them');
    const received = await b.namespace.received(b.link);
    assert.ok(received < toCable.frames / 3, `${toCable.frames} frames in ${received}`);
  });

  test(`a stream over ${version} arrives as it was when a UDP cable needs real frames`, { skip }, async (t) => {
    const [a, b] = await twoContainers(t, await startFabric(t), await startFabric(t), prefix);
    await transfer(a.namespace, b.namespace, `${prefix}2`, 8 * MEGABYTE);
    assert.equal((await a.port.statistics()).fused, false);
    assert.equal((await a.port.statistics()).drops.malformed, 0);
  });
}

test('an impairment works on real frames', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const [a, b] = await twoContainers(t, fabric, fabric);
  await a.port.impair({ frequencyDrop: 1000 });
  await transfer(a.namespace, b.namespace, '10.99.0.2', 8 * MEGABYTE);
  const { drops, toCable } = await a.port.statistics();
  // Every thousandth of the frames in each direction.
  assert.ok(drops.frequencyDrop >= Math.floor(toCable.frames / 1000), `${drops.frequencyDrop} of ${toCable.frames}`);
});

test('a capture of super-frames holds frames that fit the cable, with right checksums', { skip }, async (t) => {
  const directory = await scratchDirectory(t);
  const fabric = await startFabric(t);
  const file = join(directory, 'flow.pcap');
  const [a, b] = await twoContainers(t, fabric, fabric);
  await a.port.startCapture({ file, linkType: 'DLT_EN10MB' });
  await transfer(a.namespace, b.namespace, '10.99.0.2', 4 * MEGABYTE);
  const { toCable, toDevice } = await a.port.statistics();
  await a.port.stopCapture();
  const frames = await recordedTcp(file);
  assert.ok(frames.length > (4 * MEGABYTE) / 1500 && frames.length <= toCable.frames + toDevice.frames);
  assert.deepEqual(
    frames.filter(({ bytes, intact }) => bytes > 1514 || !intact),
    [],
  );
});

test('a TAP that is deleted while it is used is reported, costs nothing, and works again when it is back', {
  skip,
}, async (t) => {
  const fabric = await startFabric(t);
  const link = uniqueName();
  removeAfter(t, link);
  const changes: InterfaceChange[] = [];
  const { peer, cable } = await peerWithCable(t);
  const port = await fabric.createPort(cable, (change) => changes.push(change));
  await port.connect({ kind: 'tap', interface: link, persistent: true, up: true });
  assert.equal(findLink(link)?.up, true);
  await ip('link', 'delete', link);
  await until(async () => changes.length === 1);
  assert.deepEqual(changes, [{ side: 'cable', interface: link, state: 'gone' }]);
  await peer.send(cable.localPort, Buffer.alloc(60));
  const { interfaces } = await settled(port, ({ drops }) => drops.interfaceDown === 1);
  assert.deepEqual(interfaces, changes);
  await ip('tuntap', 'add', 'dev', link, 'mode', 'tap');
  await until(async () => changes.length === 2);
  assert.equal(changes[1]!.state, 'open');
  await peer.send(cable.localPort, Buffer.alloc(60, 0xff));
  await until(
    async () => Number(JSON.parse(await ip('-json', '-s', 'link', 'show', 'dev', link))[0].stats64.rx.packets) === 1,
  );
  assert.deepEqual((await port.statistics()).interfaces, []);
});

test('frames for a TAP that is down are counted, and it takes frames again when it is up', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const link = uniqueName();
  const changes: InterfaceChange[] = [];
  const { peer, cable } = await peerWithCable(t);
  const port = await fabric.createPort(cable, (change) => changes.push(change));
  await port.connect({ kind: 'tap', interface: link });
  await peer.send(cable.localPort, Buffer.alloc(60, 0xff));
  await settled(port, ({ drops }) => drops.interfaceDown === 1);
  assert.deepEqual(changes, [{ side: 'cable', interface: link, state: 'down' }]);
  await ip('link', 'set', link, 'up');
  await until(async () => changes.length === 2);
  assert.equal(changes[1]!.state, 'open');
  await peer.send(cable.localPort, Buffer.alloc(60, 0xff));
  await until(
    async () => Number(JSON.parse(await ip('-json', '-s', 'link', 'show', 'dev', link))[0].stats64.rx.packets) === 1,
  );
  assert.equal((await port.statistics()).drops.interfaceDown, 1);
});

test('empty packets and runts are counted; frames from 14 to 65,507 bytes reach a TAP', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const link = uniqueName();
  const { peer, cable } = await peerWithCable(t);
  const port = await fabric.createPort(cable);
  await port.connect({ kind: 'tap', interface: link, up: true });
  const sizes = [0, 1, 13, 14, 60, 1514, 9014, 65_507];
  for (const size of sizes) await peer.send(cable.localPort, Buffer.alloc(size, 0xff));
  const { drops, toCable } = await settled(port, (now) => now.toCable.frames === 7 && now.drops.runt === 2);
  assert.deepEqual(
    { ...drops, empty: 0, runt: 0 },
    Object.fromEntries(Object.keys(drops).map((reason) => [reason, 0])),
  );
  assert.deepEqual([drops.empty, toCable.bytes], [1, sizes.reduce((sum, size) => sum + size)]);
  const [{ stats64 }] = JSON.parse(await ip('-json', '-s', 'link', 'show', 'dev', link));
  assert.equal(stats64.rx.packets, 5);
});

test('jumbo frames of 9,014 and of 65,535 bytes pass a fused cable; a UDP cable counts what is too long for it', {
  skip,
}, async (t) => {
  const [near, far] = [await startFabric(t), await startFabric(t)];
  for (const [other, replies] of [
    [near, true],
    [far, false],
  ] as const) {
    const [a, b] = await twoContainers(t, near, other);
    for (const { namespace, link } of [a, b]) await namespace.ip('link', 'set', link, 'mtu', '65521');
    await a.namespace.run('ping', '-c', '1', '-M', 'do', '-s', '8972', '10.99.0.2');
    const largest = a.namespace.run(
      'ping',
      '-c',
      '1',
      '-W',
      replies ? '10' : '1',
      '-M',
      'do',
      '-s',
      '65493',
      '10.99.0.2',
    );
    if (replies) await largest;
    else await assert.rejects(largest);
    assert.equal((await a.port.statistics()).drops.tooLong, replies ? 0 : 1);
    await a.namespace.remove();
    await b.namespace.remove();
  }
});

test('a TAP that cannot be had is reported by its name and the fix', { skip }, async (t) => {
  const fabric = await startFabric(t);
  const link = uniqueName();
  removeAfter(t, link);
  const refused = (device: object, code: string, message: RegExp): Promise<void> =>
    assert.rejects(fabric.createPort({ kind: 'tap', interface: link, ...device }), { code, message });
  await refused({ create: 'never' }, 'conflict', new RegExp(`no interface ${link}.*ip tuntap add`));
  const port = await fabric.createPort({ kind: 'tap', interface: link });
  await refused({}, 'conflict', new RegExp(`${link} is in use`));
  await refused({ create: 'always' }, 'conflict', new RegExp(`an interface ${link} already`));
  const [other] = await cablePair(t);
  await refused({ interface: other }, 'conflict', new RegExp(`${other} exists and is no TAP`));
  for (const name of ['', '.', '..', 'a/b', 'a b', 'tap%d', 'a-name-of-16-byt'])
    await refused({ interface: name }, 'invalid', /^interface: /);
  await port.close();
  await until(async () => findLink(link) === undefined);
});

/**
 * What a program without capabilities is told by {@link unprivileged.ts}, where /dev/net/tun has this mode: a device node of the test's own,
 * mounted over it for that program alone. Hosts differ in the mode.
 */
async function refusals(mode: string, ...links: string[]): Promise<({ code: string; message: string } | null)[]> {
  const program = fileURLToPath(new URL('./unprivileged.ts', import.meta.url));
  const directory = await mkdtemp(join(tmpdir(), 'labwire-tun-'));
  const mount =
    'mknod "$0/tun" c 10 200 && chmod "$1" "$0/tun" && mount --bind "$0/tun" /dev/net/tun && shift && exec "$@"';
  const user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  try {
    const { stdout } = await run('unshare', [
      ...['--mount', '--propagation', 'private', 'sh', '-c', mount, directory, mode],
      ...[...user, process.execPath, program, ...links],
    ]);
    return JSON.parse(stdout);
  } finally {
    await rm(directory, { recursive: true });
  }
}

for (const [mode, needed, ownTapOpens] of [
  ['0666', /CAP_NET_ADMIN.*AmbientCapabilities=.*interfaces.conf/, true],
  ['0600', /\/dev\/net\/tun, which this program may not open: .*chmod 0666 \/dev\/net\/tun/, false],
] as const) {
  test(`without CAP_NET_ADMIN and CAP_NET_RAW the failure names what is missing and the fix (/dev/net/tun is ${mode})`, {
    skip: skip || cannotMakeDevices(),
  }, async (t) => {
    const [link, own] = [uniqueName(), uniqueName()];
    removeAfter(t, own);
    await ip('tuntap', 'add', 'dev', own, 'mode', 'tap', 'user', '65534');
    const [outer] = await cablePair(t);
    const [tap, ownTap, packet] = await refusals(mode, link, own, outer);
    assert.equal(tap?.code, 'forbidden');
    assert.match(tap.message, needed);
    if (ownTapOpens) assert.equal(ownTap, null);
    else assert.match(ownTap!.message, needed);
    assert.equal(packet?.code, 'forbidden');
    assert.match(packet.message, /CAP_NET_RAW.*AmbientCapabilities=.*interfaces.conf/);
  });
}
