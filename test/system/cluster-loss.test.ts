// The end of a host of a cluster: its nodes run elsewhere.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { amidChanges } from '../amid-changes.ts';
import { connected, copiedAgain, joined, noCluster, run } from './cluster-hosts.ts';
import { eventually } from './daemon.ts';
import { Lab } from './lab.ts';
import { reaches, type } from './pc-typing.ts';
import { TwoHosts } from './two-daemons-network.ts';

const skip = noCluster();

test('nodes of a host that dies, or is cut off, run on another one with their files, and never on both', {
  skip,
}, async (t) => {
  const hosts = TwoHosts.make(t);
  const settings = '[Cluster]\nfailover_seconds = 2\ncheckpoint_seconds = 1\n';
  const { inside } = hosts.compute;
  const { a, b, compute_id } = await joined(t, hosts, settings);
  const lab = await Lab.create(a, 'Survives');
  const there = (name: string, members: object = {}) => lab.pc(name, { compute_id, ...members });
  const [one, two, idle] = [await there('One'), await there('Two'), await there('Idle')];
  const here = await lab.pc('Here', { properties: { startup_script: 'ip 10.0.0.9/24\n' } });
  const node_type = 'ethernet_switch';
  const joint = (await a.post(`${lab.path}/nodes`, { name: 'SW', node_type, compute_id })) as typeof one;
  const cloud = (await a.post(`${lab.path}/nodes`, { name: 'Out', node_type: 'cloud', compute_id })) as typeof one;
  for (const [port, pc] of [one, two, here].entries()) await lab.link(pc, joint, port);
  for (const pc of [one, two, here]) await lab.start(pc);
  for (const [pc, address] of [
    [one, '10.0.0.1'],
    [two, '10.0.0.2'],
  ] as const) {
    await type(lab, pc, `ip ${address}/24`);
    await type(lab, pc, 'save');
  }
  const passes = async (): Promise<void> => {
    for (const pc of [here, two]) await reaches(lab, pc, '10.0.0.1');
  };
  await passes();
  const copies = join(a.state, 'checkpoints', String(lab.project.project_id));
  const copied = (pc: typeof one): string => {
    const folder = join(copies, pc.node_id);
    const texts = () => readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    return existsSync(folder) ? amidChanges(texts).join() : '';
  };
  for (const [pc, address] of [
    [one, 'ip 10.0.0.1'],
    [two, 'ip 10.0.0.2'],
  ] as const)
    await eventually(
      `the copy of ${pc.name}`,
      () => copied(pc),
      (text) => text.includes(address),
    );
  // A disk-like file is left out, and the copy says so.
  const large = `${b.url}/v2/compute/projects/${lab.project.project_id}/files/project-files/vpcs/${idle.node_id}/large`;
  run(...inside, 'sh', '-c', `head -c 17000000 /dev/zero | curl --silent --fail --data-binary @- ${large}`);
  const manifest = (): { files: object[]; missing: number } | undefined => {
    const file = join(copies, idle.node_id, 'manifest.json');
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  };
  await eventually('a copy without it', manifest, (found) => found?.missing === 1);
  assert.deepEqual(manifest()?.files, []);
  const placed = async (): Promise<Record<string, [compute: string, status: string]>> => {
    const nodes = (await lab.nodes()) as unknown as { name: string; compute_id: string; status: string }[];
    return Object.fromEntries(nodes.map((node) => [node.name, [node.compute_id, node.status]]));
  };
  /** Nodes that the server of b has. */
  const onB = (): string[] =>
    [one, two, idle].flatMap(({ name, node_id }) => {
      const address = `${b.url}/v2/compute/projects/${lab.project.project_id}/vpcs/nodes/${node_id}`;
      return run(...inside, 'curl', '--silent', address).includes(`"${node_id}"`) ? [name] : [];
    });
  const settled = {
    One: ['local', 'started'],
    Two: ['local', 'started'],
    Idle: ['local', 'stopped'],
    Out: ['local', 'started'],
  };
  const away = async (): Promise<void> => {
    await eventually('the nodes on a', placed, (nodes) =>
      Object.entries(settled).every(([name, state]) => isDeepStrictEqual(nodes[name], state)),
    );
    await passes();
  };
  await b.kill();
  await away();
  await b.start();
  await connected(a);
  await eventually('the former nodes gone', onB, (names) => names.length === 0);
  await passes();

  // Back to b, which is then cut off but lives: its nodes run on there until it returns.
  for (const pc of [one, two, idle, joint, cloud]) {
    await a.post(`${lab.path}/nodes/${pc.node_id}/stop`);
    await a.put(`${lab.path}/nodes/${pc.node_id}`, { compute_id });
  }
  for (const pc of [one, two]) await lab.start(pc);
  await passes();
  await copiedAgain(a);
  hosts.plug(false);
  await away();
  assert.deepEqual(onB().sort(), ['Idle', 'One', 'Two']);
  hosts.plug(true);
  await connected(a);
  await eventually('the former nodes gone', onB, (names) => names.length === 0);
  await away();
  assert.match(a.log, /a host is gone; others run its nodes host=b/);
  // Nodes that are on this host need no copy.
  await eventually(
    'the copies gone',
    () => readdirSync(copies).join(),
    (names) => names === cloud.node_id || names === '',
  );
});
