// Changes that meet: each pair at the same time, many times over. Whatever comes first, nothing that was answered is lost.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Body } from '../body.ts';
import { refuseWrites } from '../store/refused-writes.ts';
import { refusing, StandIn, sendJson } from './computes-stand-in.ts';
import { LabServer, until } from './lab-server.ts';

const TRIES = 8;

function members(object: Body, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, object[name]]));
}

/** What the topology file of a project says. */
async function fileOf(project: Body): Promise<Body> {
  return JSON.parse(await readFile(join(project.path, project.filename), 'utf8'));
}

/** Changes different members of one thing at the same time, and gives what was asked for and what there is then. */
async function putTogether(server: LabServer, path: string, bodies: readonly object[]): Promise<[object, object]> {
  const answers = await Promise.all(bodies.map((body) => server.call('PUT', path, body)));
  for (const { status, json } of answers) assert.ok(status < 300, JSON.stringify(json));
  const wanted = Object.assign({}, ...bodies) as object;
  return [wanted, members(await server.expect(200, 'GET', path), Object.keys(wanted))];
}

test('changes of different members at the same time are all kept: of a project, open or closed, with its file', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
  for (const verb of ['open', 'close']) {
    await server.expect(verb === 'open' ? 201 : 204, 'POST', `${path}/${verb}`);
    for (let number = 1; number <= TRIES; number++) {
      const bodies = [{ zoom: number }, { scene_width: 1000 + number }, { name: `lab ${verb} ${number}` }];
      const [wanted, found] = await putTogether(server, path, bodies);
      assert.deepEqual(found, wanted);
      if (verb === 'close') assert.deepEqual(members(await fileOf(project), Object.keys(wanted)), wanted);
    }
  }
  await server.stop();
  await server.start();
  const again = await server.expect(200, 'GET', path);
  assert.deepEqual([again.zoom, again.scene_width, again.name], [TRIES, 1000 + TRIES, `lab close ${TRIES}`]);
});

test('changes of different members at the same time are all kept: of a node, a drawing and a link', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
  const [one, other] = [await server.hub(project, 'A'), await server.hub(project, 'B')];
  const link = await server.link(project, [one, 0], [other, 0]);
  const drawing = await server.expect(201, 'POST', `${path}/drawings`, { svg: '<svg></svg>' });
  const last: Record<string, object> = {};
  for (let number = 1; number <= TRIES; number++) {
    const changes: Record<string, object[]> = {
      [`nodes/${one.node_id}`]: [{ x: number }, { name: `A${number}` }, { locked: number % 2 === 0 }, { y: -number }],
      [`drawings/${drawing.drawing_id}`]: [{ x: number }, { rotation: number }, { svg: `<svg>${number}</svg>` }],
      [`links/${link.link_id}`]: [{ suspend: number % 2 === 1 }, { link_style: { width: number } }],
    };
    await Promise.all(
      Object.entries(changes).map(async ([thing, bodies]) => {
        const [wanted, found] = await putTogether(server, `${path}/${thing}`, bodies);
        assert.deepEqual(found, wanted);
        last[thing] = wanted;
      }),
    );
  }
  await server.expect(204, 'POST', `${path}/close`);
  await server.expect(201, 'POST', `${path}/open`);
  for (const [thing, wanted] of Object.entries(last)) {
    assert.deepEqual(members(await server.expect(200, 'GET', `${path}/${thing}`), Object.keys(wanted)), wanted, thing);
  }
});

test('changes of different members at the same time are all kept: of the settings of the server', async (t) => {
  const server = await LabServer.start(t);
  for (let number = 1; number <= TRIES; number++) {
    for (const [path, bodies] of [
      ['/v2/gns3vm', [{ ram: number }, { vcpus: number }, { vmname: `vm ${number}` }]],
      ['/v2/iou_license', [{ iourc_content: `text ${number}` }, { license_check: number % 2 === 0 }]],
    ] as const) {
      const [wanted, found] = await putTogether(server, path, bodies);
      assert.deepEqual(found, wanted, path);
    }
  }
  const before = await Promise.all(['/v2/gns3vm', '/v2/iou_license'].map((path) => server.expect(200, 'GET', path)));
  await server.stop();
  await server.start();
  const after = await Promise.all(['/v2/gns3vm', '/v2/iou_license'].map((path) => server.expect(200, 'GET', path)));
  assert.deepEqual(after, before);
});

test('a name is given to one project only, however it is asked for', async (t) => {
  const server = await LabServer.start(t);
  for (let number = 1; number <= TRIES; number++) {
    const [one, other] = [await server.project(`a ${number}`), await server.project(`b ${number}`)];
    const name = `taken ${number}`;
    const answers = await Promise.all([
      server.call('PUT', `/v2/projects/${one.project_id}`, { name }),
      server.call('PUT', `/v2/projects/${other.project_id}`, { name }),
      server.call('POST', '/v2/projects', { name }),
      server.call('POST', `/v2/projects/${one.project_id}/duplicate`, { name }),
    ]);
    assert.equal(answers.slice(0, 3).filter(({ status }) => status < 300).length <= 1, true);
    for (const { status } of answers) assert.ok([200, 201, 409].includes(status), String(status));
    const projects: Body[] = await server.expect(200, 'GET', '/v2/projects');
    assert.equal(projects.filter((project) => project.name === name).length, 1);
    assert.equal(new Set(projects.map((project) => project.name)).size, projects.length);
  }
});

test('creations with one id make one thing, and each answer has the one that is kept', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
  for (let number = 1; number <= TRIES; number++) {
    const id = randomUUID();
    const hub = { node_type: 'ethernet_hub', compute_id: 'local', node_id: id };
    const [one, other, third] = await Promise.all([
      server.hub(project, 'A', hub),
      server.hub(project, 'B', hub),
      server.hub(project, 'C', hub),
    ]);
    assert.deepEqual([other, third], [one, one]);
    assert.deepEqual(await server.expect(200, 'GET', `${path}/nodes/${id}`), one);
    const drawings = await Promise.all(
      [1, 2].map((x) => server.expect(201, 'POST', `${path}/drawings`, { drawing_id: id, x })),
    );
    assert.deepEqual(drawings[0], drawings[1]);
    const projects = await Promise.all(
      ['one', 'two'].map((name) =>
        server.expect(201, 'POST', '/v2/projects', { project_id: id, name: `${name} ${number}` }),
      ),
    );
    assert.deepEqual(projects[0], projects[1]);
  }
  // Names that nobody has are free again.
  const names = (await server.expect(200, 'GET', `${path}/nodes`)).map(({ name }: Body) => name);
  assert.equal(new Set(names).size, TRIES);
  const next = await server.hub(project, 'B');
  assert.equal(next.name, names.includes('B') ? 'B1' : 'B');
});

test('a link that is made while one of its nodes is deleted goes with it, or is refused', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
  const stays = await server.hub(project, 'Stays');
  for (let number = 0; number < TRIES; number++) {
    const goes = await server.hub(project, 'Goes');
    const nodes = [goes, stays].map((node) => ({ node_id: node.node_id, adapter_number: 0, port_number: 0 }));
    const create = (): Promise<Body> => server.call('POST', `${path}/links`, { nodes });
    const remove = (): Promise<Body> => server.call('DELETE', `${path}/nodes/${goes.node_id}`);
    const [created, removed] =
      number % 2 === 0 ? await Promise.all([create(), remove()]) : (await Promise.all([remove(), create()])).reverse();
    assert.equal(removed?.status, 204);
    assert.ok([201, 404].includes(created?.status), JSON.stringify(created?.json));
    assert.deepEqual(await server.expect(200, 'GET', `${path}/links`), []);
    assert.deepEqual(await server.expect(200, 'GET', `${path}/nodes/${stays.node_id}/links`), []);
  }
  await server.expect(204, 'POST', `${path}/close`);
  const { nodes, links } = (await fileOf(project)).topology;
  assert.deepEqual([nodes.map(({ name }: Body) => name), links], [['Stays'], []]);
});

test('a link that is changed while it is deleted does not come back', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
  const [one, other] = [await server.hub(project, 'A'), await server.hub(project, 'B')];
  for (let number = 0; number < TRIES; number++) {
    const link = await server.link(project, [one, 0], [other, 0]);
    const url = `${path}/links/${link.link_id}`;
    const [put, removed, again] = await Promise.all([
      server.call('PUT', url, { link_style: { width: number + 2 } }),
      server.call('DELETE', url),
      server.call('PUT', url, { suspend: true }),
    ]);
    assert.equal(removed.status, 204);
    for (const { status } of [put, again]) assert.ok(status === 201 || status === 404, String(status));
    await server.expect(204, 'POST', `${path}/close`);
    await server.expect(201, 'POST', `${path}/open`);
    assert.deepEqual(await server.expect(200, 'GET', `${path}/links`), []);
  }
});

test('of two captures of a link that are started at the same time one runs, and can be stopped and started again', async (t) => {
  const { server, project } = await LabServer.withLab(t, { auto_close: false });
  const [one, other] = [await server.hub(project, 'A'), await server.hub(project, 'B')];
  const link = await server.link(project, [one, 0], [other, 0]);
  const url = `/v2/projects/${project.project_id}/links/${link.link_id}`;
  for (let number = 0; number < TRIES; number++) {
    const names = [`a${number}.pcap`, `b${number}.pcap`];
    const answers = await Promise.all(
      names.map((name) => server.call('POST', `${url}/start_capture`, { capture_file_name: name })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409]);
    const now = await server.expect(200, 'GET', url);
    const started = answers.find(({ status }) => status === 201);
    assert.deepEqual([now.capturing, now.capture_file_name], [true, started?.json.capture_file_name]);
    const stops = await Promise.all([1, 2].map(() => server.call('POST', `${url}/stop_capture`)));
    assert.deepEqual(
      stops.map(({ status }) => status),
      [201, 201],
    );
    assert.equal((await server.expect(200, 'GET', url)).capturing, false);
  }
});

test('what a compute says of a node that is being deleted, or is gone, writes no record of it', async (t) => {
  const stored = { status: 'stopped', console: 5000, console_type: 'telnet' };
  const it = await StandIn.start(t, {
    'POST /projects/[^/]+/vpcs/nodes': stored,
    'POST /projects/[^/]+/(stop|close)': {},
    'POST /projects': {},
  });
  const server = await LabServer.start(t);
  await server.expect(201, 'POST', '/v2/computes', it.body());
  const project = await server.project('lab', { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  const update = (node: Body, more: object): object => ({
    action: 'node.updated',
    event: { ...stored, project_id: project.project_id, node_id: node.node_id, name: node.name, ...more },
    project_id: project.project_id,
  });
  const marker = await server.hub(project, 'Marker');
  for (let number = 0; number < TRIES; number++) {
    const body = { name: 'PC', node_type: 'vpcs', compute_id: 'it' };
    const node = await server.expect(201, 'POST', `${path}/nodes`, body);
    it.answers['DELETE /projects.*'] = (request, response) => {
      request.resume();
      for (const socket of it.listeners) socket.send(JSON.stringify(update(node, { console: 6000 + number })));
      sendJson(response, 200, {});
      for (const socket of it.listeners) socket.send(JSON.stringify(update(node, { usage: number })));
    };
    await server.expect(204, 'DELETE', `${path}/nodes/${node.node_id}`);
    await it.notify(update(node, { console: 7000 + number }));
  }
  // What was sent last has been heard when what is sent after it has.
  const events = await server.record(`${path}/notifications/ws`);
  await it.notify({ action: 'log.info', event: { message: 'over' }, project_id: project.project_id });
  await until(() => events.some(({ action }) => action === 'log.info'), 'the last message');
  await server.expect(200, 'PUT', `${path}/nodes/${marker.node_id}`, { x: 1 });
  await server.expect(204, 'POST', `${path}/close`);
  assert.deepEqual(
    (await fileOf(project)).topology.nodes.map(({ name }: Body) => name),
    ['Marker'],
  );
});

test('what a compute says while a change is sent to it is not lost, nor is the change', async (t) => {
  const it = await StandIn.start(t, {
    'POST /projects/[^/]+/vpcs/nodes': { status: 'stopped', console: 5000, console_type: 'telnet' },
    'POST /projects': {},
    'DELETE /projects.*': {},
  });
  const server = await LabServer.start(t);
  await server.expect(201, 'POST', '/v2/computes', it.body());
  const project = await server.project('lab', { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  const node = await server.expect(201, 'POST', `${path}/nodes`, { name: 'PC', node_type: 'vpcs', compute_id: 'it' });
  const url = `${path}/nodes/${node.node_id}`;
  const ids = { project_id: project.project_id, node_id: node.node_id };
  const told = (event: object): object => ({
    action: 'node.updated',
    event: { ...ids, ...event },
    project_id: project.project_id,
  });
  let answer: (() => void) | undefined;
  it.answers['PUT /projects.*'] = (request, response) => {
    request.resume();
    for (const socket of it.listeners) socket.send(JSON.stringify(told({ said: 1, status: 'started' })));
    answer = () => sendJson(response, 200, { name: 'PC', asked: 1 });
  };
  const put = server.call('PUT', url, { properties: { asked: 1 }, x: 77 });
  await until(async () => (await server.expect(200, 'GET', url)).status === 'started', 'the status');
  const moved = server.call('PUT', url, { y: 88 });
  answer?.();
  assert.deepEqual([(await put).status, (await moved).status], [200, 200]);
  const now = await server.expect(200, 'GET', url);
  assert.deepEqual([now.x, now.y, now.properties], [77, 88, { asked: 1, said: 1 }]);

  // A change that is refused leaves what was said meanwhile.
  it.answers['PUT /projects.*'] = (request, response) => {
    for (const socket of it.listeners) socket.send(JSON.stringify(told({ said: 2, status: 'suspended' })));
    answer = () => refusing(409)(request, response);
  };
  const refused = server.call('PUT', url, { properties: { asked: 2 }, x: 99 });
  await until(async () => (await server.expect(200, 'GET', url)).status === 'suspended', 'the status');
  answer?.();
  assert.equal((await refused).status, 409);
  const still = await server.expect(200, 'GET', url);
  assert.deepEqual([still.x, still.properties], [77, { asked: 1, said: 2 }]);
});

test('a label that comes with a name keeps its own place; the text is the name', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  const node = await server.hub(project, 'A');
  const url = `/v2/projects/${project.project_id}/nodes/${node.node_id}`;
  const label = { text: 'other', x: -5, y: 6 };
  const now = await server.expect(200, 'PUT', url, { name: 'B', label });
  assert.deepEqual(now.label, { ...label, text: 'B' });
  assert.deepEqual((await server.expect(200, 'PUT', url, { name: 'C' })).label, { ...label, text: 'C', x: null });
});

test('the end of a link names the file of a capture that was stopped', async (t) => {
  const { server, project } = await LabServer.withLab(t, { auto_close: false });
  const [one, other] = [await server.hub(project, 'A'), await server.hub(project, 'B')];
  const link = await server.link(project, [one, 0], [other, 0]);
  const url = `/v2/projects/${project.project_id}/links/${link.link_id}`;
  const started = await server.expect(201, 'POST', `${url}/start_capture`, { capture_file_name: 'c.pcap' });
  await server.expect(201, 'POST', `${url}/stop_capture`);
  const events = await server.record(`/v2/projects/${project.project_id}/notifications/ws`);
  await server.expect(204, 'DELETE', url);
  await until(() => events.length > 0, 'the event');
  const { action, event } = events[0]!;
  assert.equal(action, 'link.deleted');
  assert.deepEqual(
    [event.capturing, event.capture_file_name, event.capture_file_path, event.capture_compute_id],
    [false, 'c.pcap', started.capture_file_path, null],
  );
});

test('what is deleted while a lab is locked, or a node isolated, is skipped', async (t) => {
  const server = await LabServer.start(t);
  const project = await server.project('lab', { auto_close: false });
  const [v2, v3] = ['v2', 'v3'].map((version) => `/${version}/projects/${project.project_id}`) as [string, string];
  const hub = await server.hub(project, 'Hub');
  const links: Body[] = [];
  for (let port = 0; port < 8; port++)
    links.push(await server.link(project, [hub, port], [await server.hub(project, `Hub${port}`), 0]));
  const meanwhile = (verb: string, gone: string): Promise<unknown> =>
    Promise.all([server.expect(204, 'POST', verb), server.expect(204, 'DELETE', gone)]);
  await meanwhile(`${v3}/nodes/${hub.node_id}/isolate`, `${v2}/links/${links[6].link_id}`);
  await meanwhile(`${v3}/nodes/${hub.node_id}/unisolate`, `${v2}/links/${links[7].link_id}`);
  const nodes: Body[] = await server.expect(200, 'GET', `${v2}/nodes`);
  await meanwhile(`${v3}/lock`, `${v2}/nodes/${nodes[8].node_id}`);
  assert.equal(await server.expect(200, 'GET', `${v3}/locked`), true);
  // Locked nodes are not deleted.
  await server.expect(204, 'POST', `${v3}/unlock`);
  assert.equal(await server.expect(200, 'GET', `${v3}/locked`), false);
});

test('a lab is locked as a whole, or not at all', async (t) => {
  const { server, project } = await LabServer.withLab(t, { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  for (const name of ['A', 'B', 'C']) await server.hub(project, name);
  await server.expect(201, 'POST', `${path}/drawings`, {});
  const events = await server.record(`${path}/notifications/ws`);
  const nodes: Body[] = await server.expect(200, 'GET', `${path}/nodes`);
  const accept = await refuseWrites(server.state, `UPDATE ON lab_record WHEN OLD.id = '${nodes[1].node_id}'`);
  const locked = async (): Promise<unknown[]> => {
    const lists = await Promise.all(['nodes', 'drawings'].map((kind) => server.expect(200, 'GET', `${path}/${kind}`)));
    return lists.flat().map((part: Body) => part.locked);
  };
  assert.ok((await server.call('POST', `${path}/lock`)).status >= 400);
  assert.deepEqual(await locked(), [false, false, false, false]);
  await accept();
  await server.expect(204, 'POST', `${path}/lock`);
  assert.deepEqual(await locked(), [true, true, true, true]);
  await until(() => events.length === 4, 'an event of each part');
  assert.deepEqual(events.map(({ action, event }) => [action, event.locked]).toSorted(), [
    ['drawing.updated', true],
    ...Array.from({ length: 3 }, () => ['node.updated', true]),
  ]);
});

test('a node is isolated as a whole, or not at all', async (t) => {
  const it = await StandIn.start(t, {
    'POST /projects': {},
    'POST /projects/[^/]+/vpcs/nodes': { status: 'stopped', console: 5000, console_type: 'telnet' },
    'POST /projects/[^/]+/qemu/nodes': { status: 'stopped', console: 5001, console_type: 'telnet' },
    'POST /projects/.*/(ports/udp|nio|close|stop)': { udp_port: 20_000 },
    'PUT /projects/.*/adapters/2/ports/0/nio': {},
    'PUT /projects/.*/nio': {},
    'DELETE /projects.*': {},
  });
  const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
  await server.expect(201, 'POST', '/v2/computes', it.body());
  const node = (body: object): Promise<Body> =>
    server.expect(201, 'POST', `${path}/nodes`, { compute_id: 'it', ...body });
  const router = await node({ name: 'R', node_type: 'qemu', properties: { adapters: 3 } });
  for (const adapter of [0, 1, 2]) {
    const pc = await node({ name: `PC${adapter}`, node_type: 'vpcs' });
    const ends = [router, pc].map(({ node_id }, index) => ({
      node_id,
      adapter_number: index === 0 ? adapter : 0,
      port_number: 0,
    }));
    await server.expect(201, 'POST', `${path}/links`, { nodes: ends });
  }
  const suspended = async (): Promise<unknown[]> =>
    (await server.expect(200, 'GET', `${path}/links`)).map(({ suspend }: Body) => suspend);
  const isolation = `/v3/projects/${project.project_id}/nodes/${router.node_id}`;
  // The compute refuses the third link.
  const refused = 'PUT /projects/.*/adapters/2/ports/0/nio';
  it.answers[refused] = refusing(409);
  it.heard.length = 0;
  assert.ok((await server.call('POST', `${isolation}/isolate`)).status >= 400);
  assert.deepEqual(await suspended(), [false, false, false]);
  const last = it.heard.findLast(({ call }) => call.startsWith('PUT') && call.includes('/adapters/1/'));
  assert.equal(JSON.parse(last!.body).suspend, false);
  it.answers[refused] = {};
  for (const [action, wanted] of [
    ['isolate', true],
    ['unisolate', false],
  ] as const) {
    await server.expect(204, 'POST', `${isolation}/${action}`);
    assert.deepEqual(await suspended(), [wanted, wanted, wanted]);
  }
});
