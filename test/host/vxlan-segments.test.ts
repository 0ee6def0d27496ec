// TCP super-frames over a link between two hosts by VXLAN become packets that need no fragments.
import assert from 'node:assert/strict';
import { closeSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { REDIRECT, SKB } from '../../src/host/network/bpf-frames.ts';
import { nodeNetworkUnavailable } from '../../src/host/network/node-network.ts';
import {
  decodeNote,
  departureProgram,
  encodeTunnel,
  NOTE_BYTES,
  remoteOf,
  TUNNEL_BYTES,
} from '../../src/host/network/vxlan-programs.ts';
import { BpfMap, loadTrafficProgram, runTrafficProgram } from '../../src/host/system-calls.ts';
import { cannotMakeInterfaces, Namespace, transfer, uniqueName } from '../fabric/namespaces.ts';
import { type Joint, joinHosts } from '../fabric/vxlan-hosts.ts';

const skip = cannotMakeInterfaces || (nodeNetworkUnavailable() ?? false);
const BYTES = 32 << 20;
/** Now and then TCP sends a single full frame, which goes in fragments, a jumbo frame in seven. Without shorter segments there are 46,000. */
const MOST_FRAGMENTS = 2_000;
const TARGETS = ['10.96.0.2', 'fd00:96::2'] as const;

/** Tags all that an interface sends by bpf_skb_vlan_push, for kernels without VLAN interfaces. It has no IPv6 then. */
const TAG = `
  import { attachProgram } from '${new URL('../../src/host/network/interface-programs.ts', import.meta.url)}';
  const program = { title: 'test', label: 'test' };
  const attach = (hook, code) => attachProgram(process.argv[1], { ...program, hook, instructions: Buffer.from(code, 'hex') });
  const PASS = 'b7000000000000009500000000000000';
  attach('egress', 'b702000081000000' + 'b703000062000000' + '8500000012000000' + PASS);
  attach('ingress', '8500000013000000' + PASS);
`;

interface Setup {
  way: Joint['way'];
  nodeMtu?: number;
  isTagged?: boolean;
}

/** Two containers with a link between their hosts. */
async function containers(t: TestContext, { way, nodeMtu = 1500, isTagged = false }: Setup) {
  const links: [string, string] = [uniqueName(), uniqueName()];
  const { near } = await joinHosts(t, links, { way, mtu: 1500 });
  const both: Namespace[] = [];
  for (const [index, link] of links.entries()) {
    const container = await Namespace.create(t);
    await container.adopt(link, `10.96.0.${index + 1}/24`);
    await container.ip('address', 'add', `fd00:96::${index + 1}/64`, 'dev', link, 'nodad');
    await container.ip('link', 'set', link, 'mtu', `${nodeMtu}`);
    if (isTagged) await container.run(process.execPath, '--input-type=module', '-e', TAG, link);
    both.push(container);
  }
  const [from, to] = both as [Namespace, Namespace];
  await from.run('ping', '-c', '2', '-W', '5', TARGETS[0]);
  /** Fragments that the sender's host has made. */
  const fragments = async () =>
    Number(/IpFragCreates\s+(\d+)/.exec(await near.run('nstat', '-asz', 'IpFragCreates'))?.[1]);
  return { from, to, fragments };
}

for (const [title, setup] of Object.entries<Setup>({
  'of containers': { way: 'vxlan' },
  'with a VLAN tag': { way: 'vxlan', isTagged: true },
  'made of jumbo frames': { way: 'vxlan', nodeMtu: 9500 },
  'from the fabric, without a count of their frames,': { way: 'fabric' },
})) {
  test(`TCP super-frames ${title} go to another host without fragments`, { skip }, async (t) => {
    const { from, to, fragments } = await containers(t, setup);
    for (const target of setup.isTagged ? TARGETS.slice(0, 1) : TARGETS) {
      const before = await fragments();
      await transfer(from, to, target, BYTES);
      const made = (await fragments()) - before;
      t.diagnostic(`${target}: ${made} fragments`);
      assert.ok(made <= MOST_FRAGMENTS);
    }
    const before = await fragments();
    await from.run('ping', '-c', '3', '-i', '0.01', '-s', '1472', TARGETS[0]);
    assert.equal((await fragments()) - before, 6, 'frames that are not TCP');
  });
}

test('frames that are too long for the path are counted as on the wire', { skip }, (t) => {
  const remote = remoteOf(1, '192.0.2.1')!;
  const maps = {
    tunnels: BpfMap.create('tunnels', 'hash', TUNNEL_BYTES, 1),
    notes: BpfMap.create('notes', 'hash', NOTE_BYTES, 1),
  };
  maps.tunnels.set(remote.vni, encodeTunnel(remote, 1, 1464));
  maps.notes.set(remote.vni, Buffer.alloc(NOTE_BYTES));
  const descriptors = { tunnels: maps.tunnels.descriptor, notes: maps.notes.descriptor };
  const program = loadTrafficProgram('departure', departureProgram(remote, descriptors, 1));
  t.after(() => {
    closeSync(program);
    for (const map of Object.values(maps)) map.close();
  });
  let before = 0;
  const counted = (bytes: number, context: Record<number, number> = {}) => {
    assert.equal(runTrafficProgram(program, Buffer.alloc(bytes), context).answer, REDIRECT);
    const { unfit } = decodeNote(maps.notes.get(remote.vni)!);
    const more = unfit - before;
    before = unfit;
    return more;
  };
  assert.deepEqual([counted(1464), counted(1465)], [0, 1]);
  // In a test run the kernel takes no super-frame for TCP.
  for (const segments of [0, 2]) {
    const superFrame = (segmentBytes: number) =>
      counted(66 + segmentBytes + 700, {
        [SKB.gsoSize]: segmentBytes,
        [SKB.segments]: segments,
        [SKB.wireLength]: 66 + segmentBytes + 66 + 700,
      });
    assert.deepEqual([superFrame(1398), superFrame(1399)], [0, 2]);
  }
});
