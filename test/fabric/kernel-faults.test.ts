// The network namespace of nodes' interfaces, and faults planted in it: what passes then, and what must not.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Fabric, FabricPort } from '../../src/fabric/fabric.ts';
import { encodeStation, encodeStationKey, encodeWay } from '../../src/host/network/cable-programs.ts';
import { giveInterfaces, hostEndOf } from '../../src/host/network/container-interfaces.ts';
import { programAt } from '../../src/host/network/interface-programs.ts';
import { changeLink, getLink, links } from '../../src/host/network/kernel-interfaces.ts';
import { NodeNetwork } from '../../src/host/network/node-network.ts';
import { inNetworkOf, openMapsOf } from '../../src/host/system-calls.ts';
import { nodeLinks, runAmongNodes } from '../node-network.ts';
import { missing } from '../system/lab.ts';
import { watch } from '../watch.ts';
import { DIES_AT } from './dies-at.ts';
import { KERNEL, NOTHING, startFabric } from './kernel-peers.ts';
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

/** Processes that keep a namespace of this state directory. */
function keepersOf(instance: string): string[] {
  return readdirSync('/proc').filter((entry) => {
    try {
      return /^\d+$/.test(entry) && readFileSync(`/proc/${entry}/environ`, 'utf8').includes(instance);
    } catch {
      return false; // it has ended
    }
  });
}

test('a namespace that cannot be noted for the next server is not kept', { skip }, async (t) => {
  const { directory, instance, network } = networkFor(t);
  symlinkSync(join(directory, 'missing', 'file'), join(directory, 'node-network'));
  assert.equal(network.open(), undefined);
  await until(async () => keepersOf(instance).length === 0);
  rmSync(join(directory, 'node-network'));
  const keeper = network.open();
  assert.deepEqual(keepersOf(instance), [`${keeper}`]);
});

interface Node {
  namespace: Namespace;
  link: string;
  macAddress: string;
}

/** A node whose interface is in the namespace, as a container's. */
async function node(t: TestContext, keeper: number, number: number): Promise<Node> {
  const namespace = await Namespace.create(t);
  await namespace.run('sysctl', '-qw', 'net.ipv6.conf.default.disable_ipv6=1');
  const first = spawn('ip', ['netns', 'exec', namespace.name, 'sleep', '600'], { stdio: 'ignore' });
  t.after(() => first.kill('SIGKILL'));
  await until(async () => (await namespace.run('ip', 'netns', 'identify', `${first.pid}`)).trim() === namespace.name);
  const macAddress = `02:00:00:00:00:0${number}`;
  giveInterfaces(first.pid!, [{ name: 'eth0', macAddress }], 'pair', keeper);
  await namespace.ip('address', 'add', `10.99.0.${number}/24`, 'dev', 'eth0');
  return { namespace, macAddress, link: hostEndOf(first.pid!, 0) };
}

/** From now on the node asks nobody for this address. */
const know = ({ namespace }: Node, number: number): Promise<string> => {
  const address = ['lladdr', `02:00:00:00:00:0${number}`, 'dev', 'eth0', 'nud', 'permanent'];
  return namespace.ip('neigh', 'replace', `10.99.0.${number}`, ...address);
};

const ping = ({ namespace }: Node, number: number): Promise<string> =>
  namespace.run('ping', '-c', '2', '-i', '0.1', '-W', '1', `10.99.0.${number}`);

interface Labs {
  directory: string;
  keeper: number;
  /** Two labs of two nodes each. The second one's nodes say nothing unless they are told to. */
  nodes: [Node, Node, Node, Node];
  /** Fails if the second lab or the host has got a frame since the last time. */
  nobodyElseHears(): Promise<void>;
  /** The same of the host, at the end. */
  hostHasHeardNothing(): Promise<void>;
}

/** What is printed of frames of the labs. */
const OF_LABS = /10\.99\.0\.|ARP/;

async function labs(t: TestContext): Promise<Labs> {
  const { directory, network } = networkFor(t);
  const keeper = network.open()!;
  const nodes: Node[] = [];
  for (const number of [1, 2, 3, 4]) nodes.push(await node(t, keeper, number));
  const [a, b, c, d] = nodes as Labs['nodes'];
  for (const [one, other] of [
    [a, 2],
    [a, 3],
    [b, 1],
    [c, 4],
    [d, 3],
  ] as const)
    await know(one, other);
  const host = await watch(t, 'any', 'arp or net 10.99.0.0/24 or host 127.0.0.77');
  await until(async () => {
    execFileSync('ping', ['-c', '1', '127.0.0.77']);
    return host.said().includes('127.0.0.77');
  });
  const received = () => Promise.all([c, d].map(({ namespace }) => namespace.received('eth0')));
  let before = await received();
  return {
    directory,
    keeper,
    nodes: [a, b, c, d],
    async nobodyElseHears() {
      const now = await received();
      assert.deepEqual(now, before, 'the other lab hears nothing');
      before = now;
      assert.deepEqual(
        links().filter(({ name }) => name !== 'lo' && !name.startsWith('sit') && !name.startsWith('ip')),
        [],
        'the host has none of the interfaces',
      );
      assert.doesNotMatch(host.said(), OF_LABS);
    },
    async hostHasHeardNothing() {
      assert.doesNotMatch(await host.end(), OF_LABS);
    },
  };
}

/** Takes the nodes' interfaces over and links them in two labs. */
async function linkedBy(fabric: Fabric, { nodes, keeper }: Labs): Promise<FabricPort[]> {
  const ports: FabricPort[] = [];
  for (const [place, { link }] of nodes.entries()) {
    const device = { kind: 'packet', interface: link, kernel: true, process: keeper } as const;
    ports.push(await fabric.createPort(device, undefined, place < 2 ? 'one lab' : 'another'));
    inNetworkOf(keeper, () => changeLink(link, { up: true }));
  }
  for (const first of [0, 2]) {
    const [near, far] = await ends();
    await ports[first]!.connect(near);
    await ports[first + 1]!.connect(far);
  }
  return ports;
}

test('whatever is missing or wrong, frames reach neither another lab nor the host', {
  skip: skip || missing('tshark'),
}, async (t) => {
  const rig = await labs(t);
  const { directory, keeper, nodes, nobodyElseHears, hostHasHeardNothing } = rig;
  const [a, b, c] = nodes;
  const [port] = await linkedBy(await startFabric(t), rig);
  await ping(a, 2);
  assert.deepEqual((await port!.statistics()).path, KERNEL);
  /** All that the first node says, to known and unknown addresses, is lost. */
  const isLost = async (): Promise<void> => {
    await Promise.all([2, 3, 4].map((number) => assert.rejects(ping(a, number))));
    await nobodyElseHears();
  };

  const programOf = ({ link }: Node) => inNetworkOf(keeper, () => programAt(link))!;
  const numberOf = (node: Node) => Number(programOf(node).name.split(' ').at(-1));
  const indexOf = ({ link }: Node) => inNetworkOf(keeper, () => getLink(link).index);
  const number = numberOf(a);
  const { ways, stations } = Object.fromEntries(openMapsOf(programOf(a).id));
  t.after(() => ways!.close());
  // The map is wrong: no way.
  ways!.set(number, encodeWay('nowhere'));
  await isLost();
  // A way to an interface that never existed, or to one of the other lab: the fabric, which knows better, gets the frames.
  const [index, port3] = [indexOf(c), numberOf(c)];
  for (const isPair of [false, true])
    for (const end of [
      { index: 99_999, port: numberOf(b) },
      { index: 99_999, port: 4000 },
      { index, port: port3 },
      { index, port: numberOf(b) },
      { index, port: number },
    ]) {
      ways!.set(number, encodeWay({ ...end, isPair }));
      await ping(a, 2);
      for (const other of [3, 4]) await assert.rejects(ping(a, other));
      await nobodyElseHears();
    }
  // The addresses of a switch that does not exist, one of which is in the other lab.
  for (const [address, place] of [
    [1, { index: indexOf(a), port: number }],
    [3, { index, port: port3 }],
  ] as const) {
    const key = encodeStationKey(999, 1, 0x0200, address);
    stations!.set(key, encodeStation(key, { ...place, isPair: false, isTagged: false, heard: 0n }));
  }
  for (const way of [encodeWay({ switch: 999, vlan: 1, isTrunk: true }), Buffer.alloc(8, 0xff)]) {
    ways!.set(number, way);
    await ping(a, 2);
    for (const other of [3, 4]) await assert.rejects(ping(a, other));
    await nobodyElseHears();
  }
  // The next change writes the right one.
  await port!.impair(NOTHING);
  await ping(a, 2);
  await port!.impair({});
  await ping(a, 2);
  assert.deepEqual((await port!.statistics()).path, KERNEL);

  // The other node's interface is gone: its index leads nowhere.
  runAmongNodes(directory, 'ip', 'link', 'delete', b.link);
  await isLost();
  // The program of the first node is gone: its frames end in the namespace.
  runAmongNodes(directory, 'tc', 'qdisc', 'delete', 'dev', a.link, 'ingress');
  await isLost();
  await hostHasHeardNothing();
  await ping(c, 4);
  assert.ok(nodeLinks(directory).some(({ name }) => name === c.link));
});

for (const by of ['cable', 'switch'] as const)
  test(`killed at any step of a change of the way, the server leaves no wrong way behind (${by})`, {
    skip: skip || missing('tshark'),
  }, async (t) => {
    const rig = await labs(t);
    const { keeper, nodes, nobodyElseHears, hostHasHeardNothing } = rig;
    const [a, b, c, d] = nodes;
    for (const { link } of nodes) inNetworkOf(keeper, () => changeLink(link, { up: true }));
    // All the while both nodes speak to each other, and the first one to the other lab.
    for (const [from, to] of [
      [a, 2],
      [b, 1],
      [a, 3],
      [a, 255],
    ] as const) {
      const words = ['netns', 'exec', from.namespace.name, 'ping', '-b', '-q', '-i', '0.005', `10.99.0.${to}`];
      const speaking = spawn('ip', words, { stdio: 'ignore' });
      t.after(() => speaking.kill('SIGKILL'));
    }
    const script = fileURLToPath(new URL('./switch-over.ts', import.meta.url));
    const words = [script, `${keeper}`, by, ...nodes.map(({ link }) => link)];
    let steps = 0;
    for (let said = ''; said === ''; steps++) {
      const env = {
        ...process.env,
        NODE_OPTIONS: `--import ${new URL('./dies-at.ts', import.meta.url)}`,
        [DIES_AT]: `${steps + 1}`,
      };
      const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
      const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
      assert.equal(signal, 'SIGKILL');
      said = output;
      await nobodyElseHears();
    }
    t.diagnostic(`killed at ${steps} steps`);
    assert.ok(steps > 25);
    const [port] = await linkedBy(await startFabric(t), rig);
    await ping(a, 2);
    assert.deepEqual((await port!.statistics()).path, KERNEL);
    await nobodyElseHears();
    await hostHasHeardNothing();
    await ping(c, 4);
    assert.ok((await d.namespace.received('eth0')) > 0);
  });
