import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import type { Fabric, MemoryDevice } from '../../src/fabric/fabric.ts';
import type { SwitchPortSettings } from '../../src/fabric/model.ts';
import { BROADCAST, frame, mac, type Tag } from './frames.ts';
import { cannotMakeInterfaces, Namespace, transfer, uniqueName } from './namespaces.ts';
import { devicePort, ends, startFabric, until } from './peers.ts';

/** Why there are no interfaces of a type here; false when there are. */
function without(type: string, before: string[], after: string[] = []): string | false {
  if (cannotMakeInterfaces !== false) return cannotMakeInterfaces;
  try {
    execFileSync('unshare', ['--net', 'ip', 'link', 'add', ...before, 'type', type, ...after], { stdio: 'ignore' });
    return false;
  } catch {
    return `the kernel of this host has no interfaces of type ${type}`;
  }
}

/** Why no packets can be filtered here as they come in; false when they can. */
function withoutFilter(): string | false {
  if (cannotMakeInterfaces !== false) return cannotMakeInterfaces;
  try {
    const chain = 'add chain netdev probe seen { type filter hook ingress device "lo" priority 0; }';
    execFileSync('unshare', ['--net', 'nft', `add table netdev probe; ${chain}`], { stdio: 'ignore' });
    return false;
  } catch {
    return 'nft is not installed, or the kernel of this host filters no packets as they come in';
  }
}

const withoutVlans = without('vlan', ['link', 'lo', 'name', 'probe'], ['id', '2']);
const withoutBridges = withoutVlans || without('bridge', ['name', 'probe']);
const MEGABYTE = 1 << 20;

function switchOf(
  fabric: Fabric,
  ...ports: Omit<SwitchPortSettings, 'number' | 'etherType'>[]
): Promise<MemoryDevice<'ethernet-switch'>> {
  const all = ports.map((port, number) => ({ ...port, number, etherType: 0x88a8 }));
  return fabric.createDevice('ethernet-switch', { ports: all, ageing: 300_000 });
}

/** A namespace whose interface, a TAP, is plugged into a port of the switch. */
async function host(
  t: TestContext,
  fabric: Fabric,
  device: MemoryDevice<'ethernet-switch'>,
  number: number,
  address: string,
): Promise<{ namespace: Namespace; link: string }> {
  const link = uniqueName();
  const namespace = await Namespace.create(t);
  const port = await fabric.createPort({ kind: 'tap', interface: link });
  const atSwitch = await fabric.createPort({ kind: 'memory', device, number });
  const [near, far] = await ends();
  await port.connect(near);
  await atSwitch.connect(far);
  await namespace.adopt(link, address);
  return { namespace, link };
}

/** A VLAN interface of the kernel's upon another interface. */
async function vlan(namespace: Namespace, on: string, id: number, address: string, type = '802.1Q'): Promise<string> {
  const name = `${on.slice(0, 9)}.${id}`;
  await namespace.ip('link', 'add', 'link', on, 'name', name, 'type', 'vlan', 'proto', type, 'id', String(id));
  if (address !== '') await namespace.ip('address', 'add', address, 'dev', name);
  await namespace.ip('link', 'set', name, 'up');
  return name;
}

const ping = (from: Namespace, to: string): Promise<string> => from.run('ping', '-c', '2', '-i', '0.1', '-W', '10', to);

test("the kernel's VLAN interfaces at a trunk reach the access ports of their VLANs, and no others", {
  skip: withoutVlans,
}, async (t) => {
  const fabric = await startFabric(t);
  const device = await switchOf(
    fabric,
    { type: 'dot1q', vlan: 1 },
    { type: 'access', vlan: 10 },
    { type: 'access', vlan: 20 },
    { type: 'access', vlan: 1 },
  );
  const router = await host(t, fabric, device, 0, '10.98.1.1/24');
  await vlan(router.namespace, router.link, 10, '10.98.10.1/24');
  await vlan(router.namespace, router.link, 20, '10.98.20.1/24');
  const ten = await host(t, fabric, device, 1, '10.98.10.2/24');
  const twenty = await host(t, fabric, device, 2, '10.98.20.2/24');
  const native = await host(t, fabric, device, 3, '10.98.1.2/24');
  await ping(ten.namespace, '10.98.10.1');
  await ping(router.namespace, '10.98.20.2');
  await ping(native.namespace, '10.98.1.1');
  // In the other VLAN the same address is nobody's.
  await twenty.namespace.ip('address', 'add', '10.98.10.3/24', 'dev', twenty.link);
  await assert.rejects(twenty.namespace.run('ping', '-c', '1', '-W', '1', '10.98.10.2'));
  await transfer(ten.namespace, router.namespace, '10.98.10.1', 8 * MEGABYTE);
  await transfer(router.namespace, ten.namespace, '10.98.10.2', 8 * MEGABYTE);
  const ports = (await device.ask('macTable')).map(({ vlan: id, port }) => `${id}/${port}`);
  assert.deepEqual([...new Set(ports)].sort(), ['1/0', '1/3', '10/0', '10/1', '20/0', '20/2']);
});

test("a bridge of the kernel's that filters VLANs and the switch agree upon the tags of a trunk", {
  skip: withoutBridges,
}, async (t) => {
  const fabric = await startFabric(t);
  const device = await switchOf(fabric, { type: 'dot1q', vlan: 1 }, { type: 'access', vlan: 30 });
  const far = await host(t, fabric, device, 0, '10.98.99.1/24');
  const { namespace, link } = far;
  await namespace.ip('link', 'add', 'bridge', 'type', 'bridge', 'vlan_filtering', '1', 'stp_state', '0');
  await namespace.ip('link', 'set', link, 'master', 'bridge');
  await namespace.run('bridge', 'vlan', 'add', 'dev', link, 'vid', '30');
  await namespace.run('bridge', 'vlan', 'add', 'dev', 'bridge', 'vid', '30', 'self');
  await namespace.ip('link', 'set', 'bridge', 'up');
  await vlan(namespace, 'bridge', 30, '10.98.30.1/24');
  const near = await host(t, fabric, device, 1, '10.98.30.2/24');
  await ping(near.namespace, '10.98.30.1');
  await transfer(namespace, near.namespace, '10.98.30.2', 2 * MEGABYTE);
});

test("a tunnel's frames carry the two tags that the kernel gives to stacked VLAN interfaces", {
  skip: withoutVlans,
}, async (t) => {
  const fabric = await startFabric(t);
  const device = await switchOf(fabric, { type: 'dot1q', vlan: 1 }, { type: 'qinq', vlan: 777 });
  const carrier = await host(t, fabric, device, 0, '10.98.1.1/24');
  const outer = await vlan(carrier.namespace, carrier.link, 777, '', '802.1ad');
  await vlan(carrier.namespace, outer, 234, '10.98.40.1/24');
  const customer = await host(t, fabric, device, 1, '10.98.1.2/24');
  await vlan(customer.namespace, customer.link, 234, '10.98.40.2/24');
  await ping(customer.namespace, '10.98.40.1');
  await ping(carrier.namespace, '10.98.40.2');
  await transfer(customer.namespace, carrier.namespace, '10.98.40.1', 2 * MEGABYTE);
});

test("the kernel's packet filter reads the tags that a trunk and a tunnel give", {
  skip: withoutFilter(),
}, async (t) => {
  const fabric = await startFabric(t);
  const device = await switchOf(
    fabric,
    { type: 'dot1q', vlan: 1 },
    { type: 'access', vlan: 10 },
    { type: 'qinq', vlan: 777 },
    { type: 'access', vlan: 1 },
  );
  const { namespace, link } = await host(t, fabric, device, 0, '10.98.1.1/24');
  await namespace.run('nft', 'add', 'table', 'netdev', 'tags');
  await namespace.run('nft', `add chain netdev tags seen { type filter hook ingress device "${link}" priority 0; }`);
  // In order: two tags, one, none; a frame is counted by the rules that it fits.
  for (const rule of [
    'ether type 8021ad vlan id 777 vlan type 8021q vlan id 234',
    'ether type 8021q vlan id 10 vlan type 0x88b5',
    'ether type 0x88b5',
  ]) {
    await namespace.run('nft', `add rule netdev tags seen ${rule} counter`);
  }
  for (const [number, ...tags] of [[1], [2, { vlan: 234 }], [3]] as [number, ...Tag[]][]) {
    const { peer, localPort } = await devicePort(t, fabric, device, number);
    await peer.send(localPort, frame(BROADCAST, mac(number), 'x'.repeat(46), ...tags));
  }
  await until(async () => {
    const listed = JSON.parse(await namespace.run('nft', '--json', 'list', 'chain', 'netdev', 'tags', 'seen'));
    const packets = listed.nftables
      .flatMap(({ rule }: { rule?: { expr: { counter?: { packets: number } }[] } }) => rule?.expr ?? [])
      .flatMap(({ counter }: { counter?: { packets: number } }) => counter?.packets ?? []);
    return packets.join() === '1,1,1';
  });
});

test('hosts of one VLAN ping and move a stream across two switches and their trunk; those of another hear nothing', {
  skip: cannotMakeInterfaces,
}, async (t) => {
  const fabric = await startFabric(t);
  const ports = [
    { type: 'dot1q', vlan: 1 },
    { type: 'access', vlan: 10 },
    { type: 'access', vlan: 20 },
  ] as const;
  const devices = [await switchOf(fabric, ...ports), await switchOf(fabric, ...ports)] as const;
  const trunk = await ends();
  for (const [index, device] of devices.entries()) {
    const port = await fabric.createPort({ kind: 'memory', device, number: 0 });
    await port.connect(trunk[index]!);
  }
  const near = await host(t, fabric, devices[0], 1, '10.98.10.1/24');
  const far = await host(t, fabric, devices[1], 1, '10.98.10.2/24');
  const stranger = await host(t, fabric, devices[1], 2, '10.98.10.3/24');
  await ping(near.namespace, '10.98.10.2');
  await transfer(near.namespace, far.namespace, '10.98.10.2', 8 * MEGABYTE);
  await transfer(far.namespace, near.namespace, '10.98.10.1', 8 * MEGABYTE);
  assert.equal(await stranger.namespace.received(stranger.link), 0);
});
