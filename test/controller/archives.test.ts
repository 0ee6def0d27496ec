// Projects that travel: what an archive holds, what comes back from it, and what is refused.
import assert from 'node:assert/strict';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { ZipFile } from 'yazl';
import type { Body } from '../body.ts';
import { noVpcs } from '../compute/support.ts';
import { seededIntegers } from '../seeded.ts';
import { scratchFileSystem } from '../store/scratch.ts';
import { LINK, testedByUnzip, tree, unzipped, type ZipEntry, zip } from './archives-zip.ts';
import { LabServer, until } from './lab-server.ts';

async function exported(server: LabServer, project: Body, query = ''): Promise<Buffer> {
  const response = await server.request(`/v2/projects/${project.project_id}/export${query}`);
  assert.equal(response.status, 200, query);
  assert.equal(response.headers.get('content-type'), 'application/gns3project');
  return Buffer.from(await response.arrayBuffer());
}

async function imported(
  server: LabServer,
  archive: Buffer,
  { id = randomUUID() as string, query = '', status = 201 }: { id?: string; query?: string; status?: number } = {},
): Promise<Body> {
  const path = `/v2/projects/${id}/import${query}`;
  const response = await server.request(path, { method: 'POST', body: new Uint8Array(archive) });
  const answer = (await response.json()) as Body;
  assert.equal(response.status, status, JSON.stringify(answer));
  return answer;
}

function topology(more: object = {}, contents: object = {}): Body {
  return {
    type: 'topology',
    revision: 9,
    version: '2.2.57',
    project_id: randomUUID(),
    name: 'travelling',
    ...more,
    topology: { computes: [], drawings: [], links: [], nodes: [], ...contents },
  };
}

function projectFile(more: object = {}, contents: object = {}): ZipEntry {
  return { name: 'project.gns3', data: JSON.stringify(topology(more, contents)) };
}

test('a lab with virtual PCs comes back from its archive, with everything in it, as another lab', async (t) => {
  if (noVpcs) return t.skip(noVpcs);
  const { server, project, path } = await LabServer.withLab(t, {
    name: 'Lab Ü',
    variables: [{ name: 'A', value: '1' }],
    zoom: 70,
  });
  const properties = { startup_script: 'set pcname PC1\nip 10.0.0.1/24\n' };
  const pc = await server.expect(201, 'POST', `${path}/nodes`, {
    name: 'PC1',
    node_type: 'vpcs',
    compute_id: 'local',
    properties,
  });
  const hub = await server.hub(project, 'H1', { x: 5 });
  await server.link(project, [pc, 0], [hub, 2], { link_style: { color: '#ff0000' } });
  await server.expect(201, 'POST', `${path}/drawings`, { svg: '<svg height="1"></svg>', x: 3 });
  await writeFile(join(project.path, 'README.txt'), 'read me');
  await mkdir(join(project.path, 'empty/folder'), { recursive: true });
  await mkdir(join(project.path, 'ümläut 文'));
  await writeFile(join(project.path, 'ümläut 文/tool'), '#!/bin/sh\n');
  await chmod(join(project.path, 'ümläut 文/tool'), 0o755);
  await symlink('../README.txt', join(project.path, 'ümläut 文/link'));

  for (const query of ['', '?compression=none', '?compression=ZIP&keep_compute_ids=yes']) {
    const archive = await exported(server, project, query);
    const tested = testedByUnzip(archive);
    if (tested !== undefined) assert.match(tested, /Done testing/);
    const copy = await imported(server, archive);
    assert.equal(copy.status, 'closed');
    assert.notEqual(copy.project_id, project.project_id);
    assert.match(copy.name, /^Lab Ü-\d$/);
    assert.equal(copy.filename, `${copy.name}.gns3`);
    assert.equal(copy.zoom, 70);
    assert.deepEqual(copy.variables, [{ name: 'A', value: '1' }]);
    assert.equal(await readFile(join(copy.path, 'README.txt'), 'utf8'), 'read me');
    assert.ok((await stat(join(copy.path, 'empty/folder'))).isDirectory());
    assert.equal(((await stat(join(copy.path, 'ümläut 文/tool'))).mode & 0o777).toString(8), '755');
    assert.equal(await readlink(join(copy.path, 'ümläut 文/link')), '../README.txt');
    assert.ok(!(await readdir(copy.path)).includes('project.gns3'));

    await server.expect(201, 'POST', `/v2/projects/${copy.project_id}/open`);
    const nodes = await server.expect(200, 'GET', `/v2/projects/${copy.project_id}/nodes`);
    assert.deepEqual(nodes.map(({ name }: Body) => name).sort(), ['H1', 'PC1']);
    const newPc = nodes.find(({ name }: Body) => name === 'PC1');
    assert.ok(nodes.every(({ node_id: id }: Body) => id !== pc.node_id && id !== hub.node_id));
    const file = `project-files/vpcs/${newPc.node_id}/startup.vpc`;
    assert.equal(await readFile(join(copy.path, file), 'utf8'), properties.startup_script);
    assert.deepEqual(await readdir(join(copy.path, 'project-files/vpcs')), [newPc.node_id]);
    const [link] = await server.expect(200, 'GET', `/v2/projects/${copy.project_id}/links`);
    assert.deepEqual(link.link_style, { color: '#ff0000' });
    assert.equal(link.nodes[0].node_id, newPc.node_id);
    const [drawing] = await server.expect(200, 'GET', `/v2/projects/${copy.project_id}/drawings`);
    assert.equal(drawing.svg, '<svg height="1"></svg>');
    await server.expect(204, 'DELETE', `/v2/projects/${copy.project_id}`);
  }
});

test('an archive holds the project and nothing that does not travel', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  await server.hub(project, 'H1');
  const files: Record<string, boolean> = {
    'README.txt': true,
    'other.gns3': false,
    'sub/other.gns3': false,
    'lab.gns3.backup5': true,
    'project-files/tmp/x': false,
    'project-files/captures/x.pcap': false,
    'project-files/vpcs/captures/x.pcap': true,
    'project-files/vpcs/vpcs.log': false,
    'project-files/vpcs/vpcs_log.txt': false,
    'project-files/vpcs/log.txt': true,
    'sub/.DS_Store': false,
    'snapshots/a_010120_000000.gns3project': false,
    'sub/snapshots/x': false,
    'sub/my snapshots': false,
    '.note.0123456789ab.labwire-tmp': false,
  };
  for (const name of Object.keys(files)) {
    await mkdir(join(project.path, name, '..'), { recursive: true });
    await writeFile(join(project.path, name), name);
  }
  const names = (found: object): string[] =>
    Object.keys(found)
      .filter((name) => name !== 'project.gns3')
      .sort();
  const wanted = Object.keys(files).filter((name) => files[name]);
  const plain = await unzipped(await exported(server, project));
  assert.deepEqual(names(plain), wanted.sort());
  const snapshots = Object.keys(files).filter((name) => name.includes('snapshots'));
  const withSnapshots = await unzipped(await exported(server, project, '?include_snapshots=Yes'));
  assert.deepEqual(names(withSnapshots), [...wanted, ...snapshots].sort());
  // One line, as the release writes it, and with what has not yet reached the file on disk.
  const text = plain['project.gns3'] as string;
  assert.equal(text.includes('\n'), false);
  assert.equal(JSON.parse(text).topology.nodes[0].name, 'H1');
});

test('an archive made for elsewhere forgets computes, paths of images and, if asked to, MAC addresses', async (t) => {
  const server = await LabServer.start(t);
  const node = (node_type: string, properties: object, compute_id = 'local'): object => ({
    node_id: randomUUID(),
    name: node_type,
    node_type,
    compute_id,
    properties,
  });
  const id = randomUUID();
  const contents = {
    nodes: [
      node('qemu', { hda_disk_image: '/far/away/disk.qcow2', mac_address: '0c:00:00:00:00:01', ram: 5 }),
      node('iou', { application_id: 1, path: 'sub/image.bin', mac_address: null }),
      node('docker', { image: 'repo/image:tag' }),
      node('dynamips', { image: 'C:\\images\\ios.bin', mac_addr: 'ca01.0000.0000', platform: 'c7200', ram: 512 }),
    ],
  };
  const path = join(server.state, 'elsewhere');
  await mkdir(path);
  await writeFile(join(path, 'lab.gns3'), JSON.stringify(topology({ project_id: id, name: 'lab' }, contents)));
  await server.call('POST', '/v2/projects/load', { path: join(path, 'lab.gns3') });
  const project = { project_id: id };
  const properties = async (query: string): Promise<Body[]> => {
    const text = (await unzipped(await exported(server, project, query)))['project.gns3'] as string;
    return JSON.parse(text).topology.nodes.map((found: Body) => found.properties);
  };
  const kept = await properties('?keep_compute_ids=yes');
  assert.deepEqual(
    kept,
    contents.nodes.map((found: Body) => found.properties),
  );
  const portable = await properties('?reset_mac_addresses=YES');
  assert.deepEqual(portable, [
    { hda_disk_image: 'disk.qcow2', mac_address: null, ram: 5 },
    { application_id: 1, path: 'image.bin', mac_address: null },
    { image: 'repo/image:tag' },
    { image: 'ios.bin', mac_addr: null, platform: 'c7200', ram: 512 },
  ]);
});

test('an export that cannot be right is refused before it begins', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  const path = `/v2/projects/${project.project_id}/export`;
  const refused = await server.expect(400, 'GET', `${path}?compression=rar`);
  assert.match(refused.message, /compression: "rar" .*"zip", "none", "zstd", "bzip2", "lzma"/);
  for (const level of ['zstd&compression_level=23', 'none&compression_level=1', 'zip&compression_level=x']) {
    const { message } = await server.expect(400, 'GET', `${path}?compression=${level}`);
    assert.match(message, /^compression_level: /);
  }
  await server.expect(404, 'GET', `/v2/projects/${randomUUID()}/export`);
  const cases: [object, RegExp][] = [
    [{ node_type: 'vmware' }, /vmware/],
    [{ node_type: 'virtualbox', properties: { linked_clone: true } }, /linked clone/],
    [{ node_type: 'vpcs', compute_id: 'gone' }, /gone/],
  ];
  for (const [node, reason] of cases) {
    const id = randomUUID();
    const nodes = [{ node_id: randomUUID(), name: 'N', compute_id: 'local', ...node }];
    const directory = join(server.state, id);
    await mkdir(directory);
    await writeFile(join(directory, 'lab.gns3'), JSON.stringify(topology({ project_id: id, name: id }, { nodes })));
    await server.call('POST', '/v2/projects/load', { path: join(directory, 'lab.gns3') });
    const answer = await server.expect(409, 'GET', `/v2/projects/${id}/export`);
    assert.match(answer.message, reason);
    const checked = await server.expect(409, 'GET', `/v2/projects/${id}/export?check=yes`);
    assert.equal(checked.message, answer.message);
  }
  const before: { kind: string }[] = await server.expect(200, 'GET', '/v2/operations');
  await server.expect(204, 'GET', `${path}?check=yes`);
  assert.deepEqual(await server.expect(200, 'GET', '/v2/operations'), before, 'a check makes no archive');
});

test('a running virtual PC prevents an export, a hub does not', async (t) => {
  if (noVpcs) return t.skip(noVpcs);
  const { server, project, path } = await LabServer.withLab(t);
  await server.hub(project, 'H1');
  const body = { name: 'PC1', node_type: 'vpcs', compute_id: 'local' };
  const pc = await server.expect(201, 'POST', `${path}/nodes`, body);
  await server.expect(200, 'POST', `${path}/nodes/${pc.node_id}/start`);
  const status = async (): Promise<string> =>
    (await server.expect(200, 'GET', `${path}/nodes/${pc.node_id}`)).status as string;
  await until(async () => (await status()) === 'started', 'the PC to start');
  assert.match((await server.expect(409, 'GET', `${path}/export`)).message, /PC1/);
  await server.expect(200, 'POST', `${path}/nodes/${pc.node_id}/stop`);
  await until(async () => (await status()) === 'stopped', 'the PC to stop');
  await exported(server, project);
});

test('a file whose name no archive can hold is left out, and listeners are informed', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  await writeFile(join(project.path, 'back\\slash'), 'x');
  const told = await server.record(`/v2/projects/${project.project_id}/notifications/ws`);
  const found = await unzipped(await exported(server, project));
  assert.deepEqual(Object.keys(found), ['project.gns3']);
  await until(() => told.some(({ action }) => action === 'log.warning'), 'a warning');
  assert.match(told[0]?.event.message, /back\\slash/);
});

test('a client that leaves in the middle of an export leaves no open file behind', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  for (let index = 0; index < 5; index += 1) {
    await writeFile(join(project.path, `big${index}`), Buffer.alloc(8 * 1024 * 1024, index));
  }
  const openHere = async (): Promise<number> => {
    const links = await Promise.all(
      (await readdir('/proc/self/fd')).map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')),
    );
    return links.filter((target) => target.startsWith(project.path)).length;
  };
  // The store and the topology keep what they need open.
  const before = await openHere();
  for (let round = 0; round < 3; round += 1) {
    const response = await server.request(`/v2/projects/${project.project_id}/export?compression=none`);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
  }
  await until(async () => (await openHere()) <= before, 'the files to be closed');
  await exported(server, project);
});

test('names, flags and ids of what is imported', async (t) => {
  const server = await LabServer.start(t);
  const id = randomUUID();
  const own = { name: 'own', project_id: id, auto_start: true, auto_open: true, auto_close: false };
  const first = await imported(server, zip([projectFile(own)]), { id, query: '?name=ignored' });
  assert.equal(first.name, 'own');
  assert.deepEqual([first.auto_start, first.auto_open, first.auto_close], [false, false, true]);
  const named = await imported(server, zip([projectFile({ name: 'own' })]), { query: '?name=wanted' });
  assert.equal(named.name, 'wanted');
  const taken = await imported(server, zip([projectFile({ name: 'own' })]));
  assert.equal(taken.name, 'own-1');
  const again = await imported(server, zip([projectFile({ name: 'x' })]), { query: '?name=own' });
  assert.equal(again.name, 'own-2');
  const slashed = await imported(server, zip([projectFile({ name: '../../up' })]));
  assert.equal(slashed.filename, '..-..-up.gns3');
  assert.ok(slashed.path.startsWith(join(server.state, 'projects')));
  // The project that there is is answered, whatever the archive says.
  assert.deepEqual(await imported(server, Buffer.from('no archive'), { id }), first);
  await imported(server, zip([projectFile()]), { id: 'not-a-uuid', status: 409 });
  const nodes = [{ node_id: randomUUID(), name: 'N', node_type: 'ethernet_hub', compute_id: 'elsewhere' }];
  const moved = await imported(server, zip([projectFile({ name: 'moved' }, { nodes })]));
  await server.expect(201, 'POST', `/v2/projects/${moved.project_id}/open`);
  const [node] = await server.expect(200, 'GET', `/v2/projects/${moved.project_id}/nodes`);
  assert.equal(node.compute_id, 'local');
});

test('an archive is unpacked where the client wants it, but over nothing', async (t) => {
  const server = await LabServer.start(t);
  const place = join(server.state, 'deep/down/here');
  const query = `?path=${encodeURIComponent(place)}`;
  const project = await imported(server, zip([projectFile({ name: 'lab' })]), { query });
  assert.equal(project.path, place);
  assert.deepEqual(await readdir(place), ['lab.gns3']);
  const before = await tree(server.state);
  await imported(server, zip([projectFile({ name: 'other' })]), { query, status: 409 });
  await imported(server, zip([projectFile()]), { query: '?path=/tmp/x.gns3', status: 409 });
  assert.deepEqual(await tree(server.state), before);

  const remote = await LabServer.start(t, { local: 'false' });
  const outside = `?path=${encodeURIComponent(join(remote.state, 'outside'))}`;
  await imported(remote, zip([projectFile()]), { query: outside, status: 403 });
  assert.equal((await imported(remote, zip([projectFile()]), { query: '?path=inside' })).name, 'travelling');
});

test('two uploads for one project at the same time make one', async (t) => {
  const server = await LabServer.start(t);
  const id = randomUUID();
  const archives = ['one', 'two'].map((name) => imported(server, zip([projectFile({ name })]), { id }));
  const [one, two] = await Promise.all(archives);
  assert.deepEqual(one, two);
  assert.equal((await readdir(join(server.state, 'projects'))).length, 1);
});

test('an upload that breaks off leaves nothing behind', async (t) => {
  const server = await LabServer.start(t);
  const before = await tree(join(server.state, 'projects'));
  const archive = zip([projectFile(), { name: 'big', data: Buffer.alloc(2_000_000) }]);
  const leaving = new AbortController();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(archive.subarray(0, 1_000_000)),
    pull: (controller) => {
      leaving.abort();
      controller.error(new Error('the client has gone'));
    },
  });
  const id = randomUUID();
  const response = await server.request(`/v2/projects/${id}/import`, { method: 'POST', body, signal: leaving.signal });
  assert.equal(response.status, 408);
  await server.expect(404, 'GET', `/v2/projects/${id}`);
  assert.deepEqual(await tree(join(server.state, 'projects')), before);
});

test('what a killed server left of an import goes at the next start', async (t) => {
  const server = await LabServer.start(t);
  await server.stop();
  const left = join(server.state, 'projects/.labwire-staging-AbCdEf');
  await mkdir(join(left, 'project'), { recursive: true });
  await writeFile(join(left, 'project/project.gns3'), JSON.stringify(topology()));
  await server.start();
  assert.deepEqual(await readdir(join(server.state, 'projects')), []);
  assert.deepEqual(await server.expect(200, 'GET', '/v2/projects'), []);
});

test('images find their place, over no other image, and nodes their images', async (t) => {
  const server = await LabServer.start(t);
  const images = join(server.state, 'images');
  await mkdir(join(images, 'QEMU'), { recursive: true });
  await writeFile(join(images, 'QEMU/taken.qcow2'), 'of another lab');
  await writeFile(join(images, 'QEMU/same.qcow2'), 'the same');
  const node = (name: string, file: string): object => ({
    node_id: randomUUID(),
    name,
    node_type: 'qemu',
    compute_id: 'local',
    properties: { hda_disk_image: file },
  });
  const archive = zip([
    { name: 'images/QEMU/taken.qcow2', data: 'of this lab', deflate: true },
    { name: 'images/QEMU/same.qcow2', data: 'the same' },
    // As releases write images of nodes on other computes.
    { name: 'images/qemu/same.qcow2', data: 'another one, of a node elsewhere' },
    { name: 'images/qemu/there.qcow2', data: 'of a node elsewhere' },
    { name: 'images/IOS/new.bin', data: 'new' },
    { name: 'images/IOS/new.bin.md5sum', data: 'a lie' },
    { name: 'images/photo.png', data: 'a file of the project' },
    projectFile({}, { nodes: [node('A', 'taken.qcow2'), node('B', 'same.qcow2')] }),
  ]);
  const project = await imported(server, archive);
  assert.deepEqual(await tree(images), {
    IOS: 'folder',
    'IOS/new.bin': '3 bytes',
    QEMU: 'folder',
    'QEMU/same-1.qcow2': '32 bytes',
    'QEMU/same.qcow2': '8 bytes',
    'QEMU/there.qcow2': '19 bytes',
    'QEMU/taken-1.qcow2': '11 bytes',
    'QEMU/taken.qcow2': '14 bytes',
  });
  assert.equal(await readFile(join(images, 'QEMU/taken.qcow2'), 'utf8'), 'of another lab');
  const nodes = await server.expect(200, 'GET', `/v2/projects/${project.project_id}/nodes`);
  const used = Object.fromEntries(nodes.map(({ name, properties }: Body) => [name, properties.hda_disk_image]));
  assert.deepEqual(used, { A: 'taken-1.qcow2', B: 'same.qcow2' });
  assert.deepEqual(Object.keys(await tree(project.path)).sort(), ['images', 'images/photo.png', 'travelling.gns3']);
});

test('images travel with the archive if they are asked to, and are ready for use where they arrive', async (t) => {
  const server = await LabServer.start(t);
  const image = Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46, 1, 1, 1]), randomBytes(100_000)]);
  const upload = { method: 'POST', body: new Uint8Array(image) };
  const uploaded = await server.request('/v2/compute/iou/images/far/router.bin', upload);
  assert.equal(uploaded.status, 204);
  const node = (name: string, path: string): object => ({
    ...{ node_id: randomUUID(), name, node_type: 'iou', compute_id: 'local', properties: { path } },
  });
  const nodes = [node('A', 'far/router.bin'), node('B', '/elsewhere/router.bin')];
  const project = await imported(server, zip([projectFile({}, { nodes })]));
  assert.deepEqual(Object.keys(await unzipped(await exported(server, project))), ['project.gns3']);
  const archive = await exported(server, project, '?include_images=yes&compression=none');
  assert.deepEqual(Object.keys(await unzipped(archive)), ['images/IOU/router.bin', 'project.gns3']);

  const other = await LabServer.start(t);
  await imported(other, archive);
  const path = join(other.state, 'images/IOU/router.bin');
  assert.ok((await readFile(path)).equals(image));
  assert.equal(((await stat(path)).mode & 0o777).toString(8), '700');
  const [listed] = await other.expect(200, 'GET', '/v2/compute/iou/images');
  assert.deepEqual([listed.filename, listed.filesize], ['router.bin', image.length]);
});

test('an export with missing images names the image', async (t) => {
  const server = await LabServer.start(t);
  const nodes = [
    {
      node_id: randomUUID(),
      name: 'R1',
      node_type: 'dynamips',
      compute_id: 'local',
      properties: { image: 'ios.bin', platform: 'c7200', ram: 512 },
    },
  ];
  const project = await imported(server, zip([projectFile({}, { nodes })]));
  const path = `/v2/projects/${project.project_id}/export`;
  assert.match((await server.expect(409, 'GET', `${path}?include_images=yes`)).message, /ios\.bin/);
  await exported(server, project, '?include_images=no');
});

test('snapshots that come with a project belong to it from then on', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  await server.hub(project, 'H1');
  await server.expect(201, 'POST', `/v2/projects/${project.project_id}/snapshots`, { name: 'one' });
  await writeFile(join(project.path, 'snapshots/broken_010120_000000.gns3project'), 'no archive');
  const copy = await imported(server, await exported(server, project, '?include_snapshots=yes'), {
    query: '?name=copy',
  });
  const files = (await readdir(join(copy.path, 'snapshots'))).sort();
  assert.equal(files.length, 2);
  const found = await unzipped(join(copy.path, 'snapshots', files[1] as string));
  const { project_id: id, name } = JSON.parse(found['project.gns3'] as string);
  assert.deepEqual([id, name], [copy.project_id, 'copy']);
  await server.expect(201, 'POST', `/v2/projects/${copy.project_id}/open`);
  const list = await server.expect(200, 'GET', `/v2/projects/${copy.project_id}/snapshots`);
  assert.deepEqual(
    list.map((snapshot: Body) => snapshot.name),
    ['broken', 'one'],
  );
  const restore = `/v2/projects/${copy.project_id}/snapshots/${list[1].snapshot_id}/restore`;
  assert.equal((await server.expect(201, 'POST', restore)).name, 'copy');
});

test('archives of older releases and of 64-bit form are read', async (t) => {
  const server = await LabServer.start(t);
  const nodes = [
    { node_id: randomUUID(), name: 'PC1', node_type: 'vpcs', compute_id: 'local', properties: { startup_script: 'x' } },
  ];
  const old = await imported(server, zip([projectFile({ revision: 7, name: 'old' }, { nodes })]));
  const [node] = await server.expect(200, 'GET', `/v2/projects/${old.project_id}/nodes`);
  assert.deepEqual(node.properties, {});
  assert.deepEqual(await readdir(old.path), ['old.gns3']);

  const packed = new ZipFile();
  packed.addBuffer(Buffer.from(JSON.stringify(topology({ name: 'large' }))), 'project.gns3', {
    forceZip64Format: true,
  });
  packed.addBuffer(Buffer.from('content'), 'file', { forceZip64Format: true });
  packed.end({ forceZip64Format: true, comment: '' });
  const large = await imported(server, Buffer.concat(await (packed.outputStream as Readable).toArray()));
  assert.deepEqual((await readdir(large.path)).sort(), ['file', 'large.gns3']);
});

async function refusing(t: TestContext, archive: Buffer, reason: RegExp): Promise<void> {
  const server = await LabServer.start(t);
  await writeFile(join(server.state, 'canary'), 'untouched');
  const before = await tree(server.state);
  const answer = await imported(server, archive, { status: 409 });
  assert.match(answer.message, reason);
  assert.deepEqual(await server.expect(200, 'GET', '/v2/projects'), []);
  const after = await tree(server.state);
  assert.deepEqual(Object.keys(after), Object.keys(before));
  assert.equal(await readFile(join(server.state, 'canary'), 'utf8'), 'untouched');
}

const good = projectFile();
const HOSTILE: Record<string, [archive: Buffer, reason: RegExp]> = {
  'no archive at all': [Buffer.from('hello'), /not a lab archive/],
  'an empty body': [Buffer.alloc(0), /not a lab archive/],
  'half an archive': [zip([good]).subarray(0, 60), /not a lab archive/],
  'no topology': [zip([{ name: 'x', data: 'x' }]), /no project\.gns3/],
  'a folder for a topology': [zip([{ name: 'project.gns3/' }]), /no project\.gns3/],
  'a topology that is no JSON': [zip([{ name: 'project.gns3', data: '{oops' }]), /not valid JSON/],
  'a topology that is a list': [zip([{ name: 'project.gns3', data: '[]' }]), /not a JSON object/],
  'a topology without a name': [zip([{ name: 'project.gns3', data: `{"project_id":"${randomUUID()}"}` }]), /name/],
  'a topology nested without end': [
    zip([{ name: 'project.gns3', data: `${'['.repeat(100_000)}${']'.repeat(100_000)}`, deflate: true }]),
    /nested/,
  ],
  'a topology of the future': [zip([projectFile({ revision: 42 })]), /later release/],
  'a topology of wrong types': [zip([projectFile({}, { nodes: 'none' })]), /nodes/],
  'two nodes with one id': [
    zip([
      projectFile(
        {},
        {
          nodes: ['A', 'B'].map((name) => ({
            node_id: '11111111-2222-4333-8444-555555555555',
            name,
            node_type: 'vpcs',
            compute_id: 'local',
          })),
        },
      ),
    ]),
    /twice/,
  ],
  'a name that climbs': [zip([good, { name: '../canary', data: 'x' }]), /relative path|'\.\.'/],
  'a name that climbs later': [zip([good, { name: 'a/../../canary', data: 'x' }]), /relative path|'\.\.'/],
  'an absolute name': [zip([good, { name: '/tmp/labwire-canary', data: 'x' }]), /absolute/],
  'a name of another system': [zip([good, { name: 'C:/canary', data: 'x' }]), /absolute/],
  'a name with backslashes': [zip([good, { name: '..\\canary', data: 'x' }]), /invalid characters|\\/],
  'a name with NUL': [zip([good, { name: 'a\0b', data: 'x' }]), /NUL/],
  'a name with dots': [zip([good, { name: './x', data: 'x' }]), /empty/],
  'a name with nothing between slashes': [zip([good, { name: 'a//b', data: 'x' }]), /empty/],
  'a name that is too long': [zip([good, { name: 'x'.repeat(300), data: 'x' }]), /longer/],
  'a name too deep': [zip([good, { name: `${'d/'.repeat(150)}x`, data: 'x' }]), /deep/],
  'no name': [zip([good, { name: '', data: 'x' }]), /empty/],
  'a link that leads out': [zip([good, { name: 'link', data: '../canary', mode: LINK }]), /leads out/],
  'a link that leads to the root': [zip([good, { name: 'link', data: '/etc/passwd', mode: LINK }]), /leads out/],
  'a link that leads out by another': [
    zip([good, { name: 'a/b/c', data: '../..', mode: LINK }, { name: 'link', data: 'a/b/c/../canary', mode: LINK }]),
    /leads out/,
  ],
  'a link that leads out by one of a container': [
    zip([
      good,
      { name: 'project-files/docker/1/etc', data: '/etc', mode: LINK },
      { name: 'link', data: 'project-files/docker/1/etc/passwd', mode: LINK },
    ]),
    /"link": it is a link that leads out/,
  ],
  'links in a circle': [
    zip([good, { name: 'a', data: 'b', mode: LINK }, { name: 'b', data: 'a', mode: LINK }]),
    /leads out/,
  ],
  'a file below a link': [
    zip([good, { name: 'link', data: 'sub', mode: LINK }, { name: 'link/file', data: 'x' }]),
    /below/,
  ],
  'a file below a file': [zip([good, { name: 'file/below', data: 'x' }, { name: 'file', data: 'x' }]), /below/],
  'a link for a topology': [zip([{ name: 'project.gns3', data: 'x', mode: LINK }]), /no project\.gns3/],
  'a device': [zip([good, { name: 'device', mode: 0o060666 }]), /neither/],
  'a pipe': [zip([good, { name: 'pipe', mode: 0o010666 }]), /neither/],
  'a folder with a content': [zip([good, { name: 'folder/', data: 'x' }]), /neither/],
  'a name twice': [zip([good, { name: 'x', data: 'one' }, { name: 'x', data: 'two' }]), /twice/],
  'a topology twice': [zip([good, projectFile({ name: 'other' })]), /twice/],
  'an encrypted file': [
    zip([good, { name: 'x', data: 'secret', flags: 1, compressedSize: 6, size: 6 }]),
    /encrypted|size mismatch/,
  ],
  'another compression': [
    zip([good, { name: 'x', data: 'x', method: 95 }]),
    /compressed by xz; export .*"zstd", "zip"/,
  ],
  'a wrong checksum': [zip([good, { name: 'x', data: 'x', crc: 5 }]), /checksum/],
  'more than it says': [
    zip([good, { name: 'x', data: Buffer.alloc(5000), deflate: true, size: 10 }]),
    /too many bytes/,
  ],
  'less than it says': [
    zip([good, { name: 'x', data: Buffer.alloc(10), deflate: true, size: 5000 }]),
    /not enough bytes/,
  ],
  'broken compression': [zip([good, { name: 'x', data: 'garbage', method: 8 }]), /damaged/],
  'data shared by two': [
    zip([
      { name: 'a', data: 'x' },
      { ...good, offset: 0 },
    ]),
    /overlap/,
  ],
  'data beyond the end': [zip([good, { name: 'x', data: 'x', size: 1e9, compressedSize: 1e9 }]), /overlap|end/],
  'a bomb': [
    zip([
      good,
      ...Array.from({ length: 20 }, (_, index) => ({ name: `${index}`, data: 'x', deflate: true, size: 0xfffffff0 })),
    ]),
    /unpack to/,
  ],
  'more entries than there are': [zip([good], { count: 5000 }), /damaged/],
};

for (const [what, [archive, reason]] of Object.entries(HOSTILE)) {
  test(`an archive with ${what} is refused and leaves nothing`, (t) => refusing(t, archive, reason));
}

test('links within the project, and absolute ones within containers, are kept', async (t) => {
  const server = await LabServer.start(t);
  const archive = zip([
    projectFile(),
    { name: 'a/up', data: '..', mode: LINK },
    { name: 'a/dangling', data: '../nowhere/yet', mode: LINK },
    { name: 'project-files/docker/1/etc/localtime', data: '/usr/share/zoneinfo/UTC', mode: LINK },
    { name: 'project-files/docker/1/etc/time', data: 'localtime', mode: LINK },
    { name: 'same', data: 'x' },
    { name: 'same', data: 'x' },
  ]);
  const { path } = await imported(server, archive);
  assert.equal(await readlink(join(path, 'a/up')), '..');
  assert.equal(await readlink(join(path, 'a/dangling')), '../nowhere/yet');
  assert.equal(await readlink(join(path, 'project-files/docker/1/etc/localtime')), '/usr/share/zoneinfo/UTC');
  assert.equal(await readlink(join(path, 'project-files/docker/1/etc/time')), 'localtime');
});

test('a file of zeros takes no space once it is unpacked', async (t) => {
  const server = await LabServer.start(t);
  const disk = Buffer.alloc(8 * 1024 * 1024);
  disk.write('boot');
  disk.write('end', disk.length - 3);
  const { path } = await imported(server, zip([projectFile(), { name: 'disk', data: disk, deflate: true }]));
  const unpacked = await readFile(join(path, 'disk'));
  assert.ok(unpacked.equals(disk));
  const { blocks } = await stat(join(path, 'disk'));
  if (blocks * 512 >= disk.length) t.diagnostic('this file system keeps no holes');
});

test('a full disk is reported, and nothing is left on it', async (t) => {
  const disk = await scratchFileSystem(t, '4m');
  if (disk === undefined) return;
  const server = await LabServer.start(t, { projects_path: join(disk, 'projects') });
  const before = await tree(disk);
  const noise = randomBytes(5_000_000);
  await imported(server, zip([projectFile(), { name: 'big', data: noise }]), { status: 507 });
  // The archive fits, what is in it does not.
  const zeros = Buffer.alloc(20_000_000);
  await imported(server, zip([projectFile(), { name: 'big', data: zeros, deflate: true }]), { status: 507 });
  assert.deepEqual(await tree(disk), before);
  assert.equal((await imported(server, zip([projectFile()]))).status, 'closed');
  const project = await server.project('lab');
  await writeFile(join(project.path, 'half'), randomBytes(2_000_000));
  const path = `/v2/projects/${project.project_id}`;
  const files = await tree(disk);
  await server.expect(201, 'POST', `${path}/snapshots`, { name: 'fits' });
  await server.expect(507, 'POST', `${path}/snapshots`, { name: 'too much' });
  await server.expect(507, 'POST', `${path}/duplicate`, { name: 'too much' });
  const left = Object.keys(await tree(disk)).filter((name) => !(name in files) && !/snapshots(\/fits.*)?$/.test(name));
  assert.deepEqual(left, []);
});

test('an archive with any of its bytes changed is taken or refused, and never half taken', async (t) => {
  const server = await LabServer.start(t);
  const node = { node_id: randomUUID(), name: 'H', node_type: 'ethernet_hub', compute_id: 'local' };
  const archive = zip([
    projectFile({}, { nodes: [node] }),
    { name: `project-files/ethernet_hub/${node.node_id}/x`, data: 'content'.repeat(100), deflate: true },
    { name: 'folder/' },
    { name: 'folder/link', data: '../README.txt', mode: LINK },
  ]);
  const seed = Number(process.env['LABWIRE_TEST_SEED'] ?? randomInt(2 ** 31));
  t.diagnostic(`LABWIRE_TEST_SEED=${seed}`);
  const next = seededIntegers(seed);
  const answers: Record<number, number> = {};
  for (let round = 0; round < 300; round += 1) {
    const changed = Buffer.from(archive);
    for (let change = 0; change <= next(3); change += 1) changed[next(changed.length)] = next(256);
    const id = randomUUID();
    const body = new Uint8Array(next(10) === 0 ? changed.subarray(0, next(changed.length)) : changed);
    const { status } = await server.request(`/v2/projects/${id}/import`, { method: 'POST', body });
    answers[status] = (answers[status] ?? 0) + 1;
    assert.ok(status === 201 || status === 409, `${status}`);
    const names = await readdir(join(server.state, 'projects'));
    assert.deepEqual(names, status === 201 ? [id] : []);
    if (status === 201) await server.expect(204, 'DELETE', `/v2/projects/${id}`);
  }
  t.diagnostic(JSON.stringify(answers));
});
