// The checks of a lab on a server: each gets its time, however many wait for the same console.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProjectObject } from '../../src/api/objects.ts';
import { runChecks } from '../../src/client/checks/run.ts';
import { Scene } from '../../src/client/checks/scene.ts';
import { Session } from '../../src/client/frame/session.ts';
import { parseChecks } from '../../src/client/labfile/read.ts';
import { LabServer } from '../controller/lab-server.ts';

test('checks that wait for their turn at a console lose none of their time', async (t) => {
  const { server, path, project } = await LabServer.withLab(t, {}, { 'VPCS.engine': 'built-in' });
  await server.expect(201, 'POST', `${path}/nodes`, { name: 'PC1', node_type: 'vpcs', compute_id: 'local' });
  await server.call('POST', `${path}/nodes/start`);
  const url = `http://127.0.0.1:${server.port}`;
  const environment = { server: url, lab: undefined, context: undefined, contexts: '', variables: {}, sockets: [] };
  const session = await Session.open({}, environment);
  const lines = 'checks:\n  - console: {node: "PC1", send: "show version", expect: "none{1..6}", timeout: 3}\n';
  const checks = await parseChecks(lines, 'checks.yaml', ['PC1']);
  const results = await runChecks(new Scene(session, project as unknown as ProjectObject), checks, () => {});
  for (const { looks, seconds, seen } of results) assert.ok(looks > 1 && seconds < 6, `${looks}, ${seconds}: ${seen}`);
  assert.equal(results.length, 6);
});
