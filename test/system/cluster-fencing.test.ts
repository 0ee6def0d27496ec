// Clouds of a host that is cut off from its cluster: they are silent before another host runs them, and run on one host at a time.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connected, joined, noCluster, run } from './cluster-hosts.ts';
import { type Daemon, eventually } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, type NodeObject } from './lab.ts';
import { type } from './pc-typing.ts';
import { type Host, TwoHosts } from './two-daemons-network.ts';

const skip = noCluster();

/** Sends frames all the time: each line asks three times for an address that nobody has. */
const TALKS = `ip 10.0.0.1/24\n${'ping 10.0.0.77 -c 1\n'.repeat(400)}`;

/** The network outside of the labs to which both hosts are connected by an interface of the same name. */
class OutsideNetwork {
  readonly #hosts: TwoHosts;

  constructor(hosts: TwoHosts) {
    this.#hosts = hosts;
    const { controller, compute } = hosts;
    run(
      'ip',
      '-n',
      controller.name,
      'link',
      'add',
      'wire',
      'type',
      'veth',
      'peer',
      'name',
      'wire',
      'netns',
      compute.name,
    );
    for (const { name, inside } of [controller, compute]) {
      // Without IPv6 the hosts themselves are silent there.
      run(...inside, 'sysctl', '-qw', 'net.ipv6.conf.wire.disable_ipv6=1');
      run('ip', '-n', name, 'link', 'set', 'wire', 'up');
    }
  }

  /** How many frames a host has sent into it. */
  sentBy({ inside }: Host): number {
    return Number(run(...inside, 'cat', '/sys/class/net/wire/statistics/tx_packets'));
  }

  /** Cuts the other host off, or drops what passes in one direction only. */
  cut(how: 'both' | 'input' | 'output'): void {
    const { inside } = this.#hosts.compute;
    if (how === 'both') {
      this.#hosts.plug(false);
      return;
    }
    run(...inside, 'nft', 'add table inet cut');
    run(...inside, 'nft', `add chain inet cut drops { type filter hook ${how} priority 0 ; }`);
    run(...inside, 'nft', `add rule inet cut drops ${how === 'input' ? 'iifname' : 'oifname'} cable drop`);
  }

  mend(how: 'both' | 'input' | 'output'): void {
    if (how === 'both') this.#hosts.plug(true);
    else run(...this.#hosts.compute.inside, 'nft', 'delete table inet cut');
  }
}

/** A lab on the second host: a PC that talks through a cloud to the network outside. */
async function outsideLab(t: TestContext, more = '') {
  const hosts = TwoHosts.make(t);
  const outside = new OutsideNetwork(hosts);
  const settings = `[Cluster]\nfailover_seconds = 4\n${more}`;
  const { a, b, nats, compute_id } = await joined(t, hosts, settings);
  const lab = await Lab.create(a, 'Outside');
  const mapping = [{ name: 'wire', port_number: 0, type: 'ethernet', interface: 'wire' }];
  const node_type = 'cloud';
  const cloud = (await a.post(`${lab.path}/nodes`, {
    ...{ name: 'Out', node_type, compute_id, properties: { ports_mapping: mapping } },
  })) as { node_id: string; name: string };
  const pc = await lab.pc('Talks', {
    ...{ compute_id, properties: { startup_script: TALKS } },
  });
  await lab.link(pc, cloud as typeof pc);
  return { hosts, outside, a, b, nats, compute_id, lab, cloud, pc };
}

/** Clouds and NATs of b stay connected only as long as the host holds its lease. */
const fenced = ({ compute }: TwoHosts, { state }: Daemon): Promise<unknown> =>
  eventually(
    'the lease',
    () => JSON.parse(run(...compute.inside, ...executable(), 'cluster', 'status', '--json', '--state', state)),
    ({ hosts }) =>
      hosts.some((host: Record<string, unknown>) => host['name'] === 'b' && host['outside_closes_after_seconds'] === 7),
  );

test('a host that is cut off in either direction closes its clouds before another one runs them', {
  skip,
}, async (t) => {
  const { hosts, outside, a, b, compute_id, lab, cloud, pc } = await outsideLab(t, 'checkpoint_seconds = 1\n');
  const placed = async (): Promise<string> => {
    const nodes = (await lab.nodes()) as unknown as { name: string; compute_id: string }[];
    return nodes
      .map(({ name, compute_id: host }) => `${name} ${host}`)
      .sort()
      .join();
  };
  const onB = `Out ${compute_id},Talks ${compute_id}`;
  const talks = async (host: Host): Promise<void> => {
    const before = outside.sentBy(host);
    await eventually(
      `frames of ${host.name}`,
      () => outside.sentBy(host),
      (count) => count > before + 2,
    );
  };
  for (const how of ['both', 'input', 'output'] as const) {
    await fenced(hosts, b);
    await lab.start(pc);
    await talks(hosts.compute);
    const begin = performance.now();
    outside.cut(how);
    await eventually('the nodes on a', placed, (text) => text === 'Out local,Talks local');
    const moved = performance.now();
    // All the time that the other host is cut off, and after it is back, it sends nothing.
    const silent = outside.sentBy(hosts.compute);
    t.diagnostic(`${how}: moved after ${Math.round(moved - begin)} ms`);
    await talks(hosts.controller);
    outside.mend(how);
    await connected(a);
    await sleep(3_000); // two renewals
    assert.equal(outside.sentBy(hosts.compute), silent, `frames of the former copies, ${how}`);
    await talks(hosts.controller);
    assert.match(b.log, /clouds and NATs are cut off/);
    await a.post(`${lab.path}/nodes/${pc.node_id}/stop`);
    for (const { node_id } of [pc, cloud]) await a.put(`${lab.path}/nodes/${node_id}`, { compute_id });
    assert.equal(await placed(), onB);
  }
});

test('frames of a host that is cut off, and comes back, do not enter the lab', { skip }, async (t) => {
  const hosts = TwoHosts.make(t);
  const outside = new OutsideNetwork(hosts);
  const { inside } = hosts.compute;
  const settings = '[Cluster]\nfailover_seconds = 2\ncheckpoint_seconds = 1\n';
  const { a, b, compute_id } = await joined(t, hosts, settings);
  const lab = await Lab.create(a, 'Apart');
  const pc = await lab.pc('Talks', { compute_id, properties: { startup_script: TALKS } });
  const here = await lab.pc('Here');
  const link = `${lab.path}/links/${(await lab.link(here, pc)).link_id}`;
  await lab.start(here);
  let count = 0;
  /** Whether a frame of the PC arrives meanwhile. */
  const heard = async (meanwhile: () => Promise<unknown>): Promise<boolean> => {
    count += 1;
    const body = { capture_file_name: `${count}.pcap` };
    const { capture_file_path: file } = (await a.post(`${link}/start_capture`, body)) as { capture_file_path: string };
    await meanwhile();
    await a.post(`${link}/stop_capture`);
    return readFileSync(file).includes(Buffer.of(10, 0, 0, 77));
  };
  const place = async (): Promise<string> => {
    const { compute_id: host, status } = (await lab.node(pc)) as unknown as { compute_id: string; status: string };
    return `${status} on ${host}`;
  };
  // What b sends arrives while b hears nothing; or nothing arrives until it is back.
  for (const how of ['input', 'both'] as const) {
    await lab.start(pc);
    await eventually('frames of the PC', () => heard(() => sleep(1_000)));
    outside.cut(how);
    await eventually('the PC on a', place, (text) => text === 'started on local');
    await a.post(`${lab.path}/nodes/${pc.node_id}/stop`);
    const address = `${b.url}/v2/compute/projects/${lab.project.project_id}/vpcs/nodes/${pc.node_id}`;
    assert.match(run(...inside, 'curl', '--silent', address), /"status": ?"started"/, 'its former copy sends');
    const isHeard = await heard(async () => {
      await sleep(2_000);
      outside.mend(how);
      await connected(a);
      await sleep(2_000);
    });
    assert.equal(isHeard, false, how);
    await a.put(`${lab.path}/nodes/${pc.node_id}`, { compute_id });
  }
});

test('clouds stay connected over a short absence, and are connected again after a long one of NATS', {
  skip,
}, async (t) => {
  const { hosts, outside, a, b, nats, lab, pc } = await outsideLab(t);
  await lab.start(pc);
  const sends = (frames: number) => {
    const before = outside.sentBy(hosts.compute);
    return eventually(
      'frames',
      () => outside.sentBy(hosts.compute),
      (count) => count > before + frames,
    );
  };
  await sends(2);
  hosts.plug(false);
  await sleep(2_000);
  hosts.plug(true);
  await sends(8);
  assert.doesNotMatch(b.log, /cut off/);
  await nats.stop();
  await eventually(
    'the cut',
    () => b.log,
    (log) => /clouds and NATs are cut off/.test(log),
  );
  const silent = outside.sentBy(hosts.compute);
  await sleep(3_000);
  assert.equal(outside.sentBy(hosts.compute), silent);
  await nats.start();
  await connected(a);
  await sends(2);
  assert.match(b.log, /clouds and NATs reach the outside of labs again/);
});

test('the NAT of a host that dies runs on another one, where its PC gets an address again', { skip }, async (t) => {
  const hosts = TwoHosts.make(t);
  const settings = '[Cluster]\nfailover_seconds = 4\ncheckpoint_seconds = 1\n';
  const { a, b, compute_id } = await joined(t, hosts, settings);
  const lab = await Lab.create(a, 'Behind');
  const pc = await lab.pc('PC', { compute_id });
  const gate = (await a.post(`${lab.path}/nodes`, { name: 'Gate', node_type: 'nat', compute_id })) as NodeObject;
  await lab.link(pc, gate);
  await lab.start(pc);
  const lease = async (): Promise<boolean> => /DORA IP 192\.168\.122\.\d+/.test(await type(lab, pc, 'ip dhcp'));
  assert.ok(await lease());
  const tables = (): string => run(...hosts.controller.inside, 'nft', 'list', 'tables');
  assert.doesNotMatch(tables(), /labwire_nat/);
  await fenced(hosts, b);
  await b.kill();
  await eventually(
    'both on a',
    async () => (await lab.nodes()) as unknown as { compute_id: string; status: string }[],
    (nodes) => nodes.every(({ compute_id: host, status }) => host === 'local' && status === 'started'),
  );
  assert.match(tables(), /labwire_nat/);
  await eventually('an address', lease);
});
