// Links that the kernel forwards between containers of the real program.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kernelLinksUnavailable } from '../../src/host/network/kernel-link-support.ts';
import type { TestEngine } from '../compute/docker-engine.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { Lab, type LinkObject, type NodeObject } from './lab.ts';
import { container, engineFor, withEngine } from './machines.ts';
import { openAgain } from './survivors.ts';

const skip = kernelLinksUnavailable() ?? false;
/** Frames of a ping: each has a header of Ethernet and IPv4, one of ICMP, and data. */
const FRAME_BYTES = 14 + 20 + 8 + 56;

interface Arrived {
  frames: number;
  bytes: number;
}

interface Started {
  daemon: Daemon;
  lab: Lab;
  link: LinkObject;
  /** Sends so many requests from the first container to the second, each of which is answered. */
  ping(count: number): void;
}

/** Two containers that know each other's address, so that they send nothing but what they are told to. */
async function startedPair(t: Parameters<typeof engineFor>[0], engine: TestEngine): Promise<Started> {
  const daemon = await startDaemon(t, withEngine(engine));
  const lab = await Lab.create(daemon);
  const mac = (number: number) => `02:00:5e:00:53:0${number}`;
  const inside = (own: number, other: number) =>
    [
      'echo 1 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6',
      `ip link set eth0 address ${mac(own)}`,
      `ip addr add 10.1.0.${own}/24 dev eth0`,
      `arp -s 10.1.0.${other} ${mac(other)}`,
      'exec /bin/sh',
    ].join('; ');
  const nodes: NodeObject[] = [];
  for (const [own, other] of [
    [1, 2],
    [2, 1],
  ] as const)
    nodes.push(await container(lab, `C${own}`, { start_command: `/bin/busybox sh -c '${inside(own, other)}'` }));
  const link = await lab.link(nodes[0]!, nodes[1]!);
  await daemon.post(`${lab.path}/nodes/start`);
  const id = engine.docker('ps', '-q', '--filter', 'name=GNS3.C1.').trim();
  const ping = (count: number) => {
    const words = ['ping', '-c', `${count}`, '-i', '0.05', '-W', '2', '10.1.0.2'];
    const said = engine.docker('exec', id, '/gns3/bin/busybox', ...words);
    assert.match(said, new RegExp(`${count} packets transmitted, ${count} packets received`));
  };
  return { daemon, lab, link, ping };
}

test('a link of containers passes frames while the daemon is killed, and its counters have them afterwards', {
  skip,
}, async (t) => {
  const engine = await engineFor(t);
  if (typeof engine === 'string') return t.skip(engine);
  const { daemon, lab, link, ping } = await startedPair(t, engine);
  const path = `${lab.path}/links/${link.link_id}/statistics`;
  /** What has arrived at each container: frames and bytes. */
  const arrived = async (): Promise<Arrived[]> => {
    const { ends } = await daemon.get(path);
    return ends.map(
      ({ statistics }: { statistics: { incoming: { delivered: Arrived } } }) => statistics.incoming.delivered,
    );
  };
  const pings = (count: number): Arrived[] => [1, 2].map(() => ({ frames: count, bytes: count * FRAME_BYTES }));
  ping(3);
  await daemon.post(`${path}/reset`);
  ping(5);
  assert.deepEqual(await arrived(), pings(5));
  await daemon.kill();
  ping(7);
  await daemon.start();
  await openAgain(lab);
  assert.deepEqual(await arrived(), pings(5 + 7));
  ping(2);
  assert.deepEqual(await arrived(), pings(5 + 7 + 2));
  await daemon.kill();
  ping(1);
  await daemon.start();
  await openAgain(lab);
  assert.deepEqual(await arrived(), pings(5 + 7 + 2 + 1));
});
