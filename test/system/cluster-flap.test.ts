// A host of a cluster that is cut off again and again, for about as long as others wait until they run its nodes.
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connected, joined, noCluster, run } from './cluster-hosts.ts';
import { eventually } from './daemon.ts';
import { Lab, type NodeObject } from './lab.ts';
import { reaches } from './pc-typing.ts';
import { TwoHosts } from './two-daemons-network.ts';

/** Its lease ends after 5 s, and its nodes are moved 2 s later. */
const CUT_MS = [4_500, 6_500, 7_000, 7_300, 7_600, 8_500];

test('a host that comes back while others begin to run its nodes leaves each node on one host, and linked', {
  skip: noCluster(),
}, async (t) => {
  const hosts = TwoHosts.make(t);
  const { inside } = hosts.compute;
  const { a, b, compute_id } = await joined(t, hosts, '[Cluster]\nfailover_seconds = 2\ncheckpoint_seconds = 1\n');
  const lab = await Lab.create(a, 'Flaps');
  const here = await lab.pc('Here', { properties: { startup_script: 'ip 10.0.0.9/24\n' } });
  const hub = await lab.hub('Hub');
  await lab.link(here, hub);
  await lab.start(here);
  const pcs: NodeObject[] = [];
  for (let number = 1; number <= 5; number += 1) {
    const startup_script = `ip 10.0.0.${number}/24\n`;
    const pc = await lab.pc(`PC${number}`, { compute_id, properties: { startup_script } });
    await lab.link(pc, hub, number);
    await lab.start(pc);
    pcs.push(pc);
  }
  type Placed = { name: string; compute_id: string; status: string };
  const placed = async (): Promise<Placed[]> =>
    ((await lab.nodes()) as unknown as Placed[]).filter(({ name }) => name.startsWith('PC'));
  const onB = (): string[] =>
    pcs.flatMap(({ name, node_id }) => {
      const address = `${b.url}/v2/compute/projects/${lab.project.project_id}/vpcs/nodes/${node_id}`;
      return run(...inside, 'curl', '--silent', address).includes(`"${node_id}"`) ? [name] : [];
    });
  for (const milliseconds of CUT_MS) {
    hosts.plug(false);
    await sleep(milliseconds);
    hosts.plug(true);
    await connected(a);
    await eventually(
      `each node on one host after ${milliseconds} ms`,
      async () => ({
        nodes: (await placed()).map(({ name, compute_id: on, status }) => ({ name, on, status })),
        there: onB().sort(),
      }),
      ({ nodes, there }) => {
        const listed = nodes.filter(({ on }) => on === compute_id).map(({ name }) => name);
        return nodes.every(({ status }) => status === 'started') && listed.sort().join() === there.join();
      },
    );
    const moved = (await placed()).filter((node) => node.compute_id !== compute_id);
    t.diagnostic(`cut off for ${milliseconds} ms: ${moved.length} of ${pcs.length} nodes moved`);
    for (const number of pcs.keys()) await reaches(lab, here, `10.0.0.${number + 1}`, '-c 1 -w 500');
    for (const { name } of moved) {
      const { node_id } = pcs.find((pc) => pc.name === name) as NodeObject;
      await a.post(`${lab.path}/nodes/${node_id}/stop`);
      await a.put(`${lab.path}/nodes/${node_id}`, { compute_id });
      await a.post(`${lab.path}/nodes/${node_id}/start`);
    }
  }
});
