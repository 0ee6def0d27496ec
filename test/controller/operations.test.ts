// Long work: told to those who ask, cancelled without a trace.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { conflict } from '../../src/failures.ts';
import { configureLog } from '../../src/host/log.ts';
import { ArchiveReader } from '../../src/store/archive/reader.ts';
import type { Body } from '../body.ts';
import { disk, noQemu, SMALL } from '../compute/qemu-support.ts';
import { type Answer, LabServer, until } from './lab-server.ts';

const MIBIBYTE = 1024 * 1024;

/** Puts a file into a project: mostly a hole, so that it costs reading, but no disk. */
async function largeFile(project: Body, mibibytes: number): Promise<void> {
  const folder = join(project.path, 'project-files', 'large');
  await mkdir(folder, { recursive: true });
  await using file = await open(join(folder, 'disk.img'), 'w');
  await file.write('begins');
  await file.truncate(mibibytes * MIBIBYTE);
}

/** Everything below a directory but the database, which lives on. */
async function files(directory: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true });
  return names.filter((name) => !/\.db|sqlite|state|images|appliances|symbols|configs/.test(name)).sort();
}

async function operationOf(server: LabServer, kind: string): Promise<Body> {
  const list: Body[] = await server.expect(200, 'GET', '/v2/operations');
  return list.findLast((operation) => operation.kind === kind);
}

/** Cancels an operation when a part of it is done; answers how it ended. */
async function cancelledInTheMiddle(server: LabServer, kind: string, work: Promise<unknown>): Promise<Body> {
  await until(async () => ((await operationOf(server, kind))?.done ?? 0) > 0, `progress of ${kind}`);
  const { operation_id: id } = await operationOf(server, kind);
  await server.expect(204, 'DELETE', `/v2/operations/${id}`);
  await work;
  return await operationOf(server, kind);
}

const refusedAsCancelled = ({ status, json }: Answer): void => {
  assert.equal(status, 409);
  assert.match(json.message, /cancelled; nothing of it is left/);
};

test('who asked for operations hears their start and end; others hear what the release sends', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  const [plain, told] = [
    await server.record('/v2/notifications/ws'),
    await server.record('/v2/notifications/ws?operations=yes'),
  ];
  const numbered = await server.record('/v2/notifications/ws?operations=yes&since=now');
  const id = randomUUID();
  const path = `/v2/projects/${project.project_id}/snapshots`;
  const made = await server.request(path, {
    method: 'POST',
    body: '{"name":"before"}',
    headers: { 'X-Operation-Id': id },
  });
  assert.equal(made.status, 201);
  const about = () => told.filter(({ event }) => event.operation_id === id);
  await until(() => about().at(-1)?.action === 'operation.ended', 'the end');
  assert.equal(about()[0]?.action, 'operation.started');
  const { done, total, unit, message: _, ...rest } = (about().at(-1) as Body).event;
  assert.deepEqual([done, unit], [total, 'bytes']);
  assert.deepEqual(rest, {
    operation_id: id,
    kind: 'snapshot',
    name: 'before',
    project_id: project.project_id,
    state: 'done',
    cancellable: false,
    compute_id: null,
  });
  assert.deepEqual(
    plain.filter(({ action }) => action.startsWith('operation')),
    [],
  );
  // What passes has no number: a client that comes back with the last one has missed nothing.
  let last = (numbered as Body[])[0]?.sequence;
  for (const { action, sequence } of numbered as Body[]) {
    // Events of the compute may come between.
    if (action.startsWith('operation')) assert.equal(sequence, last);
    last = sequence;
  }
  assert.equal((await server.call('DELETE', `/v2/operations/${id}`)).status, 409);
  assert.equal((await server.call('DELETE', `/v2/operations/${randomUUID()}`)).status, 404);
  const bad = await server.request(path, { method: 'POST', body: '{"name":"x"}', headers: { 'X-Operation-Id': 'me' } });
  assert.equal(bad.status, 400);
});

test('an import, a duplicate, a snapshot and a restoration that are cancelled in the middle leave nothing', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  await server.hub(project, 'Hub');
  const path = `/v2/projects/${project.project_id}`;
  const snapshot = await server.expect(201, 'POST', `${path}/snapshots`, { name: 'empty' });
  await largeFile(project, 512);
  const before = await files(server.state);

  const half = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(MIBIBYTE)),
    // The client sends the rest when it is too late.
    pull: async (controller) => {
      await until(async () => (await operationOf(server, 'import'))?.state === 'cancelling', 'the cancel');
      controller.enqueue(new Uint8Array(MIBIBYTE));
    },
  });
  const importing = server
    .request(`/v2/projects/${randomUUID()}/import?name=copy`, { method: 'POST', body: half })
    .then(async (answer) => refusedAsCancelled({ status: answer.status, json: await answer.json() }));
  assert.equal((await cancelledInTheMiddle(server, 'import', importing)).state, 'cancelled');
  assert.deepEqual(await files(server.state), before);

  const duplicating = server.call('POST', `${path}/duplicate`, { name: 'copy' }).then(refusedAsCancelled);
  assert.equal((await cancelledInTheMiddle(server, 'duplicate', duplicating)).state, 'cancelled');
  assert.deepEqual(await files(server.state), before);

  const keeping = server.call('POST', `${path}/snapshots`, { name: 'large' }).then(refusedAsCancelled);
  assert.equal((await cancelledInTheMiddle(server, 'snapshot', keeping)).state, 'cancelled');
  assert.deepEqual(await files(server.state), before);

  await server.expect(201, 'POST', `${path}/snapshots`, { name: 'large' });
  const [{ node_id: node }] = await server.expect(200, 'GET', `${path}/nodes`);
  const list: Body[] = await server.expect(200, 'GET', `${path}/snapshots`);
  const large = list.find(({ name }) => name === 'large');
  const kept = await files(server.state);
  const restoring = server.call('POST', `${path}/snapshots/${large.snapshot_id}/restore`).then(refusedAsCancelled);
  assert.equal((await cancelledInTheMiddle(server, 'restore', restoring)).state, 'cancelled');
  assert.deepEqual(await files(server.state), kept);
  // The lab is the one of before, to the node.
  assert.equal((await server.expect(200, 'GET', `${path}/nodes`))[0].node_id, node);
  assert.equal((await server.expect(200, 'GET', '/v2/projects')).length, 1);
  await server.expect(201, 'POST', `${path}/snapshots/${snapshot.snapshot_id}/restore`);
});

test('the upload of an image to a compute is cancelled through the controller', async (t) => {
  const server = await LabServer.start(t);
  const half = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(MIBIBYTE)),
    // The client sends the rest when it is too late.
    pull: async (controller) => {
      await until(async () => (await operationOf(server, 'upload'))?.state === 'cancelling', 'the cancel');
      controller.enqueue(new Uint8Array(MIBIBYTE));
    },
  });
  const uploading = server.request('/v2/computes/local/qemu/images/half.img', { method: 'POST', body: half });
  assert.equal((await cancelledInTheMiddle(server, 'upload', uploading)).state, 'cancelled');
  assert.deepEqual(await server.expect(200, 'GET', '/v2/computes/local/qemu/images'), []);
});

test('a copy that is not cancelled has a large file as it is, and its operation counts all of it', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  await largeFile(project, 20);
  const path = join('project-files', 'large', 'disk.img');
  await using original = await open(join(project.path, path), 'r+');
  await original.write('in the middle', 9 * MIBIBYTE);
  const copy = await server.expect(201, 'POST', `/v2/projects/${project.project_id}/duplicate`, { name: 'copy' });
  const [one, other] = await Promise.all([project, copy].map((lab) => readFile(join(lab.path, path))));
  assert.ok(one?.equals(other as Buffer));
  const { state, done, total } = await operationOf(server, 'duplicate');
  assert.deepEqual([state, done], ['done', total]);
  assert.ok(total >= 20 * MIBIBYTE);
});

test('an export breaks off when its lab is restored or deleted meanwhile', async (t) => {
  const server = await LabServer.start(t);
  const project = await server.project('lab', { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  await largeFile(project, 32);
  const { snapshot_id: id } = await server.expect(201, 'POST', `${path}/snapshots`, { name: 'one' });
  const changes: [number, string, string][] = [
    [201, 'POST', `${path}/snapshots/${id}/restore`],
    [204, 'DELETE', path],
  ];
  for (const change of changes) {
    const reader = (await server.request(`${path}/export?compression=none`)).body!.getReader();
    await reader.read();
    await server.expect(...change);
    const rest = async (): Promise<void> => {
      while (!(await reader.read()).done);
    };
    await assert.rejects(rest(), /during its export/);
  }
});

test('an export that is cancelled breaks off, and another one at the same time comes whole', async (t) => {
  const server = await LabServer.start(t);
  const [one, other] = [await server.project('one'), await server.project('other')];
  for (const project of [one, other]) await largeFile(project, 64);
  const exported = async (project: Body): Promise<number> => {
    const answer = await server.request(`/v2/projects/${project.project_id}/export?compression=none`);
    let bytes = 0;
    for await (const chunk of answer.body ?? []) bytes += chunk.length;
    return bytes;
  };
  const whole = exported(other);
  const broken = await server.request(`/v2/projects/${one.project_id}/export?compression=none`);
  const reader = broken.body!.getReader();
  await reader.read();
  const list: Body[] = await server.expect(200, 'GET', `/v2/operations?project_id=${one.project_id}`);
  assert.deepEqual(
    list.map(({ kind, state }) => [kind, state]),
    [['export', 'running']],
  );
  await server.expect(204, 'DELETE', `/v2/operations/${list[0].operation_id}`);
  await assert.rejects(async () => {
    while (!(await reader.read()).done);
  }, /cancelled/);
  assert.ok((await whole) > 64 * MIBIBYTE);
  const ended: Body[] = await server.expect(200, 'GET', '/v2/operations');
  assert.deepEqual(
    ended
      .filter(({ kind }) => kind === 'export')
      .map(({ name, state }) => `${name} ${state}`)
      .sort(),
    ['one cancelled', 'other done'],
  );
});

test('an opening that is cancelled in the middle leaves no node on the compute, and the lab opens afterwards', async (t) => {
  const { server, project, path } = await LabServer.withLab(t);
  const [hub] = await Promise.all(Array.from({ length: 200 }, (_, index) => server.hub(project, `Hub${index}`)));
  await server.expect(204, 'POST', `${path}/close`);
  const opening = server.call('POST', `${path}/open`);
  await until(async () => {
    const operation = await operationOf(server, 'open');
    return operation?.state === 'running' && operation.done > 0;
  }, 'the first nodes');
  const { operation_id: id } = await operationOf(server, 'open');
  await server.expect(204, 'DELETE', `/v2/operations/${id}`);
  refusedAsCancelled(await opening);
  assert.equal((await server.expect(200, 'GET', path)).status, 'closed');
  assert.deepEqual(await server.expect(200, 'GET', '/v2/compute/projects'), []);
  await server.expect(201, 'POST', `${path}/open`);
  assert.equal((await server.expect(200, 'GET', `${path}/nodes`)).length, 200);
  await server.expect(200, 'GET', `${path}/nodes/${hub.node_id}`);
});

test('the images of a compute are listed with their users, and are deleted only without any', async (t) => {
  const server = await LabServer.start(t);
  const content = new Uint8Array(64).fill(7);
  for (const name of ['used.qcow2', 'free.qcow2']) {
    const { status } = await server.request(`/v2/compute/qemu/images/${name}`, { method: 'POST', body: content });
    assert.equal(status, 204);
  }
  const template = { template_type: 'qemu', name: 'Router', compute_id: 'local', hda_disk_image: 'used.qcow2' };
  await server.expect(201, 'POST', '/v2/templates', template);
  const list: Body[] = await server.expect(200, 'GET', '/v2/computes/local/images');
  assert.deepEqual(
    list.map(({ emulator, filename, filesize, used_by }) => [emulator, filename, filesize, used_by]),
    [
      ['qemu', 'free.qcow2', 64, []],
      ['qemu', 'used.qcow2', 64, [{ kind: 'template', name: 'Router' }]],
    ],
  );
  const refused = await server.call('DELETE', '/v2/computes/local/qemu/images/used.qcow2');
  assert.equal(refused.status, 409);
  assert.match(refused.json.message, /used\.qcow2 is used by the template "Router"/);
  await server.expect(204, 'DELETE', '/v2/computes/local/qemu/images/free.qcow2');
  assert.equal((await server.expect(200, 'GET', '/v2/computes/local/images')).length, 1);
  // Uploads in pieces go the same way.
  const upload = `/v2/computes/local/qemu/uploads/${randomUUID()}`;
  await server.expect(200, 'PUT', upload, { filename: 'new.qcow2', filesize: 64 });
  const sent = await server.request(`${upload}/0`, { method: 'POST', body: content });
  assert.equal(((await sent.json()) as Body).offset, 64);
  await server.expect(204, 'DELETE', upload);
});

test('an image is kept for snapshots, for deleted nodes that can be restored, and while a lab cannot be read', {
  skip: noQemu,
}, async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
  const folder = join(server.state, 'images/QEMU');
  await mkdir(folder, { recursive: true });
  await disk(folder, 'base.qcow2');
  const image = '/v2/computes/local/qemu/images/base.qcow2';
  const users = async () => {
    const list: Body[] = await server.expect(200, 'GET', '/v2/computes/local/images');
    const all: Body[] = list.find(({ filename }) => filename === 'base.qcow2')!['used_by'];
    return all.map(({ kind, name, project_id: id }) => [kind, name, id]);
  };
  const refused = async (message: RegExp): Promise<void> => {
    assert.equal((await server.request('/v3/images/prune', { method: 'DELETE' })).status, 204);
    assert.ok((await readdir(folder)).includes('base.qcow2'), 'prune keeps it');
    const answer = await server.call('DELETE', image);
    assert.equal(answer.status, 409, JSON.stringify(answer.json));
    assert.match(answer.json.message, message);
  };
  const properties = { ...SMALL, hda_disk_image: 'base.qcow2' };
  const body = { name: 'VM', node_type: 'qemu', compute_id: 'local', properties };
  const node = await server.expect(201, 'POST', `${path}/nodes`, body);
  await server.expect(201, 'POST', `${path}/snapshots`, { name: 'then' });
  const id = project.project_id;
  assert.deepEqual(await users(), [
    ['node', 'VM', id],
    ['snapshot', 'then', id],
  ]);
  await server.expect(200, 'DELETE', `${path}/nodes/${node.node_id}?keep=yes`);
  assert.deepEqual(await users(), [
    ['deleted_node', 'VM', id],
    ['snapshot', 'then', id],
  ]);
  await refused(/the deleted node "VM" of the project "lab" \(.*\), the snapshot "then" of the project "lab"/);

  await server.expect(204, 'POST', `${path}/close`);
  assert.deepEqual(await users(), [['snapshot', 'then', id]]);
  await refused(/the snapshot "then" of the project "lab"/);

  // As on a disk that is not mounted.
  await rename(project.path, `${project.path}.away`);
  await refused(/base\.qcow2 may be used by labs that cannot be read: "lab" \(/);
  await rename(`${project.path}.away`, project.path);
  await writeFile(join(project.path, project.filename), '{');
  await refused(/base\.qcow2 may be used by labs that cannot be read: "lab" \(/);
});

test('images are kept while the disk of a lab is missing, also from the start, until a reload forgets the lab', async (t) => {
  const server = await LabServer.start(t);
  const disk = join(server.state, 'disk');
  const path = join(disk, 'lab');
  const project = await server.project('Elsewhere', { path });
  await server.expect(204, 'POST', `/v2/projects/${project.project_id}/close`);
  const image = '/v2/compute/qemu/images/base.qcow2';
  const sent = { method: 'POST', body: new Uint8Array(64).fill(7) };
  assert.equal((await server.request(image, sent)).status, 204);
  await server.stop();
  await rename(disk, `${disk}.away`);
  await server.start();
  assert.deepEqual(await server.expect(200, 'GET', '/v2/projects'), []);
  const lines: string[] = [];
  configureLog({ write: (line) => lines.push(line) });
  t.after(() => configureLog({ write: () => {} }));
  const kept = async (): Promise<void> => {
    lines.length = 0;
    await server.expect(204, 'DELETE', '/v3/images/prune');
    assert.match(lines.join(''), /^[^\n]*no image is pruned, because labs cannot be read [^\n]*Elsewhere[^\n]*$/m);
    const refused = await server.expect(409, 'DELETE', '/v2/computes/local/qemu/images/base.qcow2');
    assert.match(refused.message, /labs that cannot be read: "Elsewhere" \(.*lab\/Elsewhere\.gns3 is missing/);
    assert.equal((await server.request(image)).status, 200);
  };
  await kept();
  // Mounted late, the lab is back.
  await rename(`${disk}.away`, disk);
  await server.expect(200, 'POST', '/v2/reload');
  await until(async () => (await server.expect(200, 'GET', '/v2/projects')).length === 1, 'the lab');
  await server.stop();
  await rename(disk, `${disk}.away`);
  await server.start();
  await kept();
  await server.expect(200, 'POST', '/v2/reload');
  await until(
    async () => (await server.call('DELETE', '/v2/computes/local/qemu/images/base.qcow2')).status === 204,
    'the deletion',
  );
});

test('a snapshot is read once for its images; one that cannot be restored uses none', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
  const image = '/v2/computes/local/qemu/images/base.qcow2';
  const sent = { method: 'POST', body: new Uint8Array(64).fill(7) };
  assert.equal((await server.request('/v2/compute/qemu/images/base.qcow2', sent)).status, 204);
  for (const name of ['one', 'two']) await server.expect(201, 'POST', `${path}/snapshots`, { name });
  const damaged = 'snapshots/a_010125_000000.gns3project';
  assert.equal((await server.request(`${path}/files/${damaged}`, { method: 'POST', body: 'no archive' })).status, 201);
  await mkdir(join(project.path, 'snapshots/folder_010125_000000.gns3project'));
  const opened = t.mock.method(ArchiveReader, 'open');
  const lists = async () =>
    Promise.all(Array.from({ length: 5 }, () => server.expect(200, 'GET', '/v2/computes/local/images')));
  await lists();
  await lists();
  assert.equal(opened.mock.callCount(), 3);
  // Another content is read.
  await writeFile(join(project.path, damaged), 'no archive either');
  await lists();
  assert.equal(opened.mock.callCount(), 4);
  for (const { name, snapshot_id: id } of await server.expect(200, 'GET', `${path}/snapshots`))
    if (['a', 'folder'].includes(name)) await server.expect(409, 'POST', `${path}/snapshots/${id}/restore`);
  // An error of the disk says nothing of the content.
  await server.expect(201, 'POST', `${path}/snapshots`, { name: 'three' });
  const cause = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', syscall: 'read' });
  opened.mock.mockImplementationOnce(() => Promise.reject(conflict('The archive is damaged.', { cause })));
  const refused = await server.expect(409, 'DELETE', image);
  assert.match(refused.message, /its snapshot "three"/);
  await server.expect(204, 'DELETE', image);
});
