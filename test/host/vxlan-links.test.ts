// Links by VXLAN of one host alone; those of two hosts are in test/system/vxlan-links.test.ts.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { programAt } from '../../src/host/network/interface-programs.ts';
import { VXLAN_NAME } from '../../src/host/network/interfaces.ts';
import { changeLink, disableIpv6, getLink, makeBridge } from '../../src/host/network/kernel-interfaces.ts';
import { NodeNetwork, nodeNetworkUnavailable } from '../../src/host/network/node-network.ts';
import { VxlanLinks } from '../../src/host/network/vxlan-links.ts';
import { TUNNEL_BYTES } from '../../src/host/network/vxlan-programs.ts';
import { inNetworkOf, openMapsOf } from '../../src/host/system-calls.ts';
import { until } from '../fabric/peers.ts';

const PORT = 14_789;
const HOST = '127.0.0.1';
const [NAME, OTHER] = ['lwt00000001-0', 'lwt00000002-0'];
const skip = nodeNetworkUnavailable() ?? false;

/** The links of a host, of which {@link NAME} is one; undefined if its kernel has no VXLAN. */
async function linksFor(t: TestContext): Promise<{ links: VxlanLinks; network: NodeNetwork } | undefined> {
  const directory = mkdtempSync(join(tmpdir(), 'labwire-vxlan-'));
  const network = new NodeNetwork(directory, 'test', true);
  const links = new VxlanLinks(network, PORT);
  t.after(() => {
    links.stop();
    network.close();
    rmSync(directory, { recursive: true });
  });
  if (await isMade(links, NAME, 1)) return { links, network };
  t.skip('this kernel makes no VXLAN interfaces');
  return undefined;
}

/** Makes a link. The kernel needs a moment to free the UDP port of a network namespace that has ended. */
async function isMade(links: VxlanLinks, name: string, vni: number): Promise<boolean> {
  return await until(async () => {
    if ((await links.add(name, 'owner', link(vni))) !== undefined) return 'made';
    return !/another VXLAN interface of this host has UDP port 14789/.test(links.refusal(name) ?? '') && 'refused';
  }).then((what) => what === 'made');
}

function link(vni: number) {
  const used = (isUsed: boolean) => assert.equal(isUsed, false);
  return { vni, host: HOST, used, fragmented: () => {} };
}

/** The maps of all links of the host. */
function mapsOf(t: TestContext, network: NodeNetwork) {
  const maps = openMapsOf(inNetworkOf(network.open()!, () => programAt(VXLAN_NAME)!.id));
  t.after(() => {
    for (const map of maps.values()) map.close();
  });
  return { tunnels: maps.get('tunnels')!, notes: maps.get('notes')! };
}

test('a server does not take its own answer for that of another server at the same address', { skip }, async (t) => {
  const { links } = (await linksFor(t)) ?? {};
  if (links === undefined) return;
  // Longer than the first probes take.
  await sleep(3_000);
  assert.deepEqual([links.state(NAME)?.isUsed, /does not answer/.test(links.state(NAME)?.reason ?? '')], [false, true]);
});

test('a link that cannot be made leaves nothing behind, and says why', { skip }, async (t) => {
  const { links, network } = (await linksFor(t)) ?? {};
  if (links === undefined || network === undefined) return;
  const { tunnels, notes } = mapsOf(t, network);
  let full = 0;
  const fill = () => {
    for (;;) tunnels.set(1_000 + full++, Buffer.alloc(TUNNEL_BYTES));
  };
  assert.throws(fill, { code: 'E2BIG' });
  assert.equal(await links.add(OTHER, 'owner', link(2)), undefined);
  assert.equal(network.find(OTHER), undefined);
  assert.deepEqual([tunnels.get(2), notes.get(2)], [undefined, undefined]);
  assert.match(links.refusal(OTHER) ?? '', /^this host has 16384 links by VXLAN, which is the maximum$/);
  // An interface that cannot be removed does not hide the reason.
  assert.equal(await links.add('lo', 'owner', link(3)), undefined);
  assert.match(links.refusal('lo') ?? '', /the maximum/);

  tunnels.delete(1_000);
  assert.notEqual(await links.add(OTHER, 'owner', link(2)), undefined);
  await links.remove(OTHER);
  assert.deepEqual([network.find(OTHER), tunnels.get(2), notes.get(2)], [undefined, undefined, undefined]);
});

test('a link whose identifier another link has does not take its frames over', { skip }, async (t) => {
  const { links, network } = (await linksFor(t)) ?? {};
  if (links === undefined || network === undefined) return;
  const { tunnels } = mapsOf(t, network);
  const entry = tunnels.get(1);
  assert.equal(await links.add(OTHER, 'owner', link(1)), undefined);
  assert.match(links.refusal(OTHER) ?? '', /another link of this host has the VXLAN network identifier 1$/);
  await links.remove(OTHER);
  assert.equal(links.refusal(OTHER), undefined);
  assert.deepEqual(tunnels.get(1), entry);
  // The next server takes the link over with its identifier.
  const next = new VxlanLinks(network, PORT);
  t.after(() => next.stop());
  assert.equal(await next.add(OTHER, 'owner', link(1)), undefined);
  assert.notEqual(await next.add(NAME, 'owner', link(1)), undefined);
  await next.remove(NAME);
  assert.notEqual(await next.add(OTHER, 'owner', link(1)), undefined);
});

test('each link without VXLAN has its own reason, which another link does not change', { skip }, async (t) => {
  const { links, network } = (await linksFor(t)) ?? {};
  if (links === undefined || network === undefined) return;
  assert.equal(await links.add(OTHER, 'owner', { ...link(2), host: '::ffff:192.0.2.1' }), undefined);
  network.close();
  const third = 'lwt00000003-0';
  assert.ok(await isMade(links, third, 3));
  assert.match(links.refusal(OTHER) ?? '', /address of this kind/);
  assert.match(links.refusal(NAME) ?? '', /namespace of nodes' interfaces has ended/);
  assert.equal(links.refusal(third), undefined);
});

test('the server works on while the kernel removes links, and makes one again only when it is gone', {
  skip,
}, async (t) => {
  const { links, network } = (await linksFor(t)) ?? {};
  if (links === undefined || network === undefined) return;
  await links.add(OTHER, 'owner', link(2));
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const [, again] = await Promise.all([links.remove(OTHER), links.add(OTHER, 'owner', link(3)), links.remove(NAME)]);
  isOver = true;
  t.diagnostic(`${turns} turns meanwhile`);
  // On a busy host there may be few; a removal by this thread leaves none.
  assert.ok(turns > 0);
  assert.notEqual(again, undefined);
  assert.equal(network.find(NAME), undefined);
  assert.notEqual(network.find(OTHER), undefined);
  assert.notEqual(links.state(OTHER), undefined);
});

/** Starts a process with the id of one that has ended, in a network namespace of its own. */
async function reuse(t: TestContext, id: number): Promise<void> {
  const child = await until(async () => {
    writeFileSync('/proc/sys/kernel/ns_last_pid', `${id - 1}`);
    const child = spawn('unshare', ['--net', 'sleep', '60'], { stdio: 'ignore' });
    if (child.pid === id) return child;
    child.kill();
    return false;
  });
  t.after(() => child.kill());
  await until(async () => readFileSync(`/proc/${id}/comm`, 'latin1') === 'sleep\n');
}

test('no probe enters the network of a process that has the id of an ended one by chance', { skip }, async (t) => {
  const { links, network } = (await linksFor(t)) ?? {};
  if (links === undefined || network === undefined) return;
  const keeper = network.open()!;
  const { index } = inNetworkOf(keeper, () => getLink(VXLAN_NAME));
  network.close();
  await reuse(t, keeper);
  makeBridge(OTHER, keeper);
  inNetworkOf(keeper, () => {
    disableIpv6(OTHER);
    changeLink(OTHER, { up: true });
    assert.equal(getLink(OTHER).index, index);
  });
  await sleep(1_000);
  const show = ['-t', `${keeper}`, '-n', 'ip', '-json', '-s', 'link', 'show', 'dev', OTHER];
  const [{ stats64 }] = JSON.parse(execFileSync('nsenter', show, { encoding: 'utf8' }));
  assert.equal(stats64.tx.packets, 0, 'no probe, and no report of a multicast group');
});

/** Descriptors of maps and programs that this process has open. */
function openDescriptors(): number {
  const targets = readdirSync('/proc/self/fd').map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return ''; // that of the directory itself
    }
  });
  return targets.filter((target) => /bpf-(map|prog)/.test(target)).length;
}

test('maps and programs are closed when their network namespace is gone, and when the server stops', {
  skip,
}, async (t) => {
  const before = openDescriptors();
  const { links, network } = (await linksFor(t)) ?? {};
  if (links === undefined || network === undefined) return;
  const open = openDescriptors();
  assert.ok(open > before);
  for (let round = 0; round < 3; round++) {
    network.close();
    assert.ok(await isMade(links, NAME, 1));
    assert.equal(openDescriptors(), open);
  }
  links.stop();
  assert.equal(openDescriptors(), before);
  // Of each further server, too, which takes over what is there.
  const next = new VxlanLinks(network, PORT);
  await next.add(NAME, 'owner', link(1));
  assert.equal(openDescriptors(), open);
  next.stop();
  assert.equal(openDescriptors(), before);
});
