// Links between two hosts by VXLAN, which the kernels of both forward. A switch on the first host joins clouds of
// both, on bridges with a namespace behind each.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { nodeNetworkUnavailable } from '../../src/host/network/node-network.ts';
import { ip, Namespace, transfer, uniqueName } from '../fabric/namespaces.ts';
import { nodeLinks } from '../node-network.ts';
import { eventually } from './daemon.ts';
import { Lab, type LinkObject, missing, type NodeObject } from './lab.ts';
import { type Host, noNamespaces } from './two-daemons-network.ts';
import { register, startPair } from './two-daemons-pair.ts';

const PORT = 4789;
const skip = missing('ip', 'ping') || noNamespaces() || (nodeNetworkUnavailable() ?? noVxlan() ?? false);
const MEGABYTE = 1 << 20;

function noVxlan(): string | undefined {
  const words = ['-n', 'ip', 'link', 'add', 'probe', 'type', 'vxlan', 'external', 'dstport', `${PORT}`];
  try {
    execFileSync('unshare', words, { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'this kernel makes no VXLAN interfaces';
  }
}

/** A bridge of the host with a namespace behind it. */
async function bridgeIn(t: TestContext, { name: host }: Host, address: string): Promise<Namespace> {
  const guest = await Namespace.create(t);
  await guest.run('sysctl', '-qw', 'net.ipv6.conf.default.disable_ipv6=1');
  await ip('netns', 'exec', host, 'sysctl', '-qw', 'net.ipv6.conf.default.disable_ipv6=1');
  const inside = uniqueName();
  await ip('-n', host, 'link', 'add', 'bridge0', 'type', 'bridge');
  await ip('-n', host, 'link', 'add', 'port', 'type', 'veth', 'peer', 'name', inside, 'netns', guest.name);
  await ip('-n', host, 'link', 'set', 'port', 'master', 'bridge0', 'up');
  await ip('-n', host, 'link', 'set', 'bridge0', 'up');
  await guest.ip('link', 'set', 'lo', 'up');
  await guest.ip('address', 'add', address, 'dev', inside);
  await guest.ip('link', 'set', inside, 'up');
  return guest;
}

async function across(t: TestContext, settings = `vxlan_port = ${PORT}\n`) {
  const pair = await startPair(t, settings);
  const { controller, compute, hosts } = pair;
  const here = await bridgeIn(t, hosts.controller, '198.51.100.1/24');
  const there = await bridgeIn(t, hosts.compute, '198.51.100.2/24');
  await register(pair);
  const lab = await Lab.create(controller, 'Across');
  const cloud = (name: string, compute_id: string): Promise<NodeObject> =>
    controller.post(`${lab.path}/nodes`, {
      ...{ name, node_type: 'cloud', compute_id },
      properties: { ports_mapping: [{ name: 'bridge0', port_number: 0, type: 'ethernet', interface: 'bridge0' }] },
    });
  const middle = { name: 'Switch', node_type: 'ethernet_switch', compute_id: 'local' };
  const between: NodeObject = await controller.post(`${lab.path}/nodes`, middle);
  await lab.link(await cloud('Here', 'local'), between);
  const link: LinkObject = await lab.link(await cloud('There', 'other'), between, 1);
  const path = `${lab.path}/links/${link.link_id}`;
  const ping = (...words: string[]) => here.run('ping', '-i', '0.02', '-W', '10', ...words, '198.51.100.2');
  const replied = () =>
    ping('-c', '1', '-W', '1').then(
      () => true,
      () => false,
    );
  await eventually('the first answer', replied);
  /** At the switch, and at the cloud of the other host. */
  const ends = async () =>
    (await controller.get(`${path}/statistics`)).ends.toReversed().map(
      // biome-ignore lint/suspicious/noExplicitAny: looked into member by member
      ({ statistics }: { statistics: any }) => statistics,
    );
  const paths = async () => (await ends()).map(({ path: { by } }: { path: { by: string } }) => by);
  const tunnels = () =>
    [controller, compute].flatMap(({ state }) => nodeLinks(state).filter(({ name }) => name.startsWith('lwt')));
  return { ...pair, here, there, lab, path, ping, replied, ends, paths, tunnels };
}

test('a link between two hosts is forwarded by their kernels, counted, and loses nothing when it is impaired', {
  skip,
}, async (t) => {
  const { controller, compute, here, there, path, ping, ends, paths, tunnels, hosts } = await across(t);
  assert.deepEqual(await paths(), ['kernel', 'kernel']);
  await transfer(here, there, '198.51.100.2', 16 * MEGABYTE);
  const [near, far] = await ends();
  assert.ok(near.outgoing.delivered.bytes > 16 * MEGABYTE);
  assert.ok(near.outgoing.delivered.bytes / near.outgoing.delivered.frames < 1515, 'frames as they are on the wire');
  assert.ok(far.incoming.delivered.bytes > 16 * MEGABYTE);
  await ping('-c', '3', '-s', '1472');

  const flow = ping('-c', '300');
  for (const filters of [{ delay: [1, 0] }, {}, { delay: [1, 0] }, {}]) {
    await controller.put(path, { filters });
    assert.equal((await paths()).includes('fabric'), 'delay' in filters);
  }
  const said = await flow;
  assert.match(said, /300 packets transmitted, 300 received, 0% packet loss/);
  assert.doesNotMatch(said, /duplicate/);
  await controller.put(path, { suspend: true });
  await assert.rejects(ping('-c', '1', '-W', '1'));
  await controller.put(path, { suspend: false });
  await ping('-c', '1');

  await t.test('a packet from another address, or of another network, does not enter', async () => {
    const foreign = hosts.addresses.controller.replace(/1$/, '9');
    await ip('-n', hosts.controller.name, 'address', 'add', `${foreign}/24`, 'dev', 'cable');
    const [vni] = nodeLinks(compute.state).flatMap(({ name, alias }) =>
      name.startsWith('lwt') ? [Number(alias.split(' ').at(-1))] : [],
    );
    const send = (from: string, network: number) =>
      ip(
        'netns',
        'exec',
        hosts.controller.name,
        process.execPath,
        '-e',
        SEND,
        from,
        hosts.addresses.compute,
        `${network}`,
      );
    const arrived = async () => (await ends())[1].incoming.delivered.bytes;
    const before = await arrived();
    for (let count = 0; count < 5; count++) {
      await send(foreign, vni!);
      await send(hosts.addresses.controller, vni! ^ 1);
    }
    await send(hosts.addresses.controller, vni!);
    await eventually('the one that may', async () => (await arrived()) - before >= FRAME_BYTES);
    assert.ok((await arrived()) - before < 2 * FRAME_BYTES);
  });

  assert.equal(tunnels().length, 2);
  await controller.delete(path);
  assert.deepEqual(tunnels(), []);
});

const FRAME_BYTES = 1000;
/** Sends a broadcast frame by VXLAN. */
const SEND = `
  const [from, to, network] = process.argv.slice(1);
  const packet = Buffer.alloc(8 + ${FRAME_BYTES});
  packet[0] = 8;
  packet.writeUInt32BE(network * 256, 4);
  packet.fill(255, 8, 14);
  packet.write('02005e00530988b5', 14, 'hex');
  const socket = require('node:dgram').createSocket('udp4');
  socket.bind(0, from, () => socket.send(packet, ${PORT}, to, () => socket.close()));
`;

test('a link between two hosts passes frames while both servers are killed, and afterwards', { skip }, async (t) => {
  const { controller, compute, lab, ping, replied, paths, tunnels } = await across(t);
  await Promise.all([controller.kill(), compute.kill()]);
  await ping('-c', '20');
  await Promise.all([controller.start(), compute.start()]);
  await eventually('the connection', async () => (await controller.get('/v2/computes/other')).connected);
  await controller.post(`${lab.path}/open`);
  await eventually(
    'the kernel',
    async () => (await replied()) && (await paths()).every((by: string) => by === 'kernel'),
  );
  await ping('-c', '3');
  assert.equal(tunnels().length, 2);
});

test('a link goes by UDP unless both hosts have VXLAN', { skip }, async (t) => {
  const { ping, paths, tunnels } = await across(t, '');
  assert.deepEqual(await paths(), ['fabric', 'fabric']);
  await ping('-c', '3');
  assert.deepEqual(tunnels(), []);
});
