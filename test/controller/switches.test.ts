import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LabServer } from './lab-server.ts';

const BUILT_IN = {
  ethernet_switch: '1966b864-93e7-32d5-965f-001384eec461',
  frame_relay_switch: 'dd0f6f3a-ba58-3249-81cb-a1dd88407a47',
  atm_switch: 'aaa764e2-b383-300f-8a0e-3493bbfdb7d2',
};

test('the built-in templates of switches make switches', async (t) => {
  const { server, path } = await LabServer.withLab(t);
  for (const id of Object.values(BUILT_IN))
    await server.expect(201, 'POST', `${path}/templates/${id}`, { x: 1, y: 2, compute_id: 'local' });
  const nodes = await server.expect(200, 'GET', `${path}/nodes`);
  assert.deepEqual(
    nodes.map(({ node_type, status, name, ports }: Record<string, unknown[]>) => [
      node_type,
      status,
      name,
      ports!.length,
    ]),
    [
      ['ethernet_switch', 'started', 'Switch1', 8],
      ['frame_relay_switch', 'started', 'FRSW1', 0],
      ['atm_switch', 'started', 'ATMSW1', 0],
    ],
  );
});

test('ports of Frame Relay and ATM switches follow their mappings; they are joined with each other, and not with Ethernet', async (t) => {
  const { server, project, path } = await LabServer.withLab(t);
  const make = (name: string, node_type: string, mappings: object) =>
    server.expect(201, 'POST', `${path}/nodes`, { name, node_type, compute_id: 'local', properties: { mappings } });
  const relay = await make('FR', 'frame_relay_switch', { '1:101': '10:202', '10:203': '2:300' });
  const atm = await make('ATM', 'atm_switch', { '3:1:2': '4:3:4' });
  const numbers = ({ ports }: { ports: { port_number: number }[] }) => ports.map(({ port_number }) => port_number);
  assert.deepEqual(
    [numbers(relay), numbers(atm)],
    [
      [1, 2, 10],
      [3, 4],
    ],
  );
  const link = await server.link(project, [relay, 10], [atm, 3]);
  assert.equal(link.link_type, 'serial');
  const hub = await server.hub(project, 'Hub');
  const end = (node: { node_id: string }, port_number: number) => ({
    node_id: node.node_id,
    adapter_number: 0,
    port_number,
  });
  const refused = await server.expect(409, 'POST', `${path}/links`, { nodes: [end(hub, 0), end(relay, 1)] });
  assert.match(refused.message, /serial/);
  const changed = await server.expect(200, 'PUT', `${path}/nodes/${atm.node_id}`, {
    properties: { mappings: { '3:1:2': '9:3:4' } },
  });
  assert.deepEqual(numbers(changed), [3, 9]);
});

test('the table of addresses is asked of switches alone', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  const path = `/v2/projects/${project.project_id}/nodes`;
  const body = { name: 'SW', node_type: 'ethernet_switch', compute_id: 'local' };
  const node = await server.expect(201, 'POST', path, body);
  assert.deepEqual(await server.expect(200, 'GET', `${path}/${node.node_id}/mac_table`), []);
  await server.expect(204, 'DELETE', `${path}/${node.node_id}/mac_table`);
  const hub = await server.hub(project, 'Hub');
  const refused = await server.expect(409, 'GET', `${path}/${hub.node_id}/mac_table`);
  assert.match(refused.message, /Hub has no table of MAC addresses/);
});

test('a node without a directory says so when its files are asked for', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  const hub = await server.hub(project, 'Hub');
  const { message } = await server.expect(
    404,
    'GET',
    `/v2/projects/${project.project_id}/nodes/${hub.node_id}/disk_use`,
  );
  assert.match(message, /^Hub has no directory: .* type ethernet_hub\.$/);
});
