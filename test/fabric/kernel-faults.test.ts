// The network namespace of nodes' interfaces, and faults planted in it: what passes then, and what must not.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Fabric, FabricPort } from '../../src/fabric/fabric.ts';
import { giveInterfaces, hostEndOf } from '../../src/host/network/container-interfaces.ts';
import { changeLink, links } from '../../src/host/network/kernel-interfaces.ts';
import { NodeNetwork } from '../../src/host/network/node-network.ts';
import { inNetworkOf } from '../../src/host/system-calls.ts';
import { nodeLinks, runAmongNodes } from '../node-network.ts';
import { KERNEL, startFabric } from './kernel-peers.ts';
import { cannotMakeInterfaces, Namespace } from './namespaces.ts';
import { ends, until } from './peers.ts';

const skip = cannotMakeInterfaces;

function networkFor(t: TestContext): { directory: string; instance: string; network: NodeNetwork } {
  const directory = mkdtempSync(join(tmpdir(), 'labwire-network-'));
  const instance = randomUUID();
  const network = new NodeNetwork(directory, instance, true);
  t.after(() => {
    network.close();
    rmSync(directory, { recursive: true });
  });
  return { directory, instance, network };
}

test('the namespace outlives its server, which another one of the same state takes over and ends', {
  skip,
}, async (t) => {
  const { directory, instance, network } = networkFor(t);
  assert.equal(new NodeNetwork(directory, instance, false).open(), undefined, 'kernel_links = off: none is made');
  const keeper = network.open()!;
  assert.equal(network.open(), keeper);
  const next = new NodeNetwork(directory, instance, true);
  assert.equal(next.open(), keeper);
  assert.equal(next.find('lo'), keeper);
  assert.equal(next.find('lwffffffff-0'), undefined);
  next.close();
  await until(async () => !existsSync(`/proc/${keeper}/exe`));
  assert.ok(!existsSync(join(directory, 'node-network')));
});

test('a process that has the noted id by chance is neither used nor ended', { skip }, async (t) => {
  const { directory, network } = networkFor(t);
  const stranger = spawn('sleep', ['600'], { stdio: 'ignore' });
  t.after(() => stranger.kill('SIGKILL'));
  await once(stranger, 'spawn');
  writeFileSync(join(directory, 'node-network'), `${stranger.pid}`);
  assert.equal(network.find('lo'), undefined);
  network.close();
  writeFileSync(join(directory, 'node-network'), `${stranger.pid}`);
  assert.notEqual(network.open(), stranger.pid);
  assert.equal(stranger.exitCode ?? stranger.signalCode, null);
});

interface Node {
  namespace: Namespace;
  link: string;
  port: FabricPort;
}

/** A node whose interface is in the namespace, as a container's. */
async function node(t: TestContext, fabric: Fabric, keeper: number, number: number): Promise<Node> {
  const namespace = await Namespace.create(t);
  await namespace.run('sysctl', '-qw', 'net.ipv6.conf.default.disable_ipv6=1');
  const first = spawn('ip', ['netns', 'exec', namespace.name, 'sleep', '600'], { stdio: 'ignore' });
  t.after(() => first.kill('SIGKILL'));
  await until(async () => (await namespace.run('ip', 'netns', 'identify', `${first.pid}`)).trim() === namespace.name);
  const macAddress = `02:00:00:00:00:0${number}`;
  giveInterfaces(first.pid!, [{ name: 'eth0', macAddress }], 'pair', keeper);
  const link = hostEndOf(first.pid!, 0);
  await namespace.ip('address', 'add', `10.99.0.${number}/24`, 'dev', 'eth0');
  const port = await fabric.createPort({ kind: 'packet', interface: link, kernel: true, process: keeper });
  inNetworkOf(keeper, () => changeLink(link, { up: true }));
  return { namespace, link, port };
}

test('whatever is missing or wrong, frames reach neither another lab nor the host', { skip }, async (t) => {
  const { directory, network } = networkFor(t);
  const keeper = network.open()!;
  const fabric = await startFabric(t);
  const nodes: Node[] = [];
  for (const number of [1, 2, 3, 4]) nodes.push(await node(t, fabric, keeper, number));
  const [a, b, c, d] = nodes as [Node, Node, Node, Node];
  for (const [one, other] of [
    [a, b],
    [c, d],
  ] as const) {
    const [near, far] = await ends();
    await one.port.connect(near);
    await other.port.connect(far);
  }
  const ping = ({ namespace }: Node, number: number) =>
    namespace.run('ping', '-c', '2', '-i', '0.1', '-W', '1', `10.99.0.${number}`);
  // These two say nothing of their own.
  for (const [{ namespace }, other] of [
    [c, 4],
    [d, 3],
  ] as const) {
    const address = ['lladdr', `02:00:00:00:00:0${other}`, 'dev', 'eth0', 'nud', 'permanent'];
    await namespace.ip('neigh', 'replace', `10.99.0.${other}`, ...address);
  }
  await ping(a, 2);
  await ping(c, 4);
  assert.deepEqual((await a.port.statistics()).path, KERNEL);
  const received = () => Promise.all([c, d].map(({ namespace }) => namespace.received('eth0')));
  const before = await received();
  /** All that the first node says, to known and unknown addresses, is lost. */
  const isLost = async (): Promise<void> => {
    for (const number of [2, 3, 4]) await assert.rejects(ping(a, number));
    assert.deepEqual(await received(), before, 'the other lab hears nothing');
    assert.deepEqual(
      links().filter(({ name }) => name !== 'lo' && !name.startsWith('sit') && !name.startsWith('ip')),
      [],
      'the host has none of the interfaces',
    );
  };
  // The other node's interface is gone: its index leads nowhere.
  runAmongNodes(directory, 'ip', 'link', 'delete', b.link);
  await isLost();
  // The program of the first node is gone: its frames end in the namespace.
  runAmongNodes(directory, 'tc', 'qdisc', 'delete', 'dev', a.link, 'ingress');
  await isLost();
  await ping(c, 4);
  assert.ok(nodeLinks(directory).some(({ name }) => name === c.link));
});
