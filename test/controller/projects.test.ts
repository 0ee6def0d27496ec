// Projects as their users meet them: what is kept, what is told, what is refused.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Body } from '../body.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { LabServer, until } from './lab-server.ts';

const UNKNOWN = '11111111-2222-4333-8444-555555555555';

test('values that no file, address or scene can have are refused by name', async (t) => {
  const server = await LabServer.start(t);
  const { project_id: id } = await server.project('lab', { auto_close: false });
  const compute = { protocol: 'http', host: '127.0.0.1', port: 1 };
  for (const [method, path, body, reason] of [
    ['POST', '/v2/projects/load', { path: 'a\0b' }, /path: expected a path without NUL/],
    ['PUT', `/v2/projects/${id}`, { zoom: 1.5 }, /zoom: expected a whole number below 2\^53, received 1\.5/],
    ['PUT', `/v2/projects/${id}`, { name: '\ud800' }, /half of a surrogate pair/],
    ['POST', '/v2/computes', { ...compute, compute_id: '\ud800' }, /half of a surrogate pair/],
    ['POST', '/v2/computes', { ...compute, compute_id: '' }, /compute_id: "" cannot be part of an address/],
    [
      'POST',
      `/v2/projects/${id}/nodes`,
      { name: 'x', node_type: 'vpcs', compute_id: 'local', properties: [] },
      /properties: expected an object/,
    ],
    [
      'POST',
      `/v2/projects/${id}/links`,
      { nodes: [], link_style: { a: Array(100).fill({}) } },
      /link_style: expected an object of at most 100 values/,
    ],
  ] as const)
    assert.match((await server.expect(400, method, path, body)).message, reason);
});

test('a lab is as it was after closing and opening, and after a restart of the server', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, {
    zoom: 80,
    variables: [{ name: 'A', value: '1' }],
    auto_close: false,
  });
  const one = await server.hub(project, 'Hub{0}', { x: -7, y: 9, locked: true });
  const two = await server.hub(project, 'Hub{0}', { label: { text: 'x', x: 1, y: 2 } });
  const link = await server.link(project, [one, 0], [two, 3], { link_style: { color: 'red' } });
  await server.expect(201, 'POST', `${path}/drawings`, { svg: '<svg></svg>', x: 5 });
  const before = await Promise.all(
    ['nodes', 'links', 'drawings'].map((kind) => server.expect(200, 'GET', `${path}/${kind}`)),
  );
  assert.equal(before[0][1].label.text, 'Hub2');

  await server.expect(204, 'POST', `${path}/close`);
  await server.expect(201, 'POST', `${path}/open`);
  for (const [index, kind] of ['nodes', 'links', 'drawings'].entries()) {
    const now = await server.expect(200, 'GET', `${path}/${kind}`);
    for (const node of [...now, ...before[index]]) if (node.console_type === null) node.console_type = 'none';
    assert.deepEqual(now, before[index], kind);
  }
  await server.stop();
  await server.start();
  const [listed] = await server.expect(200, 'GET', '/v2/projects');
  assert.deepEqual(listed, { ...project, status: 'closed' });
  await server.expect(201, 'POST', `${path}/open`);
  const [again] = await server.expect(200, 'GET', `${path}/links`);
  assert.equal(again.link_id, link.link_id);
});

test('every operation reports its outcome, and nothing else', async (t) => {
  const server = await LabServer.start(t);
  const wide = await server.record('/v2/notifications/ws');
  const project = await server.project('lab', { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  const own = await server.record(`${path}/notifications/ws`);
  const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30));
  const told = async (): Promise<string[]> => {
    await settle();
    return [...wide.splice(0), ...own.splice(0)].map(({ action }) => action);
  };
  await told();
  const one = await server.hub(project, 'A');
  const two = await server.hub(project, 'B');
  assert.deepEqual(await told(), ['node.created', 'node.created']);
  await server.expect(200, 'PUT', `${path}/nodes/${one.node_id}`, { x: 4 });
  assert.deepEqual(await told(), ['node.updated']);
  await server.expect(200, 'PUT', `${path}/nodes/${one.node_id}`, { x: 4 });
  assert.deepEqual(await told(), []);
  const link = await server.link(project, [one, 0], [two, 0], { link_style: { width: 2 } });
  assert.deepEqual(await told(), ['link.updated', 'link.created']);
  await server.expect(201, 'PUT', `${path}/links/${link.link_id}`, {});
  assert.deepEqual(await told(), []);
  await server.expect(201, 'PUT', `${path}/links/${link.link_id}`, { suspend: true });
  assert.deepEqual(await told(), ['link.updated']);
  await server.expect(200, 'PUT', path, { zoom: 100 });
  assert.deepEqual(await told(), []);
  await server.expect(200, 'PUT', path, { zoom: 101 });
  assert.deepEqual(await told(), ['project.updated']);
  await server.expect(204, 'DELETE', `${path}/nodes/${one.node_id}`);
  assert.deepEqual(await told(), ['link.deleted', 'node.deleted', 'node.deleted']);
  await server.expect(204, 'POST', `${path}/close`);
  assert.deepEqual(await told(), ['project.closed']);
  await server.expect(201, 'POST', `${path}/open`);
  assert.deepEqual(await told(), ['project.opened', 'node.created']);
  await server.expect(204, 'DELETE', path);
  assert.deepEqual(await told(), ['project.closed', 'project.deleted']);
});

test('the file follows when the lab is quiet and before it is read; no temporary file stays', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  await server.hub(project, 'A');
  const file = join(project.path, project.filename);
  const nodes = async (): Promise<number> => JSON.parse(await readFile(file, 'utf8')).topology.nodes.length;
  assert.equal(await nodes(), 0);
  await until(async () => (await nodes()) === 1, 'the file to follow');
  await server.hub(project, 'B');
  const read = await server.expect(200, 'GET', `/v2/projects/${project.project_id}/files/${project.filename}`);
  assert.equal((typeof read === 'string' ? JSON.parse(read) : read).topology.nodes.length, 2);
  assert.deepEqual(
    (await readdir(project.path)).filter((name) => name.startsWith('.')),
    [],
  );
});

test('an edit of the file by another program wins, and the lab as it was is kept beside it', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
  const told = await server.record(`${path}/notifications/ws`);
  await server.hub(project, 'A');
  const file = join(project.path, project.filename);
  await server.expect(200, 'GET', `${path}/files/${project.filename}`);
  const document = JSON.parse(await readFile(file, 'utf8'));
  document.topology.nodes[0].x = 777;
  await writeFile(`${file}.new`, JSON.stringify(document));
  await rename(`${file}.new`, file);
  await server.hub(project, 'B');
  await server.expect(204, 'POST', `${path}/close`);
  assert.ok(
    told.some(({ action, event }) => action === 'log.warning' && /changed by another program/.test(event.message)),
  );
  await server.expect(201, 'POST', `${path}/open`);
  const nodes = await server.expect(200, 'GET', `${path}/nodes`);
  assert.deepEqual(
    nodes.map(({ name, x }: { name: string; x: number }) => [name, x]),
    [['A', 777]],
  );
  assert.equal(JSON.parse(await readFile(`${file}.labwire-backup`, 'utf8')).topology.nodes.length, 2);
});

test('pictures stay that the file of another program uses, or the lab kept beside it, and no others', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
  const draw = (text: string): Promise<Body> =>
    server.expect(201, 'POST', `${path}/drawings`, {
      svg: `<svg xmlns="http://www.w3.org/2000/svg"><text>${text.repeat(1_000)}</text></svg>`,
    });
  const old = await draw('a');
  const file = join(project.path, project.filename);
  await server.expect(200, 'GET', `${path}/files/${project.filename}`);
  const theirs = await readFile(file);
  await server.expect(204, 'DELETE', `${path}/drawings/${old.drawing_id}`);
  const unused = await draw('b');
  await server.expect(204, 'DELETE', `${path}/drawings/${unused.drawing_id}`);
  await draw('c');
  await server.expect(200, 'GET', `${path}/files/${project.filename}`);
  await writeFile(`${file}.new`, theirs);
  await rename(`${file}.new`, file);
  const pictures = (): Promise<string[]> => readdir(join(project.path, 'project-files/images'));
  assert.equal((await pictures()).length, 3);
  await server.expect(204, 'POST', `${path}/close`);
  assert.equal((await pictures()).length, 2);
  await server.expect(201, 'POST', `${path}/open`);
  const drawings = await server.expect(200, 'GET', `${path}/drawings`);
  assert.deepEqual(
    drawings.map(({ svg }: Body) => svg),
    [old.svg],
  );
  await server.expect(204, 'POST', `${path}/close`);
  assert.equal((await pictures()).length, 1);
});

test('what could not be written when a lab was closed is in its file after a rename, in its archive and in its copies', async (t) => {
  for (const how of ['rename', 'export', 'duplicate']) {
    const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
    await server.hub(project, 'A');
    await server.expect(200, 'GET', `${path}/files/${project.filename}`);
    await server.hub(project, 'B');
    await rename(project.path, `${project.path}.away`);
    const { status } = await server.call('POST', `${path}/close`);
    assert.ok(status >= 400, how);
    await rename(`${project.path}.away`, project.path);
    if (how === 'rename') {
      await server.expect(200, 'PUT', path, { name: 'renamed' });
      await server.expect(201, 'POST', `${path}/open`);
      assert.equal((await server.expect(200, 'GET', `${path}/nodes`)).length, 2);
      await server.expect(204, 'POST', `${path}/close`);
      const written = JSON.parse(await readFile(join(project.path, project.filename), 'utf8'));
      assert.equal(written.name, 'renamed');
      assert.ok(!(await readdir(project.path)).some((name) => name.endsWith('.labwire-backup')));
    } else if (how === 'export') {
      const archive = await (await server.request(`${path}/export`)).arrayBuffer();
      const id = randomUUID();
      await server.request(`/v2/projects/${id}/import`, { method: 'POST', body: new Uint8Array(archive) });
      assert.equal((await server.expect(200, 'GET', `/v2/projects/${id}/nodes`)).length, 2);
    } else {
      const copy = await server.expect(201, 'POST', `${path}/duplicate`, { name: 'copy' });
      assert.equal((await server.expect(200, 'GET', `/v2/projects/${copy.project_id}/nodes`)).length, 2);
    }
  }
});

test('a lab that is too large for its file stays open and can be made smaller', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
  const link = await server.link(project, [await server.hub(project, 'A'), 0], [await server.hub(project, 'B'), 0]);
  await server.expect(204, 'POST', `${path}/close`);
  const file = join(project.path, project.filename);
  const document = JSON.parse(await readFile(file, 'utf8'));
  // As an earlier release let clients do: nearly as many values as a file may have.
  document.topology.links[0].link_style = { a: Array(199_950).fill([]) };
  await writeFile(file, JSON.stringify(document));
  await server.expect(201, 'POST', `${path}/open`);
  for (let hub = 0; hub < 15; hub += 1) await server.hub(project, `H${hub}`);
  const { status, json } = await server.call('POST', `${path}/close`);
  assert.deepEqual([status, /too large for its file .*: delete some/.test(json.message)], [413, true]);
  assert.equal((await server.expect(200, 'GET', path)).status, 'opened');
  await server.expect(204, 'DELETE', `${path}/links/${link.link_id}`);
  await server.expect(204, 'POST', `${path}/close`);
  await server.expect(201, 'POST', `${path}/open`);
  assert.equal((await server.expect(200, 'GET', `${path}/nodes`)).length, 17);
});

test('a reload finds new labs while another one lost its directory, and keeps what that had not written', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
  const model = await server.project('model');
  await server.expect(204, 'POST', `/v2/projects/${model.project_id}/close`);
  const document = JSON.parse(await readFile(join(model.path, model.filename), 'utf8'));
  await server.expect(200, 'GET', `${path}/files/${project.filename}`);
  await server.hub(project, 'A');
  await rename(project.path, `${server.state}/away`);
  for (const id of [randomUUID(), randomUUID()]) {
    const folder = join(dirname(project.path), id);
    await mkdir(folder);
    await writeFile(join(folder, 'new.gns3'), JSON.stringify({ ...document, project_id: id, name: id }));
    await server.expect(200, 'POST', '/v2/reload');
    await until(async () => (await server.call('GET', `/v2/projects/${id}`)).status === 200, 'the new lab');
  }
  await rename(`${server.state}/away`, project.path);
  assert.deepEqual(
    (await server.expect(200, 'GET', `${path}/nodes`)).map(({ name }: Body) => name),
    ['A'],
  );
});

test('a lab that is deleted or moved during a reload stays deleted, and in its new place', async (t) => {
  const server = await LabServer.start(t);
  const labs: Body[] = [];
  for (const name of ['deleted', 'moved']) {
    labs.push(await server.project(name));
    await server.expect(204, 'POST', `/v2/projects/${labs.at(-1)?.project_id}/close`);
  }
  const [deleted, moved] = labs as [Body, Body];
  const root = dirname(deleted.path);
  const document = JSON.parse(await readFile(join(deleted.path, deleted.filename), 'utf8'));
  // It takes a while to read, after the two labs and before the last one.
  await mkdir(join(root, 'x'));
  await writeFile(join(root, 'x', 'damaged.gns3'), '');
  await truncate(join(root, 'x', 'damaged.gns3'), 30 * 2 ** 20);
  const last = randomUUID();
  await mkdir(join(root, 'z'));
  await writeFile(join(root, 'z', 'new.gns3'), JSON.stringify({ ...document, project_id: last, name: 'last' }));
  await server.expect(200, 'POST', '/v2/reload');
  await sleep(100);
  await server.expect(204, 'DELETE', `/v2/projects/${deleted.project_id}`);
  const place = join(server.state, 'elsewhere');
  await server.expect(200, 'PUT', `/v2/projects/${moved.project_id}`, { path: place });
  await until(async () => (await server.call('GET', `/v2/projects/${last}`)).status === 200, 'the end of the reload');
  assert.equal((await server.call('GET', `/v2/projects/${deleted.project_id}`)).status, 404);
  await server.stop();
  await rm(join(root, 'x'), { recursive: true });
  await server.start();
  assert.equal((await server.expect(200, 'GET', `/v2/projects/${moved.project_id}`)).path, place);
});

test('a damaged project stops neither the server nor another project, and says what is wrong', async (t) => {
  const server = await LabServer.start(t);
  const good = await server.project('good');
  const bad = await server.project('bad');
  await server.stop();
  await writeFile(join(bad.path, bad.filename), '{"type": "topology", ');
  await server.start();
  const list = await server.expect(200, 'GET', '/v2/projects');
  const damaged = list.find(({ project_id: id }: { project_id: string }) => id === bad.project_id);
  assert.equal(damaged.name, 'bad');
  assert.match(damaged.damaged, /bad\.gns3/);
  const refused = await server.call('POST', `/v2/projects/${bad.project_id}/open`);
  assert.equal(refused.status, 409);
  assert.match(refused.json.message, /bad\.gns3/);
  await server.expect(201, 'POST', `/v2/projects/${good.project_id}/open`);
  // Mended, it opens without a restart.
  const text = await readFile(join(good.path, good.filename), 'utf8');
  await writeFile(join(bad.path, bad.filename), text.replaceAll(good.project_id, bad.project_id));
  const mended = await server.expect(201, 'POST', `/v2/projects/${bad.project_id}/open`);
  assert.equal(mended.damaged, undefined);
});

test('an opening that fails leaves the project closed and its file untouched', async (t) => {
  const { server, project, path } = await LabServer.withLab(t);
  await server.hub(project, 'A');
  await server.expect(204, 'POST', `${path}/close`);
  const file = join(project.path, project.filename);
  const document = JSON.parse(await readFile(file, 'utf8'));
  document.topology.nodes.push({
    ...document.topology.nodes[0],
    node_id: UNKNOWN,
    name: 'B',
    properties: { ports_mapping: 7 },
  });
  await writeFile(file, JSON.stringify(document));
  const { mtimeMs } = await stat(file);
  assert.equal((await server.call('POST', `${path}/open`)).status, 400);
  assert.equal((await server.expect(200, 'GET', path)).status, 'closed');
  assert.deepEqual(await server.expect(200, 'GET', '/v2/compute/projects'), []);
  assert.equal((await stat(file)).mtimeMs, mtimeMs);
});

test('names and directories that are taken or lie elsewhere are refused, and nothing is left', async (t) => {
  const server = await LabServer.start(t, { local: 'false' });
  const first = await server.project('a');
  for (const [body, status] of [
    [{ name: 'a' }, 409],
    [{ name: null }, 400],
    [{ name: 'b', path: '/tmp/labwire-elsewhere' }, 403],
    [{ name: 'b', path: `${first.path}/../../outside` }, 403],
    [{ name: 'b', path: first.path }, 403],
    [{ name: 'b', path: `${first.path}-"x` }, 403],
  ] as const) {
    assert.equal((await server.call('POST', '/v2/projects', body)).status, status, JSON.stringify(body));
  }
  assert.deepEqual(await readdir(join(server.state, 'projects')), [first.project_id]);
  assert.equal(
    (await server.call('POST', '/v2/projects/load', { path: join(first.path, first.filename) })).status,
    403,
  );
  assert.equal(
    (await server.expect(201, 'POST', '/v2/projects', { name: 'other', project_id: first.project_id })).name,
    'a',
  );
  const slashed = await server.project('a/b\\c');
  assert.equal(slashed.filename, 'a-b-c.gns3');
});

test('two at once: the same name is given once, the same port is linked once', async (t) => {
  const server = await LabServer.start(t);
  const tries = await Promise.all(
    Array.from({ length: 5 }, () => server.call('POST', '/v2/projects', { name: 'same' })),
  );
  assert.deepEqual(tries.map(({ status }) => status).sort(), [201, 409, 409, 409, 409]);
  const project = tries.find(({ status }) => status === 201)?.json;
  const hubs = await Promise.all(Array.from({ length: 6 }, () => server.hub(project, 'H{0}')));
  assert.equal(new Set(hubs.map(({ name }) => name)).size, 6);
  const nodes = (other: number): object => ({
    nodes: [hubs[0], hubs[other]].map((node) => ({ node_id: node.node_id, adapter_number: 0, port_number: 0 })),
  });
  const links = await Promise.all(
    [1, 2, 3, 4, 5].map((other) => server.call('POST', `/v2/projects/${project.project_id}/links`, nodes(other))),
  );
  assert.deepEqual(links.map(({ status }) => status).sort(), [201, 409, 409, 409, 409]);
});

test('auto_close closes the lab when its last listener has been away for the time of grace, never before anybody listened', async (t) => {
  const { server, path } = await LabServer.withLab(t, {}, { auto_close_grace: '3' });
  const closesIn = async (): Promise<number | null> =>
    (await server.expect(200, 'GET', '/v2/project-figures'))[0]?.closes_in_seconds;
  assert.equal(await closesIn(), null);
  const [response, other] = [
    await fetchStream(server, `${path}/notifications`),
    await fetchStream(server, `${path}/notifications`),
  ];
  await response.cancel();
  assert.equal(await closesIn(), null, 'another client listens');
  await other.cancel();
  await until(async () => (await closesIn()) !== null, 'that it will close');
  assert.ok((await closesIn())! <= 3);
  assert.equal((await server.expect(200, 'GET', path)).status, 'opened');
  await until(async () => (await server.expect(200, 'GET', path)).status === 'closed', 'auto_close', 8_000);
});

test('a listener that comes back within the time of grace finds the lab open, and stays in it', async (t) => {
  const { server, path } = await LabServer.withLab(t, {}, { auto_close_grace: '1' });
  for (let blinks = 0; blinks < 4; blinks++) {
    const response = await fetchStream(server, `${path}/notifications`);
    await new Promise((resolve) => setTimeout(resolve, 600));
    assert.equal((await server.expect(200, 'GET', path)).status, 'opened');
    await response.cancel();
  }
  const back = await fetchStream(server, `${path}/notifications`);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.equal((await server.expect(200, 'GET', path)).status, 'opened');
  await back.cancel();
});

test('a listener whose connection broke gets the events that it missed, or learns that they are lost', async (t) => {
  const { server, path } = await LabServer.withLab(t);
  const listen = async (since: string): Promise<() => Promise<Record<string, string>>> => {
    const response = await server.stream(`${path}/notifications?since=${since}`);
    const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    t.after(() => reader.cancel());
    let rest = '';
    return async () => {
      while (!rest.includes('\n')) rest += (await reader.read()).value;
      const [line = ''] = rest.split('\n');
      rest = rest.slice(line.length + 1);
      return JSON.parse(line);
    };
  };
  const draw = (): Promise<unknown> => server.expect(201, 'POST', `${path}/drawings`, { svg: '<svg/>' });
  const first = await listen('now');
  const [ping] = [await first()];
  assert.equal(ping!['action'], 'ping');
  await draw();
  const seen = await first();
  assert.equal(seen['action'], 'drawing.created');
  await draw();
  await draw();

  const second = await listen(seen['sequence']!);
  const heard = [await second(), await second(), await second()];
  assert.deepEqual(
    heard.map(({ action }) => action),
    ['ping', 'drawing.created', 'drawing.created'],
  );
  assert.equal(heard[2]!['sequence'], heard[0]!['sequence'], 'the ping tells how far the server is');
  await draw();
  assert.equal((await second())['action'], 'drawing.created');

  for (const unknown of ['0123456789ab-1', `${seen['sequence']!.split('-')[0]}-999999`, 'nonsense']) {
    const late = await listen(unknown);
    await late();
    const gap = await late();
    assert.equal(gap['action'], 'notifications.gap');
    const resumed = await listen(gap['sequence']!);
    assert.equal((await resumed())['sequence'], gap['sequence'], 'from there on nothing is missing');
  }
});

async function fetchStream(server: LabServer, path: string): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const response = await server.stream(path);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  return reader;
}

test('a project is not loaded under the name of another one', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  const file = join(project.path, 'lab.gns3');
  await server.expect(204, 'POST', `/v2/projects/${project.project_id}/close`);
  const copy = join(await scratchDirectory(t), 'lab.gns3');
  const text = (await readFile(file, 'utf8')).replaceAll(project.project_id, UNKNOWN);
  await writeFile(copy, text);
  const answer = await server.call('POST', '/v2/projects/load', { path: copy });
  assert.equal(answer.status, 409);
  assert.match(answer.json.message, /there is already a lab "lab"; choose another name/);
  assert.equal((await server.expect(200, 'GET', '/v2/projects')).length, 1);
  // The project itself can be loaded by its file.
  await server.expect(201, 'POST', '/v2/projects/load', { path: file });
});

test('an old lab whose name and nodes have control characters takes its names back unchanged, and no other such name', async (t) => {
  const server = await LabServer.start(t);
  const old = 'old\u0007name';
  const nodes = [{ node_id: UNKNOWN, name: old, node_type: 'ethernet_hub', compute_id: 'local' }];
  const topology = { computes: [], nodes, links: [], drawings: [] };
  const file = join(await scratchDirectory(t), 'old.gns3');
  const id = UNKNOWN.replaceAll('1', '9');
  const content = { type: 'topology', revision: 9, version: '2.2.57', project_id: id, name: old, topology };
  await writeFile(file, JSON.stringify({ ...content, auto_close: false }));
  await server.expect(201, 'POST', '/v2/projects/load', { path: file });
  const lab = `/v2/projects/${id}`;
  const project = await server.expect(200, 'GET', lab);
  const [node] = await server.expect(200, 'GET', `${lab}/nodes`);
  assert.deepEqual([node.name, project.name], [old, old]);

  const path = `${lab}/nodes/${UNKNOWN}`;
  assert.equal((await server.expect(200, 'PUT', path, { ...node, x: 7 })).x, 7);
  assert.equal((await server.expect(200, 'PUT', lab, { name: old, zoom: 50 })).zoom, 50);
  for (const each of [path, lab]) {
    const { message } = await server.expect(400, 'PUT', each, { name: `${old}\u0007` });
    assert.equal(message, 'name: expected a name without control characters.');
    assert.equal((await server.expect(200, 'GET', each)).name, old);
    assert.equal((await server.expect(200, 'PUT', each, { name: 'new' })).name, 'new');
  }
});
