// The server itself: versions, the licence, the GNS3 VM, debug files, shutting down.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { LabServer } from './lab-server.ts';

test('clients learn the release, old ones too, and a different one is refused', async (t) => {
  const server = await LabServer.start(t);
  assert.deepEqual(await server.expect(200, 'GET', '/v2/version'), { version: '2.2.57', local: true });
  assert.deepEqual(await server.expect(200, 'GET', '/v1/version'), { version: '2.2.57' });
  assert.deepEqual(await server.expect(200, 'POST', '/v2/version', { version: '2.2.57' }), { version: '2.2.57' });
  assert.equal((await server.call('POST', '/v2/version', { version: '2.2.56' })).status, 409);
});

test('the licence is kept over a restart; the GNS3 VM cannot be switched on and says why', async (t) => {
  const server = await LabServer.start(t);
  await server.expect(201, 'PUT', '/v2/iou_license', { iourc_content: '[license]\nlab = 0;' });
  const refused = await server.call('PUT', '/v2/gns3vm', { enable: true });
  assert.equal(refused.status, 409);
  assert.match(refused.json.message, /no GNS3 VM/);
  await server.expect(201, 'PUT', '/v2/gns3vm', { headless: true });
  await server.stop();
  await server.start();
  assert.deepEqual(await server.expect(200, 'GET', '/v2/iou_license'), {
    iourc_content: '[license]\nlab = 0;',
    license_check: true,
  });
  assert.equal((await server.expect(200, 'GET', '/v2/gns3vm')).headless, true);
});

test('debug files say what there is, in local mode only, and hold no password', async (t) => {
  const server = await LabServer.start(t);
  const compute = {
    compute_id: 'far',
    protocol: 'http',
    host: '127.0.0.1',
    port: 9,
    user: 'u',
    password: 'very-secret',
  };
  await server.expect(201, 'POST', '/v2/computes', compute);
  const project = await server.project('named lab');
  await server.hub(project, 'H');
  await server.expect(201, 'POST', '/v2/debug');
  const directory = join(server.state, 'debug');
  assert.deepEqual((await readdir(directory)).sort(), ['compute_far.txt', 'compute_local.txt', 'controller.txt']);
  const text = await readFile(join(directory, 'controller.txt'), 'utf8');
  assert.match(text, /named lab .* opened, 1 nodes, 0 links\n {4}ethernet_hub H on local: started/);
  const far = await readFile(join(directory, 'compute_far.txt'), 'utf8');
  assert.match(far, /sent no report/);
  assert.doesNotMatch(text + far + (await readFile(join(directory, 'compute_local.txt'), 'utf8')), /very-secret/);
  const closed = await LabServer.start(t, { local: 'false' });
  assert.equal((await closed.call('POST', '/v2/debug')).status, 403);
  assert.equal((await closed.call('POST', '/v2/shutdown')).status, 403);
});
