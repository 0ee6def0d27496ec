import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { takeBaseConfigs } from '../../src/controller/nodes/base-configs.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { zip } from './archives-zip.ts';
import { LabServer } from './lab-server.ts';

const SECRET = 'set secret of-the-host';

interface Place {
  configs: string;
  /** A file outside of the configs folder. */
  secret: string;
}

async function place(t: TestContext): Promise<Place> {
  const top = await scratchDirectory(t);
  const configs = join(top, 'configs');
  await mkdir(join(configs, 'below'), { recursive: true });
  await writeFile(join(top, 'secret.txt'), SECRET);
  await writeFile(join(configs, 'mine.txt'), 'mine');
  await writeFile(join(configs, 'below/other.txt'), 'other');
  return { configs, secret: join(top, 'secret.txt') };
}

async function taken(name: string, { configs }: Place, local = false): Promise<string | undefined> {
  const properties = { startup_config: name, ram: 1 };
  const texts = await takeBaseConfigs(properties, { directory: configs, local });
  assert.deepEqual(properties, { ram: 1 });
  return texts['startup_config_content'];
}

test('a base configuration is named by its way below the configs folder, or by its whole path there', async (t) => {
  const it = await place(t);
  assert.equal(await taken('mine.txt', it), 'mine');
  assert.equal(await taken('below/../below/other.txt', it), 'other');
  assert.equal(await taken(join(it.configs, 'below/other.txt'), it), 'other');
  assert.equal(await taken('none.txt', it), undefined);
});

test('a base configuration outside of the configs folder is left out, but in local mode an absolute path is taken', async (t) => {
  const it = await place(t);
  await symlink(it.secret, join(it.configs, 'link.txt'));
  await symlink('..', join(it.configs, 'up'));
  const climbing = ['../secret.txt', 'below/../../secret.txt', 'link.txt', 'up/secret.txt'];
  const absolute = [it.secret, '/etc/hostname', '/proc/self/environ', join(it.configs, '../secret.txt')];
  for (const name of [...climbing, ...absolute, 'below', '.', '..', '/', 'a\0b', 'x'.repeat(5_000)]) {
    assert.equal(await taken(name, it), undefined, name);
  }
  assert.equal(await taken(it.secret, it, true), SECRET);
  for (const name of climbing) assert.equal(await taken(name, it, true), undefined, name);
});

test('pipes, devices and files without an end are left out at once, in local mode, too', async (t) => {
  const it = await place(t);
  const pipe = join(it.configs, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await writeFile(join(it.configs, 'sparse'), '');
  await truncate(join(it.configs, 'sparse'), 2 ** 40);
  // More of them than Node has threads for files.
  const names = [...Array.from({ length: 8 }, () => 'pipe'), 'sparse'];
  assert.deepEqual(await Promise.all(names.map((name) => taken(name, it))), names.fill(undefined as never));
  for (const name of [pipe, '/dev/zero', '/dev/stdin', '/proc/kmsg', join(it.configs, 'sparse')]) {
    assert.equal(await taken(name, it, true), undefined, name);
  }
  assert.equal(await taken('mine.txt', it), 'mine');
});

const PC = { name: 'PC', node_type: 'vpcs', compute_id: 'local' };

async function scriptOf(server: LabServer, projectId: string, nodeId: string): Promise<string> {
  const answer = await server.call('GET', `/v2/projects/${projectId}/files/project-files/vpcs/${nodeId}/startup.vpc`);
  return answer.status === 200 ? String(answer.json) : '';
}

test('no request, template or archive brings a file of the host into a project', async (t) => {
  const server = await LabServer.start(t, { local: 'false', 'VPCS.engine': 'built-in' });
  const secret = join(server.state, 'secret.txt');
  await writeFile(secret, SECRET);
  await writeFile(join(server.state, 'configs/known.txt'), 'set known');
  const project = await server.project();
  for (const [file, wanted] of [
    [secret, ''],
    ['../secret.txt', ''],
    ['known.txt', 'set known'],
  ] as const) {
    const properties = { base_script_file: file };
    const nodes = `/v2/projects/${project.project_id}/nodes`;
    const node = await server.expect(201, 'POST', nodes, { ...PC, properties });
    assert.match(await scriptOf(server, project.project_id, node.node_id), new RegExp(`^${wanted}`));
    assert.doesNotMatch(await scriptOf(server, project.project_id, node.node_id), /secret/);
    const settings = { name: 'T', template_type: 'vpcs', compute_id: 'local', base_script_file: file };
    const template = await server.expect(201, 'POST', '/v2/templates', settings);
    const path = `/v2/projects/${project.project_id}/templates/${template.template_id}`;
    const { node_id } = await server.expect(201, 'POST', path, { x: 0, y: 0 });
    assert.doesNotMatch(await scriptOf(server, project.project_id, node_id), /secret/);

    const id = randomUUID();
    const stored = { ...PC, node_id: randomUUID(), properties };
    const topology = { nodes: [stored], links: [], drawings: [], computes: [] };
    const document = { name: 'A', project_id: id, revision: 9, type: 'topology', version: '2.2.57', topology };
    const body = new Uint8Array(zip([{ name: 'project.gns3', data: JSON.stringify(document) }]));
    const imported = await server.request(`/v2/projects/${id}/import?name=A-${id}`, { method: 'POST', body });
    assert.equal(imported.status, 201);
    await server.expect(201, 'POST', `/v2/projects/${id}/open`);
    const [opened] = await server.expect(200, 'GET', `/v2/projects/${id}/nodes`);
    assert.doesNotMatch(await scriptOf(server, id, opened.node_id), /secret/);
  }
});
