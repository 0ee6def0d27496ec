import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMilliseconds } from '../bench/measure.ts';
import { eventually, startDaemon } from './daemon.ts';
import { Lab, type NodeObject } from './lab.ts';
import { UdpPeer } from './udp-peer.ts';

/** An Ethernet broadcast. */
const SPARK = Buffer.concat([Buffer.alloc(6, 0xff), Buffer.from([2, 0, 0, 0, 0, 1, 0x88, 0xb5]), Buffer.alloc(46)]);

for (const kind of ['ethernet_hub', 'ethernet_switch']) {
  test(`a loop of two nodes of type ${kind} leaves the server answering, and ends with the link`, async (t) => {
    const daemon = await startDaemon(t);
    const lab = await Lab.create(daemon);
    const make = (name: string) =>
      daemon.post(`${lab.path}/nodes`, { name, node_type: kind, compute_id: 'local' }) as Promise<NodeObject>;
    const [left, right] = [await make('Left'), await make('Right')];
    const join = (port: number) => {
      const end = (node: NodeObject) => ({ node_id: node.node_id, adapter_number: 0, port_number: port });
      return daemon.post(`${lab.path}/links`, { nodes: [end(left!), end(right!)] });
    };
    await join(0);
    const loop = await join(1);
    const peer = await UdpPeer.at(t, lab, kind, left!, 2);
    const compute = `/v2/compute/projects/${lab.project.project_id}/${kind}/nodes/${left!.node_id}`;

    peer.send(SPARK);
    await eventually('the storm', () => peer.heard.length > 1000);
    const renamed = await daemon.put(`${lab.path}/nodes/${left!.node_id}`, { name: 'Renamed' });
    assert.equal(renamed.name, 'Renamed');
    assert.equal((await daemon.ask('GET', compute)).status, 200);

    await daemon.delete(`${lab.path}/links/${loop.link_id}`);
    await eventually(
      'the processor to be at rest',
      async () => {
        const before = cpuMilliseconds(daemon.pid);
        await sleep(250);
        return cpuMilliseconds(daemon.pid) - before;
      },
      (used) => used < 50,
      20_000,
    );
    const { length } = peer.heard;
    peer.send(SPARK);
    await sleep(250);
    assert.equal(peer.heard.length, length);
  });
}
