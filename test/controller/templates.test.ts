import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { NodeObject } from '../../src/api/objects.ts';
import type { Template } from '../../src/api/routes/templates.ts';
import { templateRoutes } from '../../src/controller/templates/routes.ts';
import { Templates } from '../../src/controller/templates/templates.ts';
import { Failure } from '../../src/failures.ts';
import { App } from '../../src/http/app/app.ts';
import { Store } from '../../src/store/store.ts';
import { scratchDirectory } from '../store/scratch.ts';

const VPCS = '19021f99-e36f-394d-b4a1-8aaa902ab9cc';
const HUB = 'b4503ea9-d6b6-3695-9fe4-1db3b39290b0';
const UNKNOWN = '11111111-2222-4333-8444-555555555555';

class Lab {
  readonly store: Store;
  readonly templates: Templates;
  readonly app: App;
  readonly events: string[] = [];

  constructor(store: Store, builtins: boolean) {
    this.store = store;
    this.templates = new Templates({
      documents: store.documents,
      emit: (action, template) => this.events.push(`${action} ${template.name}`),
      builtins,
    });
    const instantiate = async (projectId: string, request: () => object) => {
      if (projectId === 'closed') throw new Failure('forbidden', 'The project is closed.');
      if (projectId !== 'open') throw new Failure('not-found', 'There is no such project.');
      return request() as NodeObject;
    };
    this.app = new App(templateRoutes(this.templates, instantiate));
  }

  async call(method: string, path: string, body?: unknown): Promise<{ status: number; json: Template & Template[] }> {
    const text = body === undefined ? null : JSON.stringify(body);
    const response = await this.app.request(path, { method, body: text });
    const answer = await response.text();
    return { status: response.status, json: answer === '' ? undefined : JSON.parse(answer) };
  }

  async create(settings: object): Promise<Template> {
    const { status, json } = await this.call('POST', '/v2/templates', settings);
    assert.equal(status, 201, JSON.stringify(json));
    return json;
  }

  async names(): Promise<string[]> {
    return (await this.call('GET', '/v2/templates')).json.map((template: Template) => template.name);
  }

  /** The same after a restart. */
  async restarted(builtins = true): Promise<Lab> {
    const lab = new Lab(this.store, builtins);
    await lab.templates.start();
    return lab;
  }
}

async function lab(t: TestContext, builtins = true): Promise<Lab> {
  const store = await Store.open({ stateDirectory: await scratchDirectory(t) });
  t.after(() => store.close());
  return await new Lab(store, builtins).restarted(builtins);
}

const pc = (more: object = {}): object => ({ template_type: 'vpcs', name: 'PC', compute_id: 'local', ...more });

test('a template gets the defaults of its type, and keeps what was said', async (t) => {
  const it = await lab(t);
  const { template_id: id, ...rest } = await it.create(pc());
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(rest, {
    base_script_file: 'vpcs_base_config.txt',
    builtin: false,
    category: 'guest',
    compute_id: 'local',
    console_auto_start: false,
    console_type: 'telnet',
    default_name_format: 'PC{0}',
    name: 'PC',
    symbol: ':/symbols/vpcs_guest.svg',
    template_type: 'vpcs',
  });
  for (const [settings, member, value] of [
    [{ template_type: 'ethernet_hub' }, 'ports_mapping', eightPorts({})],
    [{ template_type: 'ethernet_switch' }, 'ports_mapping', eightPorts({ type: 'access', vlan: 1, ethertype: '' })],
    [{ template_type: 'cloud' }, 'ports_mapping', []],
    [{ template_type: 'qemu' }, 'ram', 256],
    [{ template_type: 'qemu', hda_disk_cache: 'writethrough' }, 'hda_disk_cache', 'writethrough'],
    [{ template_type: 'qemu' }, 'hda_disk_cache', undefined],
    [{ template_type: 'qemu', mtu: 9000 }, 'mtu', 9000],
    [{ template_type: 'qemu' }, 'mtu', undefined],
    [{ template_type: 'iou', path: '/i', image: '/i' }, 'image', undefined],
    [{ template_type: 'dynamips', platform: 'c7200', image: 'i' }, 'npe', 'npe-400'],
    [{ template_type: 'dynamips', platform: 'c1700', chassis: '1760', image: 'i' }, 'sparsemem', false],
    [{ template_type: 'qemu', linked_base: false }, 'linked_clone', false],
    [{ template_type: 'qemu', server: 'other' }, 'compute_id', 'other'],
    [{ template_type: 'vpcs', node_type: 'ethernet_hub' }, 'template_type', 'ethernet_hub'],
    [{ template_type: 'vpcs', category: 3 }, 'category', 'firewall'],
    [{ template_type: 'vpcs', builtin: true }, 'builtin', false],
    [{ template_type: 'vpcs', compute_id: null }, 'compute_id', null],
  ] as const) {
    const template = await it.create(pc(settings));
    assert.deepEqual(template[member], value, JSON.stringify(settings));
  }
});

function eightPorts(more: object): object[] {
  return [0, 1, 2, 3, 4, 5, 6, 7].map((number) => ({ name: `Ethernet${number}`, port_number: number, ...more }));
}

test('a template that cannot work is refused with the member that is wrong', async (t) => {
  const it = await lab(t);
  const port = { name: 'E0', port_number: 0 };
  for (const [settings, member] of [
    [{ name: '' }, 'name'],
    [{ template_type: 'toaster' }, 'template_type'],
    [{ template_type: 'nat' }, 'template_type'],
    [{ template_type: 'frame_relay_switch' }, 'template_type'],
    [{ compute_id: 1 }, 'compute_id'],
    [{ template_id: 'abc' }, 'template_id'],
    [{ category: 4 }, 'category'],
    [{ category: 'kitchen' }, 'category'],
    [{ colour: 'red' }, 'colour'],
    [{ console_type: 'vnc' }, 'console_type'],
    [{ template_type: 'docker' }, 'image'],
    [{ template_type: 'qemu', hdb_disk_cache: 'fast' }, 'hdb_disk_cache'],
    [{ template_type: 'qemu', mtu: 68 }, 'mtu'],
    [{ template_type: 'docker', image: 'a', adapters: 100 }, 'adapters'],
    [{ template_type: 'docker', image: 'a', mac_address: 'xx' }, 'mac_address'],
    [{ template_type: 'qemu', custom_adapters: [{ port_name: 'x' }] }, 'custom_adapters.0.adapter_number'],
    [{ template_type: 'dynamips', image: 'a' }, 'platform'],
    [{ template_type: 'dynamips', image: 'a', platform: 'c9000' }, 'platform'],
    [{ template_type: 'dynamips', image: 'a', platform: 'c3600' }, 'chassis'],
    [{ template_type: 'dynamips', image: 'a', platform: 'c3725', npe: 'npe-400' }, 'npe'],
    [{ template_type: 'ethernet_hub', ports_mapping: {} }, 'ports_mapping'],
    [{ template_type: 'ethernet_switch', ports_mapping: [{ ...port, type: 'trunk' }] }, 'ports_mapping.0.type'],
    [{ template_type: 'cloud', ports_mapping: [{ ...port, type: 'tap' }] }, 'ports_mapping.0.interface'],
  ] as const) {
    const { status, json } = await it.call('POST', '/v2/templates', pc(settings));
    assert.equal(status, 400, JSON.stringify(settings));
    assert.ok(String(json['message']).includes(`${member}:`), `${member}: ${json['message']}`);
  }
  assert.deepEqual(it.events, []);
  assert.equal((await it.names()).length, 7);
});

test('templates survive a restart in their order: stored, built in, made since', async (t) => {
  const it = await lab(t);
  await it.create(pc({ name: 'A' }));
  const { template_id: b } = await it.create(pc({ name: 'B' }));
  const { template_id: gone } = await it.create(pc({ name: 'gone' }));
  await it.call('PUT', `/v2/templates/${b}`, { name: 'B2' });
  assert.equal((await it.call('DELETE', `/v2/templates/${gone}`)).status, 204);
  const later = await it.restarted();
  await later.create(pc({ name: 'C' }));
  const builtins = ['Cloud', 'NAT', 'VPCS', 'Ethernet switch', 'Ethernet hub', 'Frame Relay switch', 'ATM switch'];
  assert.deepEqual(await later.names(), ['A', 'B2', ...builtins, 'C']);
  assert.deepEqual(await (await it.restarted(false)).names(), ['A', 'B2', 'C']);
});

test('a damaged stored template costs nothing but itself, and stays in the store', async (t) => {
  const it = await lab(t);
  await it.store.documents.put('templates', UNKNOWN, { name: 5 });
  await it.store.documents.put('templates', VPCS, { ...(await it.create(pc({ name: 'mine' }))), template_id: VPCS });
  const later = await it.restarted();
  const names = await later.names();
  assert.equal(names.length, 8, 'a stored template goes before the built-in one of the same id');
  assert.deepEqual(names.slice(0, 2), ['mine', 'mine']);
  assert.equal((await it.store.documents.list('templates')).length, 3);
});

test('an update changes what it names, checks it, and leaves identity, type and compute alone', async (t) => {
  const it = await lab(t);
  const before = await it.create({ template_type: 'qemu', name: 'Q', compute_id: 'local', ram: 512 });
  const path = `/v2/templates/${before.template_id}`;
  const fixed = { template_id: UNKNOWN, template_type: 'vpcs', compute_id: 'elsewhere', builtin: true };
  const { status, json } = await it.call('PUT', path, { ...fixed, ram: 1024, category: 1, colour: 'red' });
  assert.equal(status, 200);
  assert.deepEqual(json, { ...before, ram: 1024, category: 'switch', colour: 'red' });
  for (const wrong of [{ ram: 'lots' }, { adapters: 276 }, { name: '' }, { symbol: '' }, { builtin: 1 }, [], 'x']) {
    assert.equal((await it.call('PUT', path, wrong)).status, 400, JSON.stringify(wrong));
  }
  assert.deepEqual((await it.call('GET', path)).json, json);
  const copy = await it.call('POST', `${path}/duplicate`, {});
  assert.equal(copy.status, 400, 'its type does not know the member');
  assert.match(String(copy.json['message']), /colour/);
});

test('a copy has its own id and the same name, and lives on without the original', async (t) => {
  const it = await lab(t);
  const original = await it.create(pc());
  const { status, json } = await it.call('POST', `/v2/templates/${original.template_id}/duplicate`, {});
  assert.equal(status, 201);
  assert.notEqual(json.template_id, original.template_id);
  assert.deepEqual({ ...json, template_id: '' }, { ...original, template_id: '' });
  await it.call('DELETE', `/v2/templates/${original.template_id}`);
  assert.equal((await it.call('GET', `/v2/templates/${json.template_id}`)).status, 200);
});

test('every change is announced once, after it was stored', async (t) => {
  const it = await lab(t);
  const { template_id: id } = await it.create(pc());
  await it.call('PUT', `/v2/templates/${id}`, { name: 'PC2' });
  await it.call('POST', `/v2/templates/${id}/duplicate`);
  await it.call('DELETE', `/v2/templates/${id}`);
  assert.deepEqual(it.events, [
    'template.created PC',
    'template.updated PC2',
    'template.created PC2',
    'template.deleted PC2',
  ]);
});

test('built-in templates can be changed until the next start, but neither deleted nor copied', async (t) => {
  const it = await lab(t);
  const { json } = await it.call('PUT', `/v2/templates/${VPCS}`, { default_name_format: 'Box{0}' });
  assert.equal(json.default_name_format, 'Box{0}');
  assert.equal((await it.call('DELETE', `/v2/templates/${VPCS}`)).status, 409);
  assert.equal((await it.call('POST', `/v2/templates/${VPCS}/duplicate`)).status, 409);
  assert.deepEqual(await it.store.documents.list('templates'), []);
  const later = await it.restarted();
  for (const template of later.templates.list()) {
    const read = await later.call('GET', `/v2/templates/${template.template_id}`);
    assert.deepEqual([read.status, read.json], [200, template], template.name);
  }
  assert.equal(later.templates.get(VPCS).default_name_format, 'PC{0}');
});

test('of two clients that create the same id at once one gets a conflict', async (t) => {
  const it = await lab(t);
  const answers = await Promise.all(
    ['A', 'B', 'C'].map((name) => it.call('POST', '/v2/templates', pc({ name, template_id: UNKNOWN }))),
  );
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [201, 409, 409],
  );
  assert.equal((await it.call('GET', `/v2/templates/${UNKNOWN}`)).json.name, 'A');
  assert.equal((await it.call('POST', '/v2/templates', pc({ template_id: HUB }))).status, 409);
});

test('unknown templates are not found, whatever is asked of them', async (t) => {
  const it = await lab(t);
  for (const id of [UNKNOWN, 'not-a-uuid', VPCS.toUpperCase(), '__proto__']) {
    assert.equal((await it.call('GET', `/v2/templates/${id}`)).status, 404);
    assert.equal((await it.call('PUT', `/v2/templates/${id}`, { name: 'x' })).status, 404);
    assert.equal((await it.call('DELETE', `/v2/templates/${id}`)).status, 404);
    assert.equal((await it.call('POST', `/v2/templates/${id}/duplicate`)).status, 404);
  }
});

test('a client that has the current state is spared it, until it changes', async (t) => {
  const it = await lab(t);
  const { template_id: id } = await it.create(pc());
  const path = `/v2/templates/${id}`;
  const tag = (await it.app.request(path)).headers.get('etag') ?? '';
  assert.match(tag, /^"[0-9a-f]{32}"$/);
  for (const header of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    const response = await it.app.request(path, { headers: { 'If-None-Match': header } });
    assert.deepEqual([response.status, await response.text(), response.headers.get('etag')], [304, '', tag], header);
  }
  await it.call('PUT', path, { name: 'other' });
  const changed = await it.app.request(path, { headers: { 'If-None-Match': tag } });
  assert.equal(changed.status, 200);
  assert.notEqual(changed.headers.get('etag'), tag);
});

test('a template becomes the node that it describes', async (t) => {
  const it = await lab(t);
  const hub = await it.create({
    template_type: 'ethernet_hub',
    name: 'My Hub',
    compute_id: 'local',
    default_name_format: '{name}-{0}',
    ports_mapping: [{ name: 'E0', port_number: 0 }],
  });
  const qemu = await it.create({
    template_type: 'qemu',
    name: 'Q',
    compute_id: 'local',
    hda_disk_image: 'disk.img',
    custom_adapters: [{ adapter_number: 0 }],
    first_port_name: 'eth0',
  });
  const make = async (id: string, usage: object): Promise<Record<string, unknown>> => {
    const { status, json } = await it.call('POST', `/v2/projects/open/templates/${id}`, { x: 1, y: -2, ...usage });
    assert.equal(status, 201, JSON.stringify(json));
    assert.match(String(json['node_id']), /^[0-9a-f-]{36}$/);
    return { ...json, node_id: '' };
  };
  const common = { node_id: '', compute_id: 'local', x: 1, y: -2 };
  assert.deepEqual(await make(VPCS, { compute_id: 'local' }), {
    ...common,
    node_type: 'vpcs',
    name: 'PC{0}',
    template_id: VPCS,
    symbol: ':/symbols/vpcs_guest.svg',
    properties: { base_script_file: 'vpcs_base_config.txt' },
  });
  assert.deepEqual(await make(hub.template_id, { compute_id: 'ignored' }), {
    ...common,
    node_type: 'ethernet_hub',
    name: 'My Hub-{0}',
    template_id: hub.template_id,
    symbol: ':/symbols/hub.svg',
    properties: { ports_mapping: [{ name: 'E0', port_number: 0 }] },
  });
  assert.equal((await make(hub.template_id, { name: 'H' }))['name'], 'H');
  assert.equal((await make(hub.template_id, { name: null }))['name'], 'My Hub-{0}');
  const node = await make(qemu.template_id, {});
  const { properties, ...attributes } = node as { properties: Record<string, unknown> };
  assert.deepEqual(attributes, {
    ...common,
    node_type: 'qemu',
    name: 'Q-{0}',
    template_id: qemu.template_id,
    symbol: ':/symbols/qemu_guest.svg',
    console_type: 'telnet',
    console_auto_start: false,
    first_port_name: 'eth0',
    port_name_format: 'Ethernet{0}',
    port_segment_size: 0,
    custom_adapters: [{ adapter_number: 0 }],
  });
  assert.equal(properties['hda_disk_image'], 'disk.img');
  assert.equal(properties['legacy_networking'], false);
  for (const absent of [
    'hdb_disk_image',
    'category',
    'builtin',
    'default_name_format',
    'template_type',
    'properties',
  ]) {
    assert.ok(!Object.hasOwn(properties, absent), absent);
  }
});

test('instantiation refuses in the order: request, project, template, compute', async (t) => {
  const it = await lab(t);
  const nowhere = await it.create(pc({ compute_id: null }));
  for (const [project, id, usage, status] of [
    ['closed', UNKNOWN, { x: 1 }, 400],
    ['open', HUB, { x: 1, y: 1.5 }, 400],
    ['open', HUB, { x: 1, y: 1, z: 1 }, 400],
    ['open', HUB, { x: 1, y: 1, compute_id: 5 }, 400],
    ['none', UNKNOWN, { x: 1, y: 1 }, 404],
    ['closed', UNKNOWN, { x: 1, y: 1 }, 403],
    ['open', UNKNOWN, { x: 1, y: 1 }, 404],
    ['open', HUB, { x: 1, y: 1 }, 404],
    ['open', HUB, { x: 1, y: 1, compute_id: null }, 404],
    ['open', nowhere.template_id, { x: 1, y: 1, compute_id: 'local' }, 404],
  ] as const) {
    const answer = await it.call('POST', `/v2/projects/${project}/templates/${id}`, usage);
    assert.equal(answer.status, status, `${project} ${JSON.stringify(usage)}`);
  }
});
