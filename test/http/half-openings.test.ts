// Half openings of WebSockets on every such route of a whole server: each is refused, and no client of a console and no listener of
// notifications stays behind.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { WebSocket } from 'ws';
import { consoleClients } from '../../src/consoles/console.ts';
import { LabServer } from '../controller/lab-server.ts';
import { eventually } from '../eventually.ts';
import { HALF_OPENINGS, opening, sendAndReset, statusOf } from './raw-client.ts';

test('half an opening leaves nothing on consoles and notifications, however often it is tried', async (t) => {
  const { server, project } = await LabServer.withLab(t, {}, { 'VPCS.engine': 'built-in', auth: 'false' });
  const nodes = `/v2/projects/${project.project_id}/nodes`;
  const node = await server.expect(201, 'POST', nodes, { name: 'PC1', node_type: 'vpcs', compute_id: 'local' });
  await server.call('POST', `${nodes}/${node.node_id}/start`);
  const routes = [
    '/v2/notifications/ws',
    `/v2/projects/${project.project_id}/notifications/ws`,
    '/v2/compute/notifications/ws',
    `${nodes}/${node.node_id}/console/ws`,
    `/v2/compute/projects/${project.project_id}/vpcs/nodes/${node.node_id}/console/ws`,
    '/v3/notifications/ws',
    `/v3/projects/${project.project_id}/notifications/ws`,
    `${nodes}/${node.node_id}/console/ws`.replace('/v2/', '/v3/'),
  ];
  const listeners = async (): Promise<string[]> => {
    const text = await (await server.request('/metrics')).text();
    return text.split('\n').filter((line) => line.startsWith('labwire_listeners{'));
  };
  const before = { clients: consoleClients(), listeners: await listeners() };
  for (const route of routes) {
    for (const [name, changes] of HALF_OPENINGS) {
      const status = await statusOf(server.port, opening(route, changes));
      // Release 3.0.6 has no such address for plain requests.
      const isRefused = status === 400 || (status === 404 && route.startsWith('/v3/'));
      assert.ok(isRefused, `${status}: ${name} at ${route}`);
    }
  }
  assert.deepEqual({ clients: consoleClients(), listeners: await listeners() }, before);
  // A whole one, whose client leaves at once or a little later.
  for (const route of routes) {
    for (let times = 0; times < 10; times += 1) await sendAndReset(server.port, opening(route));
    const client = new WebSocket(`ws://127.0.0.1:${server.port}${route}`);
    await once(client, 'open');
    client.close();
    await once(client, 'close');
  }
  const left = async () => ({ clients: consoleClients(), listeners: await listeners() });
  await eventually('as few as before', left, (now) => isDeepStrictEqual(now, before));
});
