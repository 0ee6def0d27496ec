// The server itself: versions, the licence, the GNS3 VM, debug files, shutting down.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../eventually.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { LabServer } from './lab-server.ts';

test('clients learn the release, old ones too, and a different one is refused', async (t) => {
  const server = await LabServer.start(t);
  assert.deepEqual(await server.expect(200, 'GET', '/v2/version'), { version: '2.2.57', local: true });
  assert.deepEqual(await server.expect(200, 'GET', '/v1/version'), { version: '2.2.57' });
  assert.deepEqual(await server.expect(200, 'POST', '/v2/version', { version: '2.2.57' }), { version: '2.2.57' });
  assert.equal((await server.call('POST', '/v2/version', { version: '2.1.9' })).status, 409);
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

test('requests to an IPv6 address are recorded as curl takes them', async (t) => {
  const file = join(await scratchDirectory(t), 'requests');
  const server = await LabServer.start(t, { host: '::1', record: file });
  await server.project('lab');
  const text = () => readFile(file, 'utf8').catch(() => '');
  await eventually('a line', async () => (await text()).includes('\n'));
  assert.match(await text(), /^curl -X POST 'http:\/\/\[::1\]:\d+\/v2\/projects' /);
});

/** What a client with this program is told: by GET and by POST of each version. */
async function toldTo(server: LabServer, program: string | undefined): Promise<string[]> {
  const headers = program === undefined ? {} : { 'User-Agent': program };
  const answers = ['v2', 'v2/compute', 'v3'].map(async (place) => {
    const response = await server.request(`/${place}/version`, { headers });
    return ((await response.json()) as { version: string }).version;
  });
  return Promise.all(answers);
}

async function confirmed(server: LabServer, place: string, program: string, version: string): Promise<number> {
  const headers = { 'User-Agent': program, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ version });
  return (await server.request(`/${place}/version`, { method: 'POST', headers, body })).status;
}

test('a client of either family gets its own release, unless the configuration pins one', async (t) => {
  const server = await LabServer.start(t);
  assert.deepEqual(await toldTo(server, undefined), ['2.2.57', '2.2.57', '3.0.6']);
  assert.deepEqual(await toldTo(server, 'GNS3 QT Client v2.2.49'), ['2.2.49', '2.2.49', '3.0.6']);
  assert.deepEqual(await toldTo(server, 'GNS3 QT Client v3.0.4'), ['2.2.57', '2.2.57', '3.0.4']);
  assert.deepEqual(await toldTo(server, 'GNS3 QT Client v3.1.0.dev1'), ['2.2.57', '2.2.57', '3.1.0.dev1']);
  for (const other of ['curl/8.5.0', 'GNS3 QT Client v2.1.3', 'GNS3 QT Client v4.0.0', 'GNS3 QT Client v3', ''])
    assert.deepEqual(await toldTo(server, other), ['2.2.57', '2.2.57', '3.0.6'], other);
  assert.equal(await confirmed(server, 'v2', 'curl', '2.2.49'), 200);
  assert.equal(await confirmed(server, 'v2', 'curl', '3.0.6'), 409);
  assert.equal(await confirmed(server, 'v3', 'GNS3 QT Client v3.0.4', '3.0.4'), 200);
  assert.equal(await confirmed(server, 'v3', 'curl', '3.0.4'), 409);

  for (const [version, told] of [
    ['2.2.50', ['2.2.50', '2.2.50', '3.0.4']],
    ['3.0.5', ['2.2.49', '2.2.49', '3.0.5']],
    ['3.0.5, 2.2.50', ['2.2.50', '2.2.50', '3.0.5']],
  ] as const) {
    const pinned = await LabServer.start(t, { version });
    const [v2, compute] = await toldTo(pinned, 'GNS3 QT Client v2.2.49');
    const [, , v3] = await toldTo(pinned, 'GNS3 QT Client v3.0.4');
    assert.deepEqual([v2, compute, v3], told, version);
    const isPinned = version.includes('2.2');
    assert.equal(await confirmed(pinned, 'v2', 'curl', '2.2.49'), isPinned ? 409 : 200, version);
  }
});
