// The same lab by clients of both releases: each sees what the other does, and the verbs that came with 3.0 are there for both.
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { keptPicture } from '../../src/controller/drawings/pictures.ts';
import { refuseWrites } from '../store/refused-writes.ts';
import { missing } from '../system/lab.ts';
import { type Answer, LabServer, until } from './lab-server.ts';

/** A call with a JSON body of a client of release 3.0.6. */
async function v3(server: LabServer, method: string, path: string, body?: object): Promise<Answer> {
  const text = body === undefined ? null : JSON.stringify(body);
  const headers: Record<string, string> =
    text === null ? {} : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) };
  const answer = await server.request(`/v3${path}`, { method, headers, body: text });
  const answered = await answer.text();
  return { status: answer.status, json: answered === '' ? undefined : JSON.parse(answered) };
}

test('a client of release 3.0.6 draws a picture of two megabytes', async (t) => {
  const server = await LabServer.start(t);
  const project = await server.project('pictures', { auto_close: false });
  const drawings = `/projects/${project.project_id}/drawings`;
  const picture = (size: number): string =>
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9"><image width="9" height="9" xlink:href="data:image/png;base64,${Buffer.alloc(size, 0xa5).toString('base64')}"/></svg>`;
  const made = await v3(server, 'POST', drawings, { svg: picture(2_000_000) });
  assert.equal(made.status, 201, made.json?.message);
  assert.equal(
    (await v3(server, 'PUT', `${drawings}/${made.json.drawing_id}`, { svg: picture(3_000_000) })).status,
    200,
  );
  const { status, json } = await v3(server, 'POST', drawings, { svg: picture(30_000_000) });
  assert.deepEqual(
    [status, json.message],
    [413, 'The body is larger than 33554432 bytes; send files to a files or images route.'],
  );
});

test('while a picture of many elements is read, others have their turns', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  const text = `<svg xmlns="http://www.w3.org/2000/svg">${'<a/>'.repeat(3_000_000)}</svg>`;
  const kept = await keptPicture(text);
  isOver = true;
  assert.equal(kept?.kind, 'file');
  assert.ok(turns > 100, `${turns} turns`);
  assert.equal(await keptPicture(`${text}<`), undefined, 'no XML');
  const open = text.slice(0, text.indexOf('<a/>'));
  for (const endless of [`${open}${'<a>'.repeat(100_000)}`, `${open}<a${' a=""'.repeat(1_000_000)}/></svg>`])
    await assert.rejects(keptPicture(endless), /^Failure: svg: .* more than/);
  const link = `data:image/png;base64,${Buffer.alloc(1_000_000, 0xa5).toString('base64')}`;
  const image = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink"><image x:href="${link}"/></svg>`;
  const embedded = await keptPicture(image);
  assert.ok(embedded?.kind === 'file' && embedded.data.length === 1_000_000);
});

test('one lab, watched in both dialects while clients of each change it: both streams tell the same', async (t) => {
  const { server, project } = await LabServer.withLab(t, { name: 'shared', auto_close: false });
  const lab = `/projects/${project.project_id}`;
  const old = await server.record(`/v2${lab}/notifications/ws`);
  const recent = await server.record(`/v3${lab}/notifications/ws`);

  const a = await server.hub(project, 'A');
  const made = await v3(server, 'POST', `${lab}/nodes`, { name: 'B', node_type: 'ethernet_hub', compute_id: 'local' });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  const link = await server.link(project, [a, 0], [made.json, 0]);
  assert.equal((await v3(server, 'PUT', `${lab}/links/${link.link_id}`, { suspend: 'yes', unknown: 1 })).status, 200);
  await server.expect(201, 'PUT', `/v2${lab}/links/${link.link_id}`, { suspend: false });
  assert.equal((await v3(server, 'PUT', `${lab}/nodes/${a.node_id}`, { x: '70' })).status, 200);
  await server.expect(200, 'PUT', `/v2${lab}/nodes/${made.json.node_id}`, { y: 5 });
  const drawing = await server.expect(201, 'POST', `/v2${lab}/drawings`, { svg: '<svg></svg>' });
  assert.equal((await v3(server, 'DELETE', `${lab}/drawings/${drawing.drawing_id}`)).status, 204);
  assert.equal((await v3(server, 'DELETE', `${lab}/links/${link.link_id}`)).status, 204);
  await server.expect(204, 'DELETE', `/v2${lab}/nodes/${made.json.node_id}`);

  for (const stream of [old, recent])
    await until(() => stream.some(({ action }) => action === 'node.deleted'), 'the last event');
  const told = (stream: typeof old) =>
    stream.map(({ action, event: { node_id, link_id, drawing_id, x, y, suspend } }) => ({
      action,
      id: node_id ?? link_id ?? drawing_id,
      ...{ x, y, suspend },
    }));
  assert.deepEqual(told(recent), told(old));
  const actions = new Set(old.map(({ action }) => action));
  for (const action of [
    'node.created',
    'link.created',
    'link.updated',
    'node.updated',
    'drawing.deleted',
    'link.deleted',
  ])
    assert.ok(actions.has(action), action);
  // Each in its own form.
  const created = (stream: typeof old) => stream.find(({ action }) => action === 'node.created')?.event;
  assert.equal('aux' in created(old), false);
  assert.equal(created(recent).aux, null);
  // And what is left is the same in both.
  const nodes = await server.expect(200, 'GET', `/v2${lab}/nodes`);
  const shown = (await v3(server, 'GET', `${lab}/nodes`)).json;
  assert.deepEqual(
    shown.map(({ node_id, x }: { node_id: string; x: number }) => [node_id, x]),
    nodes.map(({ node_id, x }: { node_id: string; x: number }) => [node_id, x]),
  );
  assert.equal(nodes[0].x, 70);
});

for (const version of ['v2', 'v3'])
  test(`a link that is reset through /${version} keeps its impairments, and its capture goes on`, async (t) => {
    const { server, project } = await LabServer.withLab(t, { auto_close: false });
    const [a, b] = [await server.hub(project, 'A'), await server.hub(project, 'B')];
    const impairments = { forward: { loss: { percent: 100 } }, backward: { delay: { ms: 3 } } };
    const { link_id: id } = await server.link(project, [a, 0], [b, 0], { impairments });
    const link = `/projects/${project.project_id}/links/${id}`;
    await server.expect(201, 'POST', `/v2${link}/start_capture`, { capture_file_name: 'before.pcap' });
    await server.expect(200, 'POST', `/${version}${link}/reset`);
    const after = await server.expect(200, 'GET', `/v2${link}`);
    assert.deepEqual([after.impairments, after.capturing], [impairments, true]);
    assert.notEqual(after.capture_file_name, 'before.pcap');
    // The capture is one that the compute has: its frames can be read.
    const capture = await server.request(`/v2${link}/pcap`);
    assert.equal(capture.status, 200);
    await capture.body?.cancel();
    await server.expect(201, 'POST', `/v2${link}/stop_capture`);
  });

for (const version of ['v2', 'v3'])
  test(`through /${version} a lab is locked and unlocked, and a node isolated, for clients of both`, async (t) => {
    const { server, project } = await LabServer.withLab(t, { auto_close: false });
    const [a, b] = [await server.hub(project, 'A'), await server.hub(project, 'B')];
    const { link_id: id } = await server.link(project, [a, 0], [b, 0]);
    const path = `/projects/${project.project_id}`;
    const lab = `/${version}${path}`;
    const suspended = async () => (await server.expect(200, 'GET', `/v2${path}/links/${id}`)).suspend;
    const locked = async () => [
      await server.expect(200, 'GET', `/v2${path}/locked`),
      await server.expect(200, 'GET', `/v3${path}/locked`),
    ];
    assert.deepEqual(await locked(), [false, false]);
    await server.expect(204, 'POST', `${lab}/lock`);
    assert.deepEqual(await locked(), [true, true]);
    assert.equal((await server.call('DELETE', `/v2${path}/nodes/${a.node_id}`)).status, 409);
    await server.expect(204, 'POST', `${lab}/unlock`);
    assert.deepEqual(await locked(), [false, false]);
    await server.expect(204, 'POST', `${lab}/nodes/${b.node_id}/isolate`);
    assert.equal(await suspended(), true);
    await server.expect(204, 'POST', `${lab}/nodes/${b.node_id}/unisolate`);
    assert.equal(await suspended(), false);
    assert.equal((await server.call('GET', `${lab}/links/${id}/iface`)).status, 409);
  });

test('members that a body of /v3 does not know are ignored, however many and however deep', async (t) => {
  const { server, project } = await LabServer.withLab(t, { auto_close: false });
  const lab = `/projects/${project.project_id}`;
  const unknown = Object.fromEntries(Array.from({ length: 40 }, (_, number) => [`unknown_${number}`, { number }]));
  const label = { text: 'A', x: '1', ...unknown };
  const body = { ...unknown, name: 'A', node_type: 'ethernet_hub', compute_id: 'local', label };
  const hubs = [];
  for (const properties of [{ ...unknown }, { ports_mapping: [{ name: 'e0', port_number: '0', ...unknown }] }]) {
    const made = await v3(server, 'POST', `${lab}/nodes`, { ...body, properties });
    assert.equal(made.status, 201, JSON.stringify(made.json));
    assert.equal(made.json.label.x, 1);
    hubs.push(made.json);
  }
  const nodes = hubs.map(({ node_id }) => ({ node_id, adapter_number: '0', port_number: 0, label, ...unknown }));
  const link = await v3(server, 'POST', `${lab}/links`, { nodes, filters: {}, ...unknown });
  assert.equal(link.status, 201, JSON.stringify(link.json));
  // What a client has read can be sent back, and changes nothing.
  const template = { ...unknown, name: 'Hub', template_type: 'ethernet_hub', category: 'switch' };
  const made = await v3(server, 'POST', '/templates', template);
  assert.equal(made.status, 201, JSON.stringify(made.json));
  const { template_id } = made.json;
  const { drawing_id } = (await v3(server, 'POST', `${lab}/drawings`, { svg: '<svg></svg>', ...unknown })).json;
  const far = { compute_id: randomUUID(), protocol: 'http', host: '127.0.0.1', port: '9', name: 'far', ...unknown };
  await v3(server, 'POST', '/computes?connect=no', far);
  for (const path of [
    ...[`${lab}/links/${link.json.link_id}`, `${lab}/nodes/${hubs[0].node_id}`, `${lab}/drawings/${drawing_id}`],
    ...[lab, `/templates/${template_id}`, `/computes/${far.compute_id}`],
  ]) {
    const before = await v3(server, 'GET', path);
    assert.equal(before.status, 200, path);
    const answer = await v3(server, 'PUT', path, { ...before.json, ...unknown });
    assert.equal(answer.status, 200, `${path}: ${JSON.stringify(answer.json)}`);
    const { updated_at: _updated, ...after } = (await v3(server, 'GET', path)).json;
    const { updated_at: _before, ...expected } = before.json;
    assert.deepEqual(after, expected, path);
  }
  // Members that it knows are checked all the same.
  const wrong = await v3(server, 'PUT', `${lab}/nodes/${hubs[0].node_id}`, { ...unknown, x: 'far' });
  assert.equal(wrong.status, 422);
  assert.match(wrong.json.message, /x: /);
});

test('the first message of each stream of /v3 has the use of processors, memory and disk', async (t) => {
  const { server, project } = await LabServer.withLab(t, { auto_close: false });
  for (const path of ['/v3/notifications', `/v3/projects/${project.project_id}/notifications`]) {
    const reader = (await server.stream(path)).body!.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    const { action, event } = JSON.parse(Buffer.from(value!).toString().split('\n')[0]!);
    assert.equal(action, 'ping', path);
    for (const part of ['cpu', 'disk', 'memory']) {
      const percent = event[`${part}_usage_percent`];
      assert.ok(percent >= 0 && percent <= 100, `${path}: ${part} ${percent}`);
    }
  }
});

test('what release 3.0.6 answers in its own way, /v3 does', async (t) => {
  const { server, project } = await LabServer.withLab(t, { auto_close: false });
  const lab = `/projects/${project.project_id}`;
  const expect = async (status: number, method: string, path: string, body?: object) => {
    const answer = await v3(server, method, path, body);
    assert.equal(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.json)}`);
    return answer.json;
  };
  // TraceNG is gone.
  await expect(422, 'POST', `${lab}/nodes`, { name: 'T', node_type: 'traceng', compute_id: 'local' });
  await expect(422, 'POST', '/templates', { name: 'T', template_type: 'traceng', category: 'guest' });
  // Names that guests can have; those of clients of 2.2 stay.
  const properties = { image: 'x', platform: 'x86_64', path: 'x' };
  const refused: readonly [type: string, name: string][] = [
    ...(['host_1', '1bad-', '-a', 'a..b', '10.0.0.1', '42', 'ab!'] as const).map(
      (name) => ['qemu', name] as [string, string],
    ),
    ...(['1R', 'R_1', 'R-', 'a.b'] as const).map((name) => ['dynamips', name] as [string, string]),
  ];
  for (const [node_type, name] of refused) {
    const { message } = await expect(409, 'POST', `${lab}/nodes`, {
      name,
      node_type,
      compute_id: 'local',
      properties,
    });
    assert.match(message, /^name: /, name);
  }
  const old = { name: 'host_1', node_type: 'qemu', compute_id: 'local', properties: { platform: 'x86_64' } };
  const made = await server.call('POST', `/v2${lab}/nodes`, old);
  if (made.status === 201) {
    const node = `${lab}/nodes/${made.json.node_id}`;
    await expect(200, 'PUT', node, { name: 'host_1', x: 5 });
    await expect(409, 'PUT', node, { name: 'host_2' });
    for (const name of ['PC 1', 'a.b-c', 'vm{0}']) await expect(200, 'PUT', node, { name });
  } else t.diagnostic(`without QEMU no node keeps its name: ${made.json.message}`);
  // Labs stay in their folder.
  await expect(403, 'PUT', lab, { path: '/tmp/elsewhere' });
  await expect(403, 'PUT', lab, { path: '../elsewhere' });
  await expect(200, 'PUT', lab, { path: project.path, name: 'renamed' });
  // The address of a compute stands for its identifier.
  const compute = { protocol: 'http', host: '127.0.0.1', port: 9 };
  await expect(201, 'POST', '/computes?connect=no', compute);
  await expect(400, 'POST', '/computes?connect=no', { ...compute, port: '9', name: 'another' });
  // Numbers and truth values as texts, also where /v2 has no such route.
  assert.equal(
    (await expect(201, 'PUT', '/iou_license', { iourc_content: '', license_check: 'no' })).license_check,
    false,
  );

  // Parts of files.
  const file = `/v3${lab}/files/notes.txt`;
  assert.equal((await server.request(file, { method: 'POST', body: 'hello' })).status, 204);
  const whole = await server.request(file);
  assert.match(whole.headers.get('etag') ?? '', /^"[^"]+"$/);
  assert.equal(await whole.text(), 'hello');
  const part = await server.request(file, { headers: { range: 'bytes=1-2' } });
  assert.deepEqual([part.status, await part.text()], [206, 'el']);
  // A download goes on only with the file with which it began.
  const fromTwo = async (path: string, tag: string) => {
    const answer = await server.request(path, { headers: { range: 'bytes=2-', 'if-range': tag } });
    return [answer.status, await answer.text()];
  };
  const goesOn = async (path: string, write: string) => {
    const { headers } = await server.request(path, { method: 'GET' });
    const tag = headers.get('etag')!;
    assert.deepEqual(await fromTwo(path, tag), [206, 'llo']);
    for (const other of [`W/${tag}`, headers.get('last-modified')!, '"other"'])
      assert.deepEqual(await fromTwo(path, other), [200, 'hello']);
    assert.ok((await server.request(write, { method: 'POST', body: 'later' })).ok);
    assert.deepEqual(await fromTwo(path, tag), [200, 'later']);
  };
  await goesOn(file, file);
  const image = '/v2/computes/local/qemu/images/part.img';
  assert.ok((await server.request('/v2/compute/qemu/images/part.img', { method: 'POST', body: 'hello' })).ok);
  await goesOn(image, '/v2/compute/qemu/images/part.img');

  // A template goes with its images, unless something else names them.
  const upload = (name: string) =>
    server.request(`/v3/images/upload/${name}`, { method: 'POST', body: `QFI\xfb of ${name}` });
  for (const name of ['one.qcow2', 'two.qcow2']) assert.equal((await upload(name)).status, 201);
  const machine = { template_type: 'qemu', category: 'guest', compute_id: 'local', hda_disk_image: 'one.qcow2' };
  const first = await expect(201, 'POST', '/templates', { ...machine, name: 'A', hdb_disk_image: 'two.qcow2' });
  const second = await expect(201, 'POST', '/templates', { ...machine, name: 'B' });
  const images = async () =>
    (await expect(200, 'GET', '/images')).map(({ filename }: { filename: string }) => filename);
  await expect(204, 'DELETE', `/templates/${first.template_id}?prune_images=true`);
  assert.deepEqual(await images(), ['one.qcow2']);
  await expect(204, 'DELETE', `/templates/${second.template_id}`);
  assert.deepEqual(await images(), ['one.qcow2']);
});

test('templates of /v3 have version and usage in their events and tags, and nodes of one without a compute are made', async (t) => {
  const { server, project } = await LabServer.withLab(t, {});
  const stream = await server.request('/v3/notifications');
  const told: { action: string; event: Record<string, unknown> }[] = [];
  void (async () => {
    let rest = '';
    for await (const part of stream.body!.pipeThrough(new TextDecoderStream())) {
      const lines = `${rest}${part}`.split('\n');
      rest = lines.pop()!;
      told.push(...lines.map((line) => JSON.parse(line)));
    }
  })().catch(() => {});
  const given = { name: 'PC', template_type: 'vpcs', version: '1', usage: 'log in' };
  const made = await v3(server, 'POST', '/templates', given);
  assert.deepEqual([made.status, made.json.version, made.json.compute_id], [201, '1', null]);
  const path = `/templates/${made.json.template_id}`;
  const tagged = await server.request(`/v3${path}`);
  const headers = { 'If-None-Match': tagged.headers.get('etag')! };
  assert.equal((await server.request(`/v3${path}`, { headers })).status, 304);
  assert.equal((await v3(server, 'PUT', path, { version: '2' })).json.version, '2');
  assert.equal((await server.request(`/v3${path}`, { headers })).status, 200);
  const copy = await v3(server, 'POST', `${path}/duplicate`);
  assert.deepEqual([copy.status, copy.json.version, copy.json.usage], [201, '2', 'log in']);
  const versions = () =>
    told.filter(({ action }) => action.startsWith('template.')).map(({ event }) => event['version']);
  await until(() => versions().length === 3, 'the events');
  assert.deepEqual(versions(), ['1', '2', '2']);
  // Taken: nothing of the first one changes.
  const twice = { ...given, template_id: made.json.template_id, name: 'Other', version: '3' };
  assert.equal((await v3(server, 'POST', '/templates', twice)).status, 409);
  assert.equal((await v3(server, 'GET', path)).json.version, '2');

  const lab = `/projects/${project.project_id}`;
  const builtin = '52136454-1f50-590a-94e4-816bd02d1062';
  for (const [id, body] of [
    [made.json.template_id, {}],
    [builtin, { compute_id: null }],
  ] as const) {
    const node = await v3(server, 'POST', `${lab}/templates/${id}`, { x: 0, y: 0, ...body });
    assert.deepEqual([node.status, node.json.compute_id], [201, 'local']);
  }
  // A closed lab has no notifications.
  assert.equal((await v3(server, 'POST', `${lab}/close`)).status, 204);
  assert.equal((await v3(server, 'GET', `${lab}/notifications`)).status, 403);
  // A number as a text has the same limits, and the own compute is not in the list.
  const compute = { protocol: 'http', host: '127.0.0.1', port: '70000' };
  assert.equal((await v3(server, 'POST', '/computes', compute)).status, 422);
  assert.deepEqual((await v3(server, 'GET', '/computes')).json, []);
});

test('an empty disk image of /v3 gets the name in its address, whatever its body says', {
  skip: missing('qemu-img'),
}, async (t) => {
  const server = await LabServer.start(t, { local: 'true' });
  const make = (name: string, more: object) =>
    v3(server, 'POST', `/images/qemu/${name}`, { format: 'vdmk', size: 8, preallocation: null, other: 1, ...more });
  const made = await make('a.vmdk', { path: join(server.state, 'elsewhere.img'), cluster_size: null });
  assert.deepEqual([made.status, made.json.filename], [201, 'a.vmdk']);
  assert.equal(existsSync(join(server.state, 'elsewhere.img')), false);
  assert.equal((await make('b.qcow2', { format: 'qcow2', cluster_size: '65536' })).status, 201);
  assert.equal((await make('c.img', { format: 'iso' })).status, 422);
});

test('appliances are installed once, and so are versions that clients add', async (t) => {
  const server = await LabServer.start(t, { install_builtin_appliances: 'false' });
  const files = ['1.qcow2', '2.qcow2', 'mine.qcow2'].map((name) => ({ name, content: `QFI\xfb of ${name}` }));
  const md5 = (text: string) => createHash('md5').update(text).digest('hex');
  const document = {
    ...{ appliance_id: randomUUID(), name: 'Box', category: 'guest', registry_version: 4, status: 'stable' },
    qemu: { adapters: 1, ram: 64, arch: 'x86_64', console_type: 'telnet' },
    images: files.slice(0, 2).map(({ name, content }) => ({ filename: name, version: name, md5sum: md5(content) })),
    versions: files.slice(0, 2).map(({ name }) => ({ name, images: { hda_disk_image: name } })),
  };
  await mkdir(join(server.state, 'appliances'), { recursive: true });
  await writeFile(join(server.state, 'appliances/box.gns3a'), JSON.stringify(document));
  assert.ok((await server.call('POST', '/v2/reload')).status < 300);
  const upload = async ({ name, content }: { name: string; content: string }, query = '') => {
    const path = `/v3/images/upload/${name}${query}`;
    assert.equal((await server.request(path, { method: 'POST', body: content })).status, 201);
  };
  const names = async () =>
    (await v3(server, 'GET', '/templates')).json
      .map(({ name }: { name: string }) => name)
      .filter((name: string) => name.startsWith('Box'))
      .sort();
  await upload(files[0]!);
  await upload(files[1]!, '?install_appliances=true');
  assert.deepEqual(await names(), ['Box 2.qcow2']);
  for (const _ of [1, 2]) assert.equal((await v3(server, 'POST', '/images/install')).status, 204);
  assert.deepEqual(await names(), ['Box 1.qcow2', 'Box 2.qcow2']);
  const [{ appliance_id: id }] = (await v3(server, 'GET', '/appliances')).json;
  const version = { name: '9', images: { hda_disk_image: 'mine.qcow2' } };
  assert.equal((await v3(server, 'POST', `/appliances/${id}/version`, version)).status, 201);
  const install = () => v3(server, 'POST', `/appliances/${id}/install?version=9`);
  assert.equal((await install()).status, 404);
  await upload(files[2]!);
  assert.equal((await install()).status, 204);
  assert.deepEqual(await names(), ['Box 1.qcow2', 'Box 2.qcow2', 'Box 9']);
});

test('a template of /v3 whose version cannot be kept is not made', async (t) => {
  const server = await LabServer.start(t);
  const versions = async (): Promise<unknown[]> =>
    ((await v3(server, 'GET', '/templates')).json as { name: string; version: unknown }[])
      .filter(({ name }) => name === 'PC')
      .map(({ version }) => version);
  const accept = await refuseWrites(server.state, "INSERT ON document WHEN NEW.kind = 'template-notes'");
  const template = { name: 'PC', template_type: 'vpcs', compute_id: 'local', version: '2.0' };
  assert.ok((await v3(server, 'POST', '/templates', template)).status >= 400);
  assert.deepEqual(await versions(), []);
  await accept();
  assert.equal((await v3(server, 'POST', '/templates', template)).status, 201);
  assert.deepEqual(await versions(), ['2.0']);
});
