// Labs with nodes on other computes: what these say is believed as far as it concerns their own nodes, and what they forget comes back.
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Failure } from '../../src/failures.ts';
import { Projects as StoredProjects } from '../../src/store/projects.ts';
import type { Body } from '../body.ts';
import { refusing, StandIn, sendJson } from './computes-stand-in.ts';
import { LabServer, until } from './lab-server.ts';

/** A well-behaved compute of PCs and hubs. */
const PCS: StandIn['answers'] = {
  'POST /projects': {},
  'POST /projects/[^/]+/vpcs/nodes': { status: 'stopped', console: 5000, console_type: 'telnet' },
  'POST /projects/[^/]+/(stop|close|ports/udp)': { udp_port: 20_000 },
  'POST /projects/.*/(start|stop|nio)': {},
  'DELETE /projects.*': {},
};

const ID = /[0-9a-f]{8}-[0-9a-f-]{27}/g;
const plain = (calls: readonly string[]): string[] => calls.map((call) => call.replaceAll(ID, 'x'));

async function pair(t: TestContext, answers: StandIn['answers'] = {}): Promise<{ it: StandIn; server: LabServer }> {
  const it = await StandIn.start(t, { ...answers, ...PCS, ...answers });
  const server = await LabServer.start(t);
  await server.expect(201, 'POST', '/v2/computes', it.body());
  it.heard.length = 0;
  return { it, server };
}

const pc = (more: object = {}): object => ({ name: 'PC1', node_type: 'vpcs', compute_id: 'it', ...more });

test('a compute is informed of a project before its first node there, and of nothing earlier', async (t) => {
  const { it, server } = await pair(t);
  const project = await server.project('lab', { variables: [{ name: 'V', value: 'x' }] });
  assert.deepEqual(it.calls, []);
  const url = `/v2/projects/${project.project_id}`;
  const node = await server.expect(201, 'POST', `${url}/nodes`, pc());
  await server.expect(201, 'POST', `${url}/nodes`, pc());
  assert.deepEqual(plain(it.calls), ['POST /projects', 'POST /projects/x/vpcs/nodes', 'POST /projects/x/vpcs/nodes']);
  const { project_id: id } = project;
  assert.deepEqual(JSON.parse(it.heard[0]!.body), { name: 'lab', project_id: id, variables: project.variables });
  assert.deepEqual(JSON.parse(it.heard[1]!.body), { name: 'PC1', node_id: node.node_id });
  assert.deepEqual([node.console, node.console_host, node.status], [5000, '127.0.0.1', 'stopped']);
});

test('an answer that is no node leaves no node, neither here nor there', async (t) => {
  const nodes = 'POST /projects/[^/]+/vpcs/nodes';
  const { it, server } = await pair(t);
  const { project_id: id } = await server.project();
  for (const answer of [
    (_request, response) => response.writeHead(201).end('<html>'),
    (_request, response) => sendJson(response, 201, []),
    (_request, response) => response.writeHead(201).end(),
    (_request, response) => void response.socket?.destroy(),
  ] as StandIn['answers'][string][]) {
    it.answers[nodes] = answer!;
    await server.expect(409, 'POST', `/v2/projects/${id}/nodes`, pc());
    assert.equal(plain(it.calls).at(-1), 'DELETE /projects/x/vpcs/nodes/x');
  }
  it.answers[nodes] = refusing(409);
  it.heard.length = 0;
  await server.expect(409, 'POST', `/v2/projects/${id}/nodes`, pc());
  assert.deepEqual(plain(it.calls), ['POST /projects/x/vpcs/nodes']);
  assert.deepEqual(await server.expect(200, 'GET', `/v2/projects/${id}/nodes`), []);
  // What cannot be read again is not kept.
  it.answers[nodes] = { console: 'x', status: 'on fire', console_type: 7, node_directory: 1, odd: true };
  const node = await server.expect(201, 'POST', `/v2/projects/${id}/nodes`, pc());
  assert.deepEqual([node.console, node.status, node.console_type, node.node_directory], [null, 'stopped', null, null]);
  assert.deepEqual(node.properties, { odd: true });
});

test('a compute speaks for its own nodes only', async (t) => {
  const { it, server } = await pair(t);
  const project = await server.project();
  const ours = await server.hub(project, 'Hub');
  const theirs = await server.expect(201, 'POST', `/v2/projects/${project.project_id}/nodes`, pc());
  const told = (node: { node_id: string }, event: object): Promise<void> => {
    const ids = { project_id: project.project_id, node_id: node.node_id };
    return it.notify({ action: 'node.updated', event: { ...ids, ...event }, project_id: project.project_id });
  };
  const other = await server.project('other');
  const events = await server.record(`/v2/projects/${other.project_id}/notifications/ws`);
  await it.notify({ action: 'log.error', event: { message: 'no' }, project_id: other.project_id });
  await it.notify({ action: 'log.error', event: { message: 'to all' } });
  await told(ours, { status: 'suspended', name: 'Stolen' });
  await told(theirs, { status: 'started', command_line: 'vpcs' });
  const read = (node: { node_id: string }) =>
    server.expect(200, 'GET', `/v2/projects/${project.project_id}/nodes/${node.node_id}`);
  await until(async () => (await read(theirs)).status === 'started', 'the change');
  assert.deepEqual(events, [{ action: 'log.error', event: { message: 'to all' } }]);
  assert.deepEqual(await read(ours), ours);
});

test('nonsense that a compute announces does no harm', async (t) => {
  const { it, server } = await pair(t);
  const { project_id } = await server.project();
  const { node_id } = await server.expect(201, 'POST', `/v2/projects/${project_id}/nodes`, pc());
  const listeners = await Promise.all(
    ['v2', 'v3'].map((v) => server.record(`/${v}/projects/${project_id}/notifications/ws`)),
  );
  const nonsense = [
    ['log.error', { message: 5 }],
    ['node.created', { node_id, node_type: 'toaster', status: 'started' }],
    [
      'node.created',
      { node_id, node_type: 5, status: 'started', ports: [5], ports_mapping: [5], properties: { ports_mapping: [5] } },
    ],
    ['link.created', { nodes: [null] }],
    ['log.error', { message: 'the last one' }],
  ] as const;
  for (const [action, event] of nonsense) await it.notify({ action, event: { project_id, ...event }, project_id });
  for (const messages of listeners)
    await until(() => messages.some(({ event }) => event.message === 'the last one'), 'the last one');
});

test('an image that a compute misses is sent there, however big, and only images are', async (t) => {
  const images = new Map<string, number>();
  const wanted = ['first.img', 'second.img'];
  const { it, server } = await pair(t, {
    'POST /projects/[^/]+/qemu/nodes': (request, response) => {
      request.resume();
      const image = wanted.find((name) => !images.has(name));
      if (image === undefined) return sendJson(response, 201, { status: 'stopped' });
      sendJson(response, 409, { message: 'missing', exception: 'ImageMissingError', image, status: 409 });
    },
    'POST /qemu/images/.*': (request, response) => {
      let size = 0;
      request.on('data', (chunk: Buffer) => {
        size += chunk.length;
      });
      request.on('end', () => {
        images.set(decodeURIComponent(request.url!.split('/').at(-1)!), size);
        response.writeHead(204).end();
      });
    },
  });
  const project = await server.project();
  const events = await server.record(`/v2/projects/${project.project_id}/notifications/ws`);
  const url = `/v2/projects/${project.project_id}/nodes`;
  const qemu = { name: 'VM', node_type: 'qemu', compute_id: 'it', properties: { hda_disk_image: 'first.img' } };
  const size = 20 * 1024 * 1024;
  await mkdir(join(server.state, 'images/QEMU'), { recursive: true });
  await writeFile(join(server.state, 'images/QEMU/first.img'), Buffer.alloc(size, 1));
  // The second one is not here either.
  assert.match((await server.expect(409, 'POST', url, qemu)).message, /missing/);
  assert.deepEqual([...images], [['first.img', size]]);
  await writeFile(join(server.state, 'images/QEMU/second.img'), 'tiny image');
  await server.expect(201, 'POST', url, qemu);
  assert.deepEqual([...images.keys()], wanted);
  await until(() => events.some(({ action }) => action === 'node.created'), 'the events');
  const told = events.filter(({ action }) => action === 'log.info').map(({ event }) => event.message);
  assert.equal(told.length, 4);
  assert.match(told[0], /misses the image first\.img/);

  await writeFile(join(server.state, 'secret'), 'not for strangers');
  for (const name of ['../../secret', join(server.state, 'secret'), '/etc/passwd', '..', '', 'labwire.db']) {
    wanted.splice(0, 9, name);
    images.clear();
    await server.expect(409, 'POST', url, qemu);
    assert.deepEqual([...images], []);
  }
  // One that is sent and still missed is not sent again and again.
  it.answers['POST /qemu/images/.*'] = { fine: true };
  wanted.splice(0, 9, 'first.img');
  images.clear();
  it.heard.length = 0;
  await server.expect(409, 'POST', url, qemu);
  assert.equal(it.calls.filter((call) => call.includes('/images/')).length, 1);
});

test('deleting a compute closes the labs that use it, and no other', async (t) => {
  const { it, server } = await pair(t);
  const [using, other] = [await server.project('using'), await server.project('other')];
  await server.expect(201, 'POST', `/v2/projects/${using.project_id}/nodes`, pc());
  await server.hub(other, 'Hub');
  await server.expect(204, 'DELETE', '/v2/computes/it');
  const status = async ({ project_id: id }: { project_id: string }) =>
    (await server.expect(200, 'GET', `/v2/projects/${id}`)).status;
  assert.deepEqual([await status(using), await status(other)], ['closed', 'opened']);
  assert.equal(plain(it.calls).at(-1), 'POST /projects/x/close');
  await until(() => it.listeners.length === 0, 'the end of the connection');
});

/** The compute vanishes, and its labs know it. */
async function vanish(it: StandIn, server: LabServer): Promise<void> {
  await it.close();
  await until(async () => {
    const { connected, last_error: reason } = await server.expect(200, 'GET', '/v2/computes/it');
    return !connected && reason !== null;
  }, 'the loss');
}

test('a host of another release knows no addresses of its running nodes; other failures are reported', async (t) => {
  const { it, server } = await pair(t);
  const project = await server.project();
  it.answers['POST /projects/[^/]+/vpcs/nodes'] = { status: 'started', console: 5000, console_type: 'telnet' };
  const { node_id } = await server.expect(201, 'POST', `/v2/projects/${project.project_id}/nodes`, pc());
  const path = `/v2/projects/${project.project_id}/nodes/${node_id}/addresses`;
  assert.deepEqual(await server.expect(200, 'GET', path), []);
  it.answers['GET /projects/.*/addresses'] = ['10.0.0.2/24'];
  assert.deepEqual(await server.expect(200, 'GET', path), ['10.0.0.2/24']);
  it.answers['GET /projects/.*/addresses'] = refusing(409);
  await server.expect(409, 'GET', path);
});

test('a lab whose host is lost stays open: its nodes there are stopped and say why, the others go on', async (t) => {
  const { it, server } = await pair(t);
  const project = await server.project();
  const url = `/v2/projects/${project.project_id}`;
  it.answers['POST /projects/[^/]+/vpcs/nodes'] = { status: 'started', console: 5000, console_type: 'telnet' };
  const theirs = await server.expect(201, 'POST', `${url}/nodes`, pc());
  const [hub, other] = [await server.hub(project, 'Hub'), await server.hub(project, 'Hub2')];
  const events = await server.record(`${url}/notifications/ws`);
  await vanish(it, server);
  const reason = /^The host It is not connected\. .*ECONNREFUSED/;
  await until(() => events.length === 2, 'the change and the warning');
  assert.deepEqual(
    events.map(({ action, event }) => [action, event.status]),
    [
      ['node.updated', 'stopped'],
      ['log.warning', undefined],
    ],
  );
  assert.match(events[0]!.event.lost_reason, reason);
  assert.match(events[1]!.event.message, /Its node here is lost until it is back\./);
  const node = `${url}/nodes/${theirs.node_id}`;
  for (const action of ['start', 'stop', 'suspend', 'reload', 'console/reset']) {
    assert.match((await server.expect(409, 'POST', `${node}/${action}`)).message, /host It is not connected/, action);
  }
  for (const action of ['start', 'stop', 'suspend', 'reload']) {
    const { left_out: left } = await server.expect(200, 'POST', `${url}/nodes/${action}`);
    assert.deepEqual(
      left.map(({ name, compute_id }: Record<string, string>) => [name, compute_id]),
      [['PC1', 'it']],
      action,
    );
    assert.match(left[0].reason, reason);
  }
  await server.link(project, [hub, 0], [other, 0]);
  const ends = [hub, theirs].map(({ node_id }, port_number) => ({ node_id, adapter_number: 0, port_number }));
  ends[1]!.port_number = 0;
  ends[0]!.port_number = 1;
  assert.match((await server.expect(409, 'POST', `${url}/links`, { nodes: ends })).message, /host It is not connected/);
  assert.equal((await server.expect(200, 'GET', url)).status, 'opened');
  // Clients of the release send back what they were told.
  await server.expect(200, 'PUT', node, { x: 7, lost_reason: 'whatever' });

  await server.expect(204, 'POST', `${url}/close`);
  await server.expect(201, 'POST', `${url}/open`);
  const [again] = await server.expect(200, 'GET', `${url}/nodes`);
  assert.deepEqual([again.name, again.status, again.x], ['PC1', 'stopped', 7]);
  assert.match(again.lost_reason, reason);
  assert.equal((await server.expect(201, 'POST', `${url}/duplicate`, { name: 'copy' })).name, 'copy');
  await server.expect(201, 'POST', `${url}/snapshots`, { name: 'kept' });
  it.answers['GET /projects'] = [];
  it.heard.length = 0;
  await it.listen();
  await until(async () => (await server.expect(200, 'GET', node)).status === 'started', 'the return');
  assert.ok(plain(it.calls).includes('POST /projects/x/vpcs/nodes'), 'it is made there');
});

test('a topology brings the computes of its nodes with it', async (t) => {
  const { it, server } = await pair(t);
  const project = await server.project();
  await server.expect(201, 'POST', `/v2/projects/${project.project_id}/nodes`, pc());
  await server.expect(204, 'POST', `/v2/projects/${project.project_id}/close`);
  await server.expect(204, 'DELETE', '/v2/computes/it');
  const file = join(project.path, project.filename);
  const topology = JSON.parse(await readFile(file, 'utf8'));
  const unused = { compute_id: 'unused', name: 'Unused', protocol: 'http', host: 'example.invalid', port: 1 };
  topology.topology.computes.push(unused);
  await writeFile(file, JSON.stringify(topology));
  await server.expect(201, 'POST', `/v2/projects/${project.project_id}/open`);
  const computes = await server.expect(200, 'GET', '/v2/computes');
  assert.deepEqual(
    computes
      .slice(1, -1)
      .map((entry: Record<string, unknown>) => [entry['compute_id'], entry['name'], entry['port'], entry['user']]),
    [['it', 'It', it.port, null]],
  );
});

test('a project is deleted while a host of it is away, and there when that is back', async (t) => {
  const { it, server } = await pair(t);
  for (const isOpen of [true, false]) {
    const project = await server.project();
    const url = `/v2/projects/${project.project_id}`;
    await server.expect(201, 'POST', `${url}/nodes`, pc());
    if (!isOpen) await server.expect(204, 'POST', `${url}/close`);
    await vanish(it, server);
    await server.expect(204, 'DELETE', url);
    await server.expect(404, 'GET', url);
    it.heard.length = 0;
    await it.listen();
    await until(() => plain(it.calls).includes('DELETE /projects/x'), 'the deletion');
  }
});

test('a project that cannot be deleted here keeps its files on other hosts; one that a host keeps is deleted there later', async (t) => {
  const { it, server } = await pair(t);
  const project = await server.project('lab', { auto_close: false });
  const url = `/v2/projects/${project.project_id}`;
  await server.expect(201, 'POST', `${url}/nodes`, pc());
  t.mock.method(StoredProjects.prototype, 'delete', async () => {
    throw new Failure('out-of-space', 'planted');
  });
  await server.expect(507, 'DELETE', url);
  t.mock.restoreAll();
  const deletion = `DELETE /projects/${project.project_id}`;
  const back = async (): Promise<void> => {
    await vanish(it, server);
    it.heard.length = 0;
    await it.listen();
    await until(async () => (await server.expect(200, 'GET', '/v2/computes/it')).connected, 'the connection');
    await server.expect(200, 'GET', '/v2/computes/it/ports');
  };
  it.answers['GET /network/ports'] = {};
  assert.ok(!it.calls.includes(deletion));
  await back();
  assert.ok(!it.calls.includes(deletion), 'the failed deletion is forgotten');

  it.answers['DELETE /projects.*'] = refusing(409);
  await server.expect(204, 'DELETE', url);
  await server.expect(404, 'GET', url);
  assert.ok(it.calls.includes(deletion));
  it.answers['DELETE /projects.*'] = {};
  await back();
  assert.ok(it.calls.includes(deletion));
});

test('what is deleted while its host is away goes there when that is back, and nothing else', async (t) => {
  const { it, server } = await pair(t);
  const project = await server.project();
  const url = `/v2/projects/${project.project_id}`;
  const nodes: { node_id: string }[] = [];
  for (const name of ['PC1', 'PC2', 'PC3', 'PC4', 'PC5'])
    nodes.push(await server.expect(201, 'POST', `${url}/nodes`, pc({ name })));
  const [one, two, three, four, five] = nodes as Body[];
  const hub = await server.hub(project, 'Hub');
  const link = await server.link(project, [one, 0], [two, 0]);
  await server.link(project, [three, 0], [hub, 0]).catch(() => {});
  await server.link(project, [four, 0], [five, 0]);
  await vanish(it, server);
  await server.expect(204, 'DELETE', `${url}/links/${link.link_id}`);
  await server.expect(204, 'DELETE', `${url}/nodes/${three.node_id}`);
  // The NIO of the node that stays is removed, too: its port could never be linked again.
  await server.expect(204, 'DELETE', `${url}/nodes/${four.node_id}`);
  it.answers['GET /projects'] = [{ project_id: project.project_id }];
  it.answers['GET /projects/[^/]+/vpcs/nodes/.*'] = { status: 'started' };
  it.heard.length = 0;
  await it.listen();
  await until(async () => {
    const { status } = await server.expect(200, 'GET', `${url}/nodes/${two.node_id}`);
    return status === 'started';
  }, 'the return');
  const base = `DELETE /projects/${project.project_id}/vpcs/nodes`;
  const nio = '/adapters/0/ports/0/nio';
  assert.deepEqual(
    new Set(it.calls.filter((call) => call.startsWith('DELETE'))),
    new Set([
      ...[one, two, five].map(({ node_id: id }) => `${base}/${id}${nio}`),
      ...[three, four].map(({ node_id: id }) => `${base}/${id}`),
    ]),
  );
});

test('a link whose host vanishes while it is made leaves its ports free once the host is back', async (t) => {
  const { it, server } = await pair(t);
  const project = await server.project();
  const url = `/v2/projects/${project.project_id}`;
  const [one, other] = [
    await server.expect(201, 'POST', `${url}/nodes`, pc()),
    await server.expect(201, 'POST', `${url}/nodes`, pc({ name: 'PC2' })),
  ];
  const nio = (node: Body): string =>
    `/projects/${project.project_id}/vpcs/nodes/${node.node_id}/adapters/0/ports/0/nio`;
  // It vanishes when it has made the first of the two NIOs.
  it.answers['POST /projects/.*/(start|stop|nio)'] = (request, response) => {
    if (request.url?.endsWith(nio(other))) void it.close();
    else sendJson(response, 201, {});
  };
  const nodes = [one, other].map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 0 }));
  await server.expect(409, 'POST', `${url}/links`, { nodes });
  it.answers['GET /projects'] = [{ project_id: project.project_id }];
  it.answers['GET /projects/[^/]+/vpcs/nodes/.*'] = { status: 'stopped' };
  it.heard.length = 0;
  await it.listen();
  await until(() => [one, other].every((node) => it.calls.includes(`DELETE ${nio(node)}`)), 'the removal of both');
});

test('what its host refuses to remove keeps nothing else there', async (t) => {
  const { it, server } = await pair(t);
  const project = await server.project();
  const url = `/v2/projects/${project.project_id}`;
  const nodes: { node_id: string }[] = [];
  for (const name of ['PC1', 'PC2', 'PC3']) nodes.push(await server.expect(201, 'POST', `${url}/nodes`, pc({ name })));
  await vanish(it, server);
  for (const { node_id: id } of nodes.slice(0, 2)) await server.expect(204, 'DELETE', `${url}/nodes/${id}`);
  it.answers['GET /projects'] = [{ project_id: project.project_id }];
  it.answers['GET /projects/[^/]+/vpcs/nodes/.*'] = { status: 'stopped' };
  it.answers['DELETE /projects.*'] = refusing(409);
  it.heard.length = 0;
  await it.listen();
  const removals = (): string[] => it.calls.filter((call) => call.startsWith('DELETE'));
  await until(() => new Set(removals()).size > 1, 'both removals');
  const wanted = nodes.slice(0, 2).map(({ node_id: id }) => `DELETE /projects/${project.project_id}/vpcs/nodes/${id}`);
  assert.deepEqual(new Set(removals()), new Set(wanted));
});

test('a link that is deleted while it is wired again leaves nothing at its nodes', async (t) => {
  const { it, server } = await pair(t);
  const project = await server.project();
  const url = `/v2/projects/${project.project_id}`;
  const [one, other] = [
    await server.expect(201, 'POST', `${url}/nodes`, pc()),
    await server.expect(201, 'POST', `${url}/nodes`, pc({ name: 'PC2' })),
  ];
  const link = await server.link(project, [one, 0], [other, 0]);
  await vanish(it, server);
  const asked = Promise.withResolvers<() => void>();
  it.answers['POST /projects/[^/]+/(stop|close|ports/udp)'] = (request, response) => {
    request.resume();
    const answer = (): void => sendJson(response, 201, { udp_port: 20_000 });
    if (it.calls.filter((call) => call.endsWith('/ports/udp')).length > 1) answer();
    else asked.resolve(answer);
  };
  it.heard.length = 0;
  await it.listen();
  const release = await asked.promise;
  await server.expect(204, 'DELETE', `${url}/links/${link.link_id}`);
  release();
  const ends = [one, other].map(
    ({ node_id: id }) => `/projects/${project.project_id}/vpcs/nodes/${id}/adapters/0/ports/0/nio`,
  );
  const made = (): string[] => it.calls.filter((call) => call.startsWith('POST') && call.endsWith('/nio'));
  await until(() => made().length === 2, 'the wires');
  const later = (): string[] => it.calls.slice(it.calls.lastIndexOf(made()[1] as string) + 1);
  await until(() => ends.every((end) => later().includes(`DELETE ${end}`)), 'their removal');
});

test('a link that is suspended while it is wired again is suspended afterwards', async (t) => {
  const hubs = { 'POST /projects/[^/]+/ethernet_hub/nodes': { status: 'started' }, 'PUT /projects/.*/nio': {} };
  const it = await StandIn.start(t, { ...PCS, ...hubs }, '127.0.0.2');
  const other = await StandIn.start(t, { ...PCS, ...hubs }, '127.0.0.3');
  const server = await LabServer.start(t);
  await server.expect(201, 'POST', '/v2/computes', it.body());
  await server.expect(201, 'POST', '/v2/computes', other.body({ compute_id: 'other', name: 'Other' }));
  const project = await server.project();
  const url = `/v2/projects/${project.project_id}`;
  const ports = Array.from({ length: 8 }, (_, port_number) => ({ name: `E${port_number}`, port_number }));
  const hub = pc({ name: 'H', node_type: 'ethernet_hub', properties: { ports_mapping: ports } });
  const { node_id: id } = await server.expect(201, 'POST', `${url}/nodes`, hub);
  const pcs = ['it', 'other'].map((compute_id, number) =>
    server.expect(201, 'POST', `${url}/nodes`, pc({ name: `P${number}`, compute_id })),
  );
  const [near, far] = await Promise.all(pcs);
  await server.link(project, [{ node_id: id }, 0], [near, 0]);
  await server.link(project, [{ node_id: id }, 1], [far, 0]);
  await vanish(it, server);
  const held = (): { asked: Promise<() => void>; hold: StandIn['answers'][string] } => {
    const { promise, resolve } = Promise.withResolvers<() => void>();
    const hold: StandIn['answers'][string] = (request, response) => {
      request.resume();
      resolve(() => sendJson(response, 201, { udp_port: 20_000 }));
    };
    return { asked: promise, hold };
  };
  const [wiring, suspending] = [held(), held()];
  const udp = 'POST /projects/[^/]+/(stop|close|ports/udp)';
  const { [udp]: answer } = it.answers;
  it.answers[udp] = wiring.hold;
  other.answers['PUT /projects/.*/nio'] = suspending.hold;
  await it.listen();
  const wire = await wiring.asked;
  // The first link has no wire at present, the second one still has its old one.
  const isolated = server.expect(204, 'POST', `${url}/nodes/${id}/isolate`);
  const suspend = await suspending.asked;
  it.answers[udp] = answer!;
  other.answers['PUT /projects/.*/nio'] = {};
  wire();
  const wired = (): boolean => other.calls.filter((call) => /^POST .*nio$/.test(call)).length === 2;
  await until(wired, 'both links to be wired again');
  suspend();
  await isolated;
  const told = [...it.heard].reverse().find(({ call }) => call.includes(near.node_id) && call.endsWith('/nio'));
  assert.equal(JSON.parse(told?.body ?? '').suspend, true, told?.call);
});

test('a restarted compute gets its nodes again; one that was only cut off is asked how they are', async (t) => {
  const { it, server } = await pair(t);
  const project = await server.project();
  const url = `/v2/projects/${project.project_id}`;
  const [one, other] = [
    await server.expect(201, 'POST', `${url}/nodes`, pc()),
    await server.expect(201, 'POST', `${url}/nodes`, pc({ name: 'PC2' })),
  ];
  await server.link(project, [one, 0], [other, 0]);
  const events = await server.record(`${url}/notifications/ws`);
  const back = async (): Promise<void> => {
    await it.close();
    await until(async () => !(await server.expect(200, 'GET', '/v2/computes/it')).connected, 'the loss');
    it.heard.length = 0;
    await it.listen();
    await until(async () => (await server.expect(200, 'GET', '/v2/computes/it')).connected, 'the connection');
    // Waits until the compute was taken up.
    await server.expect(200, 'GET', '/v2/computes/it/ports');
  };

  it.answers['GET /network/ports'] = {};
  it.answers['GET /projects'] = [{ project_id: project.project_id }];
  it.answers['GET /projects/[^/]+/vpcs/nodes/.*'] = { status: 'started' };
  await back();
  await until(() => events.length === 2, 'both changes');
  assert.deepEqual(
    new Set(events.splice(0).map(({ action, event }) => `${action} ${event.status}`)),
    new Set(['node.updated started']),
  );
  assert.ok(!it.calls.some((call) => call.startsWith('POST')));

  it.answers['GET /projects'] = [];
  it.answers['POST /projects/[^/]+/vpcs/nodes'] = { status: 'stopped', console: 5001, console_type: 'telnet' };
  await back();
  assert.deepEqual(plain(it.calls).slice(2, -1), [
    'GET /projects',
    'POST /projects',
    'POST /projects/x/vpcs/nodes',
    'POST /projects/x/vpcs/nodes',
    'POST /projects/x/ports/udp',
    'POST /projects/x/ports/udp',
    'POST /projects/x/vpcs/nodes/x/adapters/0/ports/0/nio',
    'POST /projects/x/vpcs/nodes/x/adapters/0/ports/0/nio',
  ]);
  assert.deepEqual(JSON.parse(it.heard[4]!.body), {
    name: 'PC1',
    node_id: one.node_id,
    console: 5000,
    console_type: 'telnet',
  });
  assert.deepEqual(
    events.map(({ action, event }) => [action, event.status, event.console]),
    [
      ['node.updated', 'stopped', 5001],
      ['node.updated', 'stopped', 5001],
      ['log.warning', undefined, undefined],
    ],
  );
});

test('the search for an idle value leaves no project, whatever comes of it', async (t) => {
  const search = 'GET /projects/[^/]+/dynamips/nodes/[^/]+/auto_idlepc';
  const { it, server } = await pair(t, {
    'POST /projects/[^/]+/dynamips/nodes': { status: 'stopped', platform: 'c3725', ram: 128, image: 'i' },
    [search]: { idlepc: '0x60a5f1e8' },
  });
  const url = '/v2/computes/it/auto_idlepc';
  const body = { platform: 'c3725', image: 'i', ram: 128 };
  const found = await Promise.all([1, 2].map(() => server.expect(200, 'POST', url, body)));
  assert.deepEqual(found, [{ idlepc: '0x60a5f1e8' }, { idlepc: '0x60a5f1e8' }]);
  for (const answer of [
    refusing(409),
    (_request: unknown, response: { socket: { destroy(): void } | null }) => void response.socket?.destroy(),
  ]) {
    it.answers[search] = answer as StandIn['answers'][string];
    await server.expect(409, 'POST', url, body);
  }
  it.answers[search] = () => void it.close();
  await server.expect(409, 'POST', url, body);
  await server.expect(400, 'POST', url, { platform: 'c3725' });
  await server.expect(404, 'POST', '/v2/computes/nobody/auto_idlepc', body);
  assert.deepEqual(await server.expect(200, 'GET', '/v2/projects'), []);
});

test('a compute that hangs does not hold up the end of the server, and no lab goes unwritten', async (t) => {
  const silent = (request: { resume(): void }): void => void request.resume();
  const { it, server } = await pair(t, { 'POST /projects/.*/(stop|close)': silent });
  const project = await server.project();
  const other = await server.project('other');
  await server.expect(201, 'POST', `/v2/projects/${project.project_id}/nodes`, pc());
  await server.hub(other, 'Hub');
  const start = performance.now();
  await server.stop();
  assert.ok(performance.now() - start < 4_500);
  assert.ok(it.calls.some((call) => call.endsWith('/stop')));
  const names = async ({ path, filename }: { path: string; filename: string }): Promise<string[]> =>
    JSON.parse(await readFile(join(path, filename), 'utf8')).topology.nodes.map((node: { name: string }) => node.name);
  assert.deepEqual([await names(project), await names(other)], [['PC1'], ['Hub']]);
});

test('a node that another host refuses, or cannot wire, stays where it is, with its links', async (t) => {
  const { it, server } = await pair(t, { 'GET /projects/[^/]+/files': [] });
  const project = await server.project();
  const url = `/v2/projects/${project.project_id}`;
  const [one, hub] = [await server.hub(project, 'One'), await server.hub(project, 'Hub')];
  const link = await server.link(project, [one, 0], [hub, 0]);
  const node = `${url}/nodes/${one.node_id}`;
  const before = await server.expect(200, 'GET', node);
  const nodes = 'POST /projects/[^/]+/ethernet_hub/nodes';
  const nio = `/v2/compute/projects/${project.project_id}/ethernet_hub/nodes/${one.node_id}/adapters/0/ports/0/nio`;
  for (const [answer, status] of [
    [refusing(409), 409],
    // Then the link is what it cannot make: nobody has a network in common with it.
    [{ status: 'started' }, 409],
  ] as const) {
    it.answers[nodes] = answer;
    it.heard.length = 0;
    await server.expect(status, 'PUT', node, { compute_id: 'it' });
    assert.deepEqual(await server.expect(200, 'GET', node), before);
    assert.equal(plain(it.calls).at(-1), 'DELETE /projects/x/ethernet_hub/nodes/x');
    await server.expect(201, 'PUT', `${url}/links/${link.link_id}`, { suspend: true });
    await server.expect(201, 'PUT', `${url}/links/${link.link_id}`, { suspend: false });
  }
  assert.match((await server.expect(400, 'PUT', node, { compute_id: 'it', x: before.x + 1 })).message, /leave out x\./);
  assert.equal((await server.expect(200, 'PUT', node, { compute_id: 'unknown' })).compute_id, 'local');
  await server.expect(200, 'PUT', node, { compute_id: 'local', x: before.x + 1 });
  // It is wired here still.
  await server.expect(204, 'DELETE', nio);
});
