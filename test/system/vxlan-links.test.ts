// Links between two hosts by VXLAN, which the kernels of both forward. A switch on the first host joins clouds of
// both, on bridges with a namespace behind each.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { nodeNetworkUnavailable } from '../../src/host/network/node-network.ts';
import { ip, Namespace, transfer, uniqueName } from '../fabric/namespaces.ts';
import { nodeLinks } from '../node-network.ts';
import { judge, OtherLoad } from '../other-load.ts';
import { joined, noCluster } from './cluster-hosts.ts';
import { DAEMON_HOMES, eventually } from './daemon.ts';
import { Lab, type LinkObject, missing, type NodeObject } from './lab.ts';
import { reaches } from './pc-typing.ts';
import { type Host, noNamespaces, TwoHosts } from './two-daemons-network.ts';
import { register, startPair } from './two-daemons-pair.ts';

/** The default. */
const PORT = 14_789;
const skip = missing('ip', 'ping') || noNamespaces() || (nodeNetworkUnavailable() ?? noVxlan() ?? false);
const MEGABYTE = 1 << 20;
const LOCAL = { compute_id: 'local', name: 'Local', protocol: 'http', port: 3080 };

function noVxlan(): string | undefined {
  const words = ['-n', 'ip', 'link', 'add', 'probe', 'type', 'vxlan', 'external', 'dstport', `${PORT}`];
  try {
    execFileSync('unshare', words, { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'this kernel makes no VXLAN interfaces';
  }
}

interface Tunnel {
  by: 'vxlan' | 'udp';
  reason: string | null;
  path_mtu: number;
  max_frame: number;
  fragmented: number;
  too_long: number;
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

interface Setup {
  /** Of section `[Server]` of both. */
  settings?: string;
  /** Prepares the hosts before the lab is made. */
  prepare?: (hosts: TwoHosts) => Promise<void>;
  /** Whether the hosts know each other by IPv6 addresses. */
  isIPv6?: boolean;
}

const ADDRESSES_6 = { controller: 'fd00:10::1', compute: 'fd00:10::2' } as const;

async function across(t: TestContext, { settings = '', prepare = async () => {}, isIPv6 = false }: Setup = {}) {
  const pair = await startPair(t, settings, isIPv6 ? ['--host', '::'] : []);
  await prepare(pair.hosts);
  for (const role of isIPv6 ? (['controller', 'compute'] as const) : [])
    await ip('-n', pair.hosts[role].name, 'addr', 'add', `${ADDRESSES_6[role]}/64`, 'dev', 'cable', 'nodad');
  const { controller, compute, hosts } = pair;
  const here = await bridgeIn(t, hosts.controller, '198.51.100.1/24');
  const there = await bridgeIn(t, hosts.compute, '198.51.100.2/24');
  if (isIPv6) await controller.put('/v2/computes/local', { ...LOCAL, host: ADDRESSES_6.controller });
  await register(pair, isIPv6 ? { host: ADDRESSES_6.compute } : {});
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
  const tunnelsOf = async (): Promise<Tunnel[]> => (await ends()).map(({ tunnel }: { tunnel: Tunnel }) => tunnel);
  /** Waits until both ends send frames by VXLAN, or by UDP. */
  const sentBy = (wanted: Tunnel['by']) =>
    eventually(wanted, async () => (await tunnelsOf()).every(({ by }) => by === wanted));
  const tunnels = () =>
    [controller, compute].flatMap(({ state }) => nodeLinks(state).filter(({ name }) => name.startsWith('lwt')));
  return { ...pair, here, there, lab, link, path, ping, replied, ends, paths, tunnelsOf, sentBy, tunnels };
}

test('a link between two hosts is forwarded by their kernels, counted, and loses nothing when it is impaired', {
  skip,
}, async (t) => {
  const { controller, compute, lab, here, there, link, path, ping, ends, paths, tunnelsOf, sentBy, tunnels, hosts } =
    await across(t);
  await sentBy('vxlan');
  assert.deepEqual(await paths(), ['kernel', 'kernel']);
  for (const tunnel of await tunnelsOf()) assert.deepEqual([tunnel.reason, tunnel.max_frame], [null, 1464]);
  await transfer(here, there, '198.51.100.2', 16 * MEGABYTE);
  const [near, far] = await ends();
  assert.ok(near.outgoing.delivered.bytes > 16 * MEGABYTE);
  assert.ok(near.outgoing.delivered.bytes / near.outgoing.delivered.frames < 1515, 'frames as they are on the wire');
  assert.ok(far.incoming.delivered.bytes > 16 * MEGABYTE);
  const [before] = await tunnelsOf();
  await ping('-c', '3', '-s', '1472');
  await ping('-c', '3', '-s', '1422');
  const [after] = await tunnelsOf();
  assert.equal(after!.fragmented - before!.fragmented, 3);

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
  // Another one at the same ports works at once.
  const { link_id }: LinkObject = await controller.post(`${lab.path}/links`, { nodes: link.nodes });
  await ping('-c', '1', '-W', '1');
  await eventually('vxlan again', async () => {
    const { ends: both } = await controller.get(`${lab.path}/links/${link_id}/statistics`);
    return both.every(({ statistics }: { statistics: { tunnel: Tunnel } }) => statistics.tunnel.by === 'vxlan');
  });
  await ping('-c', '3');
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
  const { controller, compute, lab, ping, replied, paths, sentBy, tunnels } = await across(t);
  await sentBy('vxlan');
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

test('a link goes by UDP, and says why, if VXLAN is off', { skip }, async (t) => {
  const { ping, paths, tunnelsOf, tunnels } = await across(t, { settings: 'vxlan_port = 0\n' });
  assert.deepEqual(await paths(), ['fabric', 'fabric']);
  for (const { by, reason } of await tunnelsOf()) {
    assert.equal(by, 'udp');
    assert.match(reason ?? '', /vxlan_port/);
  }
  await ping('-c', '3');
  assert.deepEqual(tunnels(), []);
});

test('a link goes by UDP, and says why, if another VXLAN interface has the port', { skip }, async (t) => {
  const { ping, paths, tunnelsOf } = await across(t, {
    prepare: async ({ compute: { name } }) => {
      await ip('-n', name, 'link', 'add', 'other', 'type', 'vxlan', 'id', '5', 'dstport', `${PORT}`);
      await ip('-n', name, 'link', 'set', 'other', 'up');
    },
  });
  await ping('-c', '30');
  assert.deepEqual(await paths(), ['fabric', 'fabric']);
  const [near, far] = await tunnelsOf();
  assert.deepEqual([near?.by, far?.by], ['udp', 'udp']);
  assert.match(near?.reason ?? '', /does not answer on UDP port 14789/);
  assert.match(far?.reason ?? '', /lwv00000000-0: .*EADDRINUSE/);
});

/** Drops packets to the UDP port that come to the host, or lets them pass again. */
async function block({ name }: Host, isBlocked: boolean): Promise<void> {
  const rules = isBlocked
    ? `table inet block { chain input { type filter hook input priority 0; udp dport ${PORT} drop; }; }`
    : 'delete table inet block';
  await ip('netns', 'exec', name, 'nft', rules);
}

test('a link goes by UDP while a firewall drops VXLAN, and by VXLAN otherwise', {
  skip: skip || missing('nft'),
}, async (t) => {
  const { hosts, here, ping, paths, tunnelsOf, sentBy } = await across(t, {
    prepare: ({ compute }) => block(compute, true),
  });
  await ping('-c', '120');
  for (const { by, reason } of await tunnelsOf()) {
    assert.equal(by, 'udp');
    assert.match(reason ?? '', /does not answer on UDP port 14789: a firewall/);
  }
  await block(hosts.compute, false);
  await sentBy('vxlan');
  assert.deepEqual(await paths(), ['kernel', 'kernel']);

  // Seconds without an answer: the longest time between two of them, 20 ms apart.
  const load = new OtherLoad(DAEMON_HOMES);
  const flow = here.run('ping', '-D', '-i', '0.02', '-w', '12', '198.51.100.2');
  await block(hosts.controller, true);
  await sentBy('udp');
  for (const { reason } of await tunnelsOf())
    assert.match(reason ?? '', /does not answer on UDP port 14789: a firewall/);
  await block(hosts.controller, false);
  await sentBy('vxlan');
  for (const { reason } of await tunnelsOf()) assert.equal(reason, null);
  const times = Array.from((await flow).matchAll(/^\[([\d.]+)\].*icmp_seq/gm), ([, time]) => Number(time));
  const gaps = times.slice(1).map((time, index) => time - times[index]!);
  const [longest = 0, second = 0] = gaps.sort((a, b) => b - a);
  t.diagnostic(`longest times without an answer: ${longest.toFixed(2)} s, ${second.toFixed(2)} s`);
  await judge(t, { what: 'the probes show that frames are lost', value: longest, limit: 4, unit: 's', load });
  await judge(t, { what: 'frames pass again on the way back to VXLAN', value: second, limit: 1, unit: 's', load });
});

test('a link between hosts with IPv6 addresses goes by VXLAN until it has a frame that does not fit', {
  skip,
}, async (t) => {
  const { here, there, ping, paths, tunnelsOf, sentBy, hosts } = await across(t, { isIPv6: true });
  const setMtu = async (mtu: number) => {
    for (const { name } of [hosts.controller, hosts.compute])
      await ip('-n', name, 'link', 'set', 'cable', 'mtu', `${mtu}`);
    const longest = mtu - 56;
    await eventually('the path MTU', async () => (await tunnelsOf()).every(({ max_frame }) => max_frame === longest));
  };
  await sentBy('vxlan');
  assert.deepEqual(await paths(), ['kernel', 'kernel']);
  await setMtu(1600);
  await transfer(here, there, '198.51.100.2', 16 * MEGABYTE);
  for (const { by, too_long } of await tunnelsOf()) assert.deepEqual([by, too_long], ['vxlan', 0]);
  await setMtu(1500);
  await ping('-c', '3', '-s', '1402');
  await sentBy('vxlan');
  // The kernel drops the first ones: it does not fragment them.
  await ping('-c', '200', '-s', '1472').catch(() => {});
  await sentBy('udp');
  for (const { reason, too_long } of await tunnelsOf()) {
    assert.match(reason ?? '', /frames that VXLAN with IPv6 cannot carry.*1444/);
    assert.ok(too_long > 0);
  }
  await ping('-c', '3', '-s', '1472');
  await transfer(here, there, '198.51.100.2', 16 * MEGABYTE);
});

test('a link between hosts of a cluster goes by VXLAN', { skip: skip || noCluster() }, async (t) => {
  const { a: controller, compute_id } = await joined(t, TwoHosts.make(t), '');
  const lab = await Lab.create(controller, 'Cluster');
  const switches: NodeObject[] = [];
  const pcs: NodeObject[] = [];
  for (const [index, host] of ['local', compute_id].entries()) {
    const middle = { name: `Switch${index}`, node_type: 'ethernet_switch', compute_id: host };
    switches.push(await controller.post(`${lab.path}/nodes`, middle));
    const properties = { startup_script: `ip 10.0.0.${index + 1}/24\n` };
    pcs.push(await lab.pc(`PC${index}`, { compute_id: host, properties }));
    await lab.link(pcs[index]!, switches[index]!, 2);
  }
  const { link_id } = await lab.link(switches[0]!, switches[1]!, 1);
  const path = `${lab.path}/links/${link_id}/statistics`;
  await eventually('vxlan', async () => {
    const { ends } = await controller.get(path);
    return ends.every(({ statistics }: { statistics: { tunnel: Tunnel } }) => statistics.tunnel.by === 'vxlan');
  });
  await controller.post(`${lab.path}/nodes/start`);
  await reaches(lab, pcs[0]!, '10.0.0.2');
});
