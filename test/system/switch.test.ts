// Virtual PCs at the ports of an Ethernet switch, in the real executable: who is in one VLAN hears the other, and nobody else does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDaemon } from './daemon.ts';
import { Lab, missing, type NodeObject } from './lab.ts';
import { reaches, type } from './pc-typing.ts';

interface MacRow {
  vlan: number;
  mac_address: string;
  port_number: number;
  port_name: string;
}

test('PCs of one VLAN ping each other across a trunk, those of another do not, and the tables tell where they are', {
  skip: missing('vpcs'),
}, async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  const access = (port_number: number, vlan: number) => ({
    name: `Ethernet${port_number}`,
    port_number,
    type: 'access',
    vlan,
  });
  const trunk = { name: 'Ethernet2', port_number: 2, type: 'dot1q', vlan: 1 };
  const ports_mapping = [access(0, 10), access(1, 20), trunk];
  const make = (name: string): Promise<NodeObject> =>
    daemon.post(`${lab.path}/nodes`, {
      name,
      node_type: 'ethernet_switch',
      compute_id: 'local',
      properties: { ports_mapping },
    });
  const switches = [await make('SW1'), await make('SW2')];
  const end = ({ node_id }: NodeObject) => ({ node_id, adapter_number: 0, port_number: 2 });
  await daemon.post(`${lab.path}/links`, { nodes: switches.map(end) });
  const pcs: NodeObject[] = [];
  for (const [index, at] of switches.entries()) {
    for (const port of [0, 1]) {
      const startup_script = `ip 10.0.0.${2 * index + port + 1}/24\n`;
      const pc = await lab.pc(`PC${2 * index + port + 1}`, { properties: { startup_script } });
      await lab.link(pc, at, port);
      pcs.push(pc);
    }
  }
  await daemon.post(`${lab.path}/nodes/start`);
  const [one, two, three, four] = pcs as [NodeObject, NodeObject, NodeObject, NodeObject];
  await Promise.all([reaches(lab, one, '10.0.0.3'), reaches(lab, two, '10.0.0.4')]);
  const others = [type(lab, three, 'ping 10.0.0.2 -c 1'), type(lab, four, 'ping 10.0.0.1 -c 1')];
  for (const answer of await Promise.all(others)) assert.match(answer, /not reachable/);

  const path = `${lab.path}/nodes/${switches[0]!.node_id}/mac_table`;
  const table: MacRow[] = await daemon.get(path);
  assert.deepEqual(table.map(({ vlan, port_number, port_name }) => [vlan, port_number, port_name]).sort(), [
    [10, 0, 'Ethernet0'],
    [10, 2, 'Ethernet2'],
    [20, 1, 'Ethernet1'],
    [20, 2, 'Ethernet2'],
  ]);
  await daemon.delete(path);
  assert.deepEqual(await daemon.get(path), []);

  // Both ends of the second PCs' way in VLAN 10: now everybody hears everybody.
  for (const { node_id } of switches) {
    await daemon.put(`${lab.path}/nodes/${node_id}`, {
      properties: { ports_mapping: [access(0, 10), access(1, 10), trunk] },
    });
  }
  await reaches(lab, one, '10.0.0.4');
});
