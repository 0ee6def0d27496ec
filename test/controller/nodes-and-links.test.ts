// Nodes and links through the whole server: what is refused leaves nothing behind, what is accepted stays.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { type Answer, LabServer } from './lab-server.ts';

const UNKNOWN = '11111111-2222-4333-8444-555555555555';

test('a node that its compute refuses leaves no node and no name behind', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  const nodes = `/v2/projects/${project.project_id}/nodes`;
  const body = { name: 'A', node_type: 'ethernet_hub', compute_id: 'local' };
  for (const [more, status] of [
    [{ properties: { nonsense: 1 } }, 400],
    [{ node_type: 'qemu' }, 409],
    [{ compute_id: 'nowhere' }, 404],
    [{ status: 'started' }, 400],
    [{ ports: [] }, 400],
    [{ project_id: UNKNOWN }, 400],
    [{ x: '1' }, 400],
  ] as const) {
    assert.equal((await server.call('POST', nodes, { ...body, ...more })).status, status, JSON.stringify(more));
  }
  assert.deepEqual(await server.expect(200, 'GET', nodes), []);
  assert.equal((await server.hub(project, 'A')).name, 'A');
});

test('an update that is refused changes nothing, and does not come back with the next one', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  const hub = await server.hub(project, 'A');
  const path = `/v2/projects/${project.project_id}/nodes/${hub.node_id}`;
  const refused = await server.call('PUT', path, { name: 'B', x: 5, properties: { nonsense: 1 } });
  assert.equal(refused.status, 400);
  assert.deepEqual(await server.expect(200, 'GET', path), hub);
  assert.equal((await server.expect(200, 'PUT', path, { y: 3 })).name, 'A');
  assert.equal((await server.hub(project, 'B')).name, 'B');
  for (const member of ['width', 'status', 'node_directory', 'console_host']) {
    const value = member === 'width' ? 1 : member === 'status' ? 'stopped' : 'x';
    assert.equal((await server.call('PUT', path, { [member]: value })).status, 400, member);
  }
});

test('a rename moves the label along', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  const hub = await server.hub(project, 'A', { label: { text: 'x', x: 3, y: 4, style: 's' } });
  const path = `/v2/projects/${project.project_id}/nodes/${hub.node_id}`;
  const renamed = await server.expect(200, 'PUT', path, { name: 'New' });
  assert.deepEqual(renamed.label, { text: 'New', x: null, y: 4, style: 's' });
});

test('a locked node stays, an unlocked one goes with its links', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  const [one, two] = [await server.hub(project, 'A', { locked: true }), await server.hub(project, 'B')];
  const link = await server.link(project, [one, 0], [two, 0]);
  const path = `/v2/projects/${project.project_id}`;
  assert.equal((await server.call('DELETE', `${path}/nodes/${one.node_id}`)).status, 409);
  await server.expect(200, 'PUT', `${path}/nodes/${one.node_id}`, { locked: false });
  assert.equal((await server.expect(200, 'GET', `${path}/nodes/${one.node_id}/links`)).length, 1);
  await server.expect(204, 'DELETE', `${path}/nodes/${one.node_id}`);
  assert.equal((await server.call('GET', `${path}/links/${link.link_id}`)).status, 404);
  const again = await server.hub(project, 'A');
  await server.link(project, [again, 0], [two, 0]);
});

test('a link that a check refuses leaves no link, no NIO and no port behind', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  const [one, two, three] = [
    await server.hub(project, 'A'),
    await server.hub(project, 'B'),
    await server.hub(project, 'C'),
  ];
  const path = `/v2/projects/${project.project_id}/links`;
  await server.link(project, [one, 0], [two, 0]);
  const ports = async (): Promise<number[]> => (await server.expect(200, 'GET', '/v2/compute/network/ports')).udp_ports;
  const before = await ports();
  const end = (node: { node_id: string }, port: number): object => ({
    node_id: node.node_id,
    adapter_number: 0,
    port_number: port,
  });
  for (const [nodes, status] of [
    [[end({ node_id: UNKNOWN }, 0), end(two, 1)], 404],
    [[end(three, 0), end(two, 99)], 404],
    [[end(three, 0), end(two, 0)], 409],
    [[end(three, 0), end(three, 1)], 409],
  ] as const) {
    assert.equal((await server.call('POST', path, { nodes })).status, status, JSON.stringify(nodes));
  }
  assert.equal((await server.call('POST', path, {})).status, 400);
  assert.equal((await server.expect(200, 'GET', path)).length, 1);
  assert.deepEqual(await ports(), before);
  // A port that another device's NIO occupies on the compute is refused there, and the first end is given back.
  const nio = `/v2/compute/projects/${project.project_id}/ethernet_hub/nodes/${three.node_id}/adapters/0/ports/5/nio`;
  await server.expect(201, 'POST', nio, { type: 'nio_udp', lport: 29_990, rhost: '127.0.0.1', rport: 29_991 });
  assert.equal((await server.call('POST', path, { nodes: [end(two, 3), end(three, 5)] })).status, 409);
  await server.link(project, [two, 3], [three, 3]);
});

test('filters are whole, idle ones are left out, bad values are refused by name', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  const [one, two] = [await server.hub(project, 'A'), await server.hub(project, 'B')];
  const link = await server.link(project, [one, 0], [two, 0]);
  const path = `/v2/projects/${project.project_id}/links/${link.link_id}`;
  const put = (filters: unknown): Promise<Answer> => server.call('PUT', path, { filters });
  const cases: [given: object, kept: object][] = [
    [{ delay: [10, 2], packet_loss: [0] }, { delay: [10, 2] }],
    [
      { delay: ['20'], corrupt: [5.9] },
      { delay: [20], corrupt: [5] },
    ],
    [{ bpf: ['\n icmp \n'] }, { bpf: ['icmp'] }],
    [{ frequency_drop: [-1] }, { frequency_drop: [-1] }],
    [{ packet_loss: [], bpf: [''] }, {}],
    [{ latency: [10] }, { latency: [10] }],
  ];
  for (const [given, kept] of cases) {
    const answer = await put(given);
    assert.deepEqual([answer.status, answer.json.filters], [201, kept], JSON.stringify(given));
  }
  for (const [given, message] of [
    [{ delay: [40_000] }, /filters\.delay: Latency must be from 0 to 32767 ms/],
    [{ packet_loss: [101] }, /filters\.packet_loss/],
    [{ frequency_drop: [-2] }, /filters\.frequency_drop/],
    [{ corrupt: ['x'] }, /filters\.corrupt: Chance must be a number/],
    [{ delay: [1, 2, 3] }, /filters\.delay: takes/],
    [{ delay: 5 }, /filters\.delay: must be a list/],
    [{ bpf: [7] }, /filters\.bpf: must be text/],
  ] as const) {
    const answer = await put(given);
    assert.equal(answer.status, 400, JSON.stringify(given));
    assert.match(answer.json.message, message);
  }
  assert.deepEqual((await server.expect(200, 'GET', path)).filters, { latency: [10] });
});

test('a console port that another program took is named when the node is started', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  const body = { name: 'PC', node_type: 'vpcs', compute_id: 'local' };
  const created = await server.expect(201, 'POST', `/v2/projects/${project.project_id}/nodes`, body);
  const thief = createServer();
  await new Promise<void>((resolve) => thief.listen(created.console, '127.0.0.1', resolve));
  t.after(() => thief.close());
  const path = `/v2/projects/${project.project_id}/nodes/${created.node_id}`;
  const refused = await server.call('POST', `${path}/start`);
  assert.equal(refused.status, 409);
  assert.match(refused.json.message, new RegExp(String(created.console)));
  assert.equal((await server.expect(200, 'GET', path)).status, 'stopped');
});
