import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Topology } from '../../src/api/topology.ts';
import { configureLog } from '../../src/host/log.ts';
import { parseTopology, serializeTopology, topologyOf } from '../../src/store/topology/document.ts';
import { readTopologyFile, recognizeFile, writeTopologyFile } from '../../src/store/topology/file.ts';
import { failure, remountReadOnly, scratchDirectory, scratchFileSystem } from './scratch.ts';

const VERSION = '2.2.57';
const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** A lab of two PCs on a hub, as a release of 2.2 writes it. */
function sample(): Topology {
  const place = {
    console_auto_start: false,
    locked: false,
    z: 1,
    width: 65,
    height: 59,
    first_port_name: null,
    custom_adapters: [],
  };
  const label = (text: string) => ({ text, style: null, x: null, y: -25, rotation: 0 });
  const pc = (number: number) => ({
    ...{
      compute_id: 'local',
      node_id: uuid(number),
      node_type: 'vpcs' as const,
      template_id: uuid(99),
      name: `PC${number}`,
    },
    ...{
      console: 5000 + number,
      console_type: 'telnet' as const,
      properties: {},
      label: label(`PC${number}`),
      x: 0,
      y: number,
    },
    ...{ symbol: ':/symbols/vpcs_guest.svg', port_name_format: 'Ethernet{0}', port_segment_size: 0, ...place },
  });
  const hub = {
    ...{
      compute_id: 'far',
      node_id: uuid(3),
      node_type: 'ethernet_hub' as const,
      template_id: null,
      name: 'Hub \u{1f5a7}',
    },
    ...{ console: null, console_type: 'none' as const, label: label('Hub'), x: 1, y: 1, symbol: ':/symbols/hub.svg' },
    properties: {
      ports_mapping: [
        { name: 'Ethernet0', port_number: 0 },
        { name: 'Ethernet1', port_number: 1 },
      ],
    },
    ...{ port_name_format: 'Ethernet{0}', port_segment_size: 0, ...place },
  };
  const link = (number: number) => ({
    link_id: uuid(10 + number),
    nodes: [
      { node_id: uuid(number), adapter_number: 0, port_number: 0, label: label('e0') },
      { node_id: uuid(3), adapter_number: 0, port_number: number - 1 },
    ],
    ...{ filters: { delay: [10, 0] }, link_style: { color: '#ff0000', width: 2 }, suspend: false },
  });
  return {
    ...{ type: 'topology' as const, revision: 9, version: VERSION, project_id: uuid(1), name: 'sample' },
    ...{ auto_start: false, auto_open: false, auto_close: true, scene_width: 2000, scene_height: 1000, zoom: 100 },
    ...{
      show_layers: false,
      snap_to_grid: false,
      show_grid: true,
      show_interface_labels: false,
      grid_size: 75,
      drawing_grid_size: 25,
    },
    variables: [{ name: 'SITE', value: 'Zürich' }],
    supplier: { logo: 'logo.png', url: 'https://example.net' },
    topology: {
      computes: [{ compute_id: 'far', name: 'Far away', protocol: 'http', host: '192.0.2.1', port: 3080 }],
      drawings: [
        {
          drawing_id: uuid(20),
          x: 0,
          y: 0,
          z: 0,
          locked: false,
          rotation: -45,
          svg: '<svg height="10" width="10"></svg>',
        },
      ],
      links: [link(1), link(2)],
      nodes: [pc(1), pc(2), hub],
    },
  };
}

/** The sample with changes at some places (`topology.nodes.0.console`); undefined removes. */
function changed(changes: Record<string, unknown>): string {
  const document = sample() as unknown as Record<string, unknown>;
  for (const [path, value] of Object.entries(changes)) {
    const names = path.split('.');
    const parent = names.slice(0, -1).reduce((at, name) => at[name] as Record<string, unknown>, document);
    parent[names.at(-1)!] = value;
  }
  return JSON.stringify(document);
}

test('a lab is the same after it was written and read, and the text is sorted and indented by four', () => {
  const text = serializeTopology(sample());
  assert.deepEqual(parseTopology(text), { topology: sample(), revision: 9, moves: [], unknown: [] });
  assert.ok(text.startsWith('{\n    "auto_close": true,\n    "auto_open": false,\n'));
  assert.ok(text.includes('"name": "Hub \u{1f5a7}"'));
  assert.ok(
    text.indexOf('"computes"') < text.indexOf('"drawings"') && text.indexOf('"links"') < text.indexOf('"nodes"'),
  );
  assert.equal(serializeTopology(parseTopology(text).topology), text);
});

test('a file with nothing but what is required is read', () => {
  const small = {
    ...{ type: 'topology', revision: 9, version: '2.2.0', project_id: uuid(1), name: '' },
    topology: {
      computes: [],
      drawings: [{}],
      links: [{}],
      nodes: [{ name: 'H1', node_type: 'ethernet_hub', compute_id: 'local' }],
    },
  };
  assert.deepEqual(parseTopology(JSON.stringify(small)).topology, small);
});

test('of the records of a lab the file has exactly the members that belong there', () => {
  const { topology, type: _type, revision: _revision, version: _version, ...settings } = sample();
  const project = { ...settings, path: '/projects/1', filename: 'sample.gns3', status: 'opened' } as never;
  const lab = {
    nodes: topology.nodes.map((node) => ({
      ...node,
      ...{
        status: 'started',
        ports: [],
        node_directory: '/x',
        command_line: 'vpcs',
        console_host: '127.0.0.1',
        project_id: uuid(1),
      },
    })) as never,
    links: topology.links.map((link) => ({ ...link, capturing: true, lport: 10_000, project_id: uuid(1) })) as never,
    drawings: topology.drawings.map((drawing) => ({ ...drawing, project_id: uuid(1) })) as never,
    computes: [
      { compute_id: 'local', name: 'host' },
      { compute_id: 'vm', name: 'VM' },
      { ...topology.computes[0], user: 'admin', password: 'secret', connected: true },
    ] as never,
  };
  assert.deepEqual(topologyOf(project, lab, VERSION), sample());
});

test('a record that would make the file unreadable is refused before it is written', async (t) => {
  const path = join(await scratchDirectory(t), 'lab.gns3');
  await writeTopologyFile(path, sample());
  const wrong = sample();
  wrong.topology.nodes[1]!.console = 70_000;
  await assert.rejects(writeTopologyFile(path, wrong), failure('conflict', /topology\.nodes\.1\.console/));
  assert.deepEqual((await readTopologyFile(path, { version: VERSION })).topology, sample());
});

test('a lab beyond the limits of a file is refused before it is written', async (t) => {
  const path = join(await scratchDirectory(t), 'lab.gns3');
  await writeTopologyFile(path, sample());
  const large = sample();
  for (const [style, reason] of [
    [{ a: Array(200_000).fill([]) }, /more than 200000 objects and lists/],
    [{ a: Array(1_000_000).fill(0) }, /more than 1000000 values/],
    [{ a: 'x'.repeat(128 * 2 ** 20) }, /more than 134217728 bytes/],
  ] as const) {
    large.topology.links[0]!.link_style = style;
    await assert.rejects(writeTopologyFile(path, large), failure('too-large', reason));
  }
  assert.deepEqual((await readTopologyFile(path, { version: VERSION })).topology, sample());
});

test('what is wrong in a file is named with its place and what would fit', () => {
  for (const [changes, message] of [
    [{ 'topology.nodes.1.console': 70_000 }, /topology\.nodes\.1\.console: expected <=65535, received 70000/],
    [
      { 'topology.nodes.0.node_type': 'toaster' },
      /topology\.nodes\.0\.node_type: expected .*"vpcs".*received "toaster"/,
    ],
    [{ 'topology.nodes.0.name': undefined }, /topology\.nodes\.0\.name: is required/],
    [{ 'topology.nodes.0.extra': 1 }, /topology\.nodes\.0\.extra: is not a member of this object; remove it/],
    [{ 'topology.links.0.nodes.1.node_id': 'x' }, /topology\.links\.0\.nodes\.1\.node_id: .*"x"/],
    [{ 'topology.drawings.0.rotation': 400 }, /topology\.drawings\.0\.rotation: expected <=360/],
    [{ 'topology.computes.0.port': '3080' }, /topology\.computes\.0\.port: expected number, received "3080"/],
    [{ 'topology.nodes': {} }, /topology\.nodes: expected Array/],
    [{ topology: undefined }, /topology: is required/],
    [{ project_id: '../../etc' }, /project_id/],
    [{ zoom: 1.5 }, /zoom/],
    [{ extra: true }, /extra: is not a member/],
    [{ revision: 11 }, /revision: 11 is of a later release than the last known one, 10/],
    [{ revision: '9' }, /revision: expected an integer/],
    [{ revision: 9.5 }, /revision: expected an integer/],
    [{ revision: -1 }, /revision: expected an integer/],
    [{ revision: 4 }, /topology\.nodes: nodes of the type "undefined" have no counterpart/],
    [{ revision: undefined, name: undefined }, /name: is required/],
  ] as const) {
    assert.throws(() => parseTopology(changed(changes), { strict: true }), failure('conflict', message));
  }
  const many = changed({ 'topology.nodes': Array.from({ length: 1000 }, () => ({})) });
  assert.throws(
    () => parseTopology(many),
    (error: Error) => /and 2995 more$/.test(error.message) && error.message.length < 2000,
  );
});

const UNKNOWN = {
  colour: 'red',
  'topology.extra': [],
  'topology.nodes.0.extra': 1,
  'topology.nodes.1.label': { text: 'x', shadow: true },
  'topology.links.0.extra': {},
  'topology.links.0.nodes.1.extra': null,
};
const UNKNOWN_PLACES = [
  'colour',
  'topology.extra',
  'topology.links[0].extra',
  'topology.links[0].nodes[1].extra',
  'topology.nodes[0].extra',
  'topology.nodes[1].label.shadow',
];

test('members that are unknown are left out and named, unless the file is new and of a release that wrote none', () => {
  const { topology, unknown } = parseTopology(changed(UNKNOWN));
  assert.deepEqual(unknown.sort(), UNKNOWN_PLACES);
  assert.deepEqual(parseTopology(serializeTopology(topology)).topology, topology);
  for (const [version, isRefused] of [
    ['2.2.57', true],
    ['2.2.0', true],
    ['1.9.99', true],
    ['2.2.58', false],
    ['2.10.0', false],
    ['3.0.0', false],
    ['2.2.57dev1', false],
    ['another program', false],
  ] as const) {
    const text = changed({ ...UNKNOWN, version });
    if (isRefused)
      assert.throws(() => parseTopology(text, { strict: true }), failure('conflict', /is not a member/), version);
    else assert.equal(parseTopology(text, { strict: true }).unknown.length, UNKNOWN_PLACES.length, version);
    assert.equal(parseTopology(text).unknown.length, UNKNOWN_PLACES.length);
  }
  const older = changed({ ...UNKNOWN, revision: 8 });
  assert.deepEqual(parseTopology(older, { strict: true }).unknown.sort(), UNKNOWN_PLACES);
});

test('a file with unknown members is written without them once, is kept beside it, and the log names them', async (t) => {
  const path = join(await scratchDirectory(t), 'lab.gns3');
  const text = changed(UNKNOWN);
  await writeFile(path, text);
  const lines: string[] = [];
  configureLog({ write: (line) => lines.push(line) });
  t.after(() => configureLog({ write: (line) => void process.stderr.write(line) }));
  await assert.rejects(readTopologyFile(path, { version: VERSION, strict: true }), failure('conflict', /not a member/));
  assert.equal(await readFile(path, 'utf8'), text);
  const first = await readTopologyFile(path, { version: VERSION });
  assert.equal(first.upgradedFrom, 9);
  assert.equal(await readFile(`${path}.backup9`, 'utf8'), text);
  const { topology, upgradedFrom, fingerprint } = await readTopologyFile(path, { version: VERSION, strict: true });
  assert.deepEqual([topology, upgradedFrom, fingerprint], [first.topology, undefined, first.fingerprint]);
  assert.equal(lines.length, 1);
  for (const place of UNKNOWN_PLACES) assert.ok(lines[0]?.includes(place), place);
});

test('a router without an image is refused in a file that is new here', () => {
  const router = { ...sample().topology.nodes[0], node_type: 'dynamips', properties: { platform: 'c3725' } };
  const text = changed({ 'topology.nodes.0': router });
  assert.throws(() => parseTopology(text, { strict: true }), failure('conflict', /nodes\[0\]\.properties\.image/));
  assert.equal(parseTopology(text).topology.topology.nodes[0]?.node_type, 'dynamips');
});

test('of a long file the first mistake is reported, of a short one the first five', () => {
  const withNodes = (count: number): string => {
    const lab = sample();
    return JSON.stringify({ ...lab, topology: { ...lab.topology, nodes: Array(count).fill({}) } });
  };
  assert.throws(() => parseTopology(withNodes(3)), failure('conflict', /nodes\.0\..*; .*nodes\.1\..*; and \d+ more/));
  assert.throws(() => parseTopology(withNodes(20_000)), failure('conflict', /^topology\.nodes\.0\.[^;]*$/));
});

test('hostile text is refused, not run into', () => {
  const hostile = [
    '',
    'null',
    '[]',
    '"text"',
    '1',
    '{',
    '['.repeat(1_000_000),
    `{"topology":${'{"a":'.repeat(1_000_000)}`,
  ];
  for (const text of hostile) assert.throws(() => parseTopology(text), failure('conflict'));
  for (const place of ['', 'topology.', 'topology.nodes.0.properties.', 'topology.links.0.filters.']) {
    const text = changed({ [`${place}PROTO`]: { polluted: true } }).replace('PROTO', '__proto__');
    assert.throws(() => parseTopology(text), failure('conflict', /__proto__/));
  }
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  const odd = [
    'topology',
    'topology.nodes',
    'topology.nodes.0',
    'topology.nodes.0.properties',
    'variables',
    'topology.links.0.nodes',
  ];
  for (const revision of [5, 6, 7, 8, 9, 10]) {
    for (const place of odd) {
      for (const value of [null, 1, 'x', [], [null], { a: 1 }, [[1]], [{ name: {} }]]) {
        try {
          parseTopology(changed({ [place]: value, revision }));
        } catch (error) {
          assert.ok(failure('conflict')(error));
        }
      }
    }
  }
});

test('what earlier 2.2 releases wrote into revision 9 is put right', () => {
  const text = changed({
    'topology.nodes.0.appliance_id': uuid(50),
    'topology.nodes.0.template_id': undefined,
    'topology.nodes.1.console_type': null,
    variables: [{ name: 'KEPT' }, { value: 'no name' }, { name: '', value: 'x' }],
  });
  const { topology } = parseTopology(text);
  assert.equal(topology.topology.nodes[0]!.template_id, uuid(50));
  assert.equal(topology.topology.nodes[1]!.console_type, 'none');
  assert.deepEqual(topology.variables, [{ name: 'KEPT' }]);
});

test('revision 10 becomes what revision 9 says: new members go, names and values stay', () => {
  const base = { ...sample().topology.nodes[0]!, compute_id: 'local', name: 'Bell-1' };
  const later = { aux: null, aux_type: 'none', console_type: null, symbol: null, custom_adapters: null, locked: null };
  const label = { text: 'Bell-1', x: null, y: null, rotation: null, style: null };
  const common = { compute_id: 'local', usage: null };
  const port = { name: 'Ethernet0', port_number: 0, type: 'access', vlan: 10 };
  const tunnel = { name: 'Ethernet1', port_number: 1, type: 'qinq', vlan: 5, ethertype: '0x88A8' };
  const nodes: [type: string, properties: object, kept: object][] = [
    ['vpcs', {}, {}],
    ['cloud', { usage: 'words', ports_mapping: [] }, { ports_mapping: [] }],
    [
      'ethernet_switch',
      { ports_mapping: [{ ...port, ethertype: '0x8100' }, tunnel] },
      { ports_mapping: [port, tunnel] },
    ],
    ['qemu', { usage: 'words', maxcpus: 4, hdb_disk_image_backed: 'a.img', ram: 64 }, { usage: 'words', ram: 64 }],
    ['docker', { memory: 0, cpus: 0.5, mac_address: '', extra_hosts: null, image: 'i' }, { image: 'i' }],
    ['dynamips', { image: 'i', slot1: null, slot2: 'PA-8T', npe: null }, { image: 'i', slot1: null, slot2: 'PA-8T' }],
  ];
  const text = changed({
    revision: 10,
    version: '3.0.6',
    supplier: null,
    variables: [{ name: 'A', value: null }],
    'topology.nodes': nodes.map(([node_type, properties]) => ({
      ...base,
      ...later,
      ...{ label, node_type, properties: { ...common, ...properties } },
    })),
    'topology.links.0.suspend': true,
    'topology.links.0.link_style': null,
    'topology.drawings.0.svg': null,
  });
  const { topology, revision, unknown } = parseTopology(text, { strict: true });
  assert.deepEqual([revision, topology.revision, unknown], [10, 9, []]);
  assert.deepEqual([topology.supplier, topology.variables], [null, [{ name: 'A' }]]);
  for (const [index, [type, , kept]] of nodes.entries()) {
    const { custom_adapters: _, locked: _locked, ...rest } = base;
    const expected = { ...rest, symbol: null, console_type: 'none', node_type: type, properties: kept };
    const shown = { text: 'Bell-1', x: null, style: null };
    assert.deepEqual(topology.topology.nodes[index], { ...expected, label: shown }, type);
  }
  const [link] = topology.topology.links;
  assert.ok(!('suspend' in link!) && !('link_style' in link!) && !('svg' in topology.topology.drawings[0]!));
  assert.equal(parseTopology(text, { keepSuspension: true }).topology.topology.links[0]!.suspend, true);
});

test('each older revision becomes what revision 9 says', () => {
  const base = { ...sample().topology.nodes[0]!, compute_id: 'local' };
  const node = (node_type: string, properties: object, more: object = {}) => ({
    ...base,
    node_type,
    properties,
    ...more,
  });
  const nodes = [
    node('vpcs', { startup_script: 'ip x', startup_script_path: 'startup.vpc' }, { console_type: 'serial' }),
    node('vmware', { enable_remote_console: true, acpi_shutdown: true, save_vm_state: false, ram: 1 }),
    node('virtualbox', { enable_remote_console: false, acpi_shutdown: false }),
    node('qemu', { acpi_shutdown: true, enable_remote_console: 'kept' }),
    node('qemu', { ram: 256, save_vm_state: true }),
    node('dynamips', {
      dynamips_id: 7,
      startup_config: 'a',
      private_config: 'b',
      startup_config_content: 'c',
      private_config_content: 'd',
    }),
    node('iou', { startup_config: 'a', path: 'i.bin' }),
    node('ethernet_hub', { startup_config: 'kept' }, { console_type: null }),
  ];
  const upgraded = (revision: number) =>
    parseTopology(
      changed({
        revision,
        'topology.nodes': nodes.map((it) => (revision === 5 ? it : { ...it, console_type: 'telnet' })),
        drawing_grid_size: undefined,
      }),
    );
  const after8 = [
    { startup_script: 'ip x', startup_script_path: 'startup.vpc' },
    { enable_remote_console: true, ram: 1, on_close: 'save_vm_state' },
    { enable_remote_console: false, on_close: 'power_off' },
    { enable_remote_console: 'kept', on_close: 'save_vm_state' },
    { ram: 256 },
    {
      dynamips_id: 7,
      startup_config: 'a',
      private_config: 'b',
      startup_config_content: 'c',
      private_config_content: 'd',
    },
    { startup_config: 'a', path: 'i.bin' },
    { startup_config: 'kept' },
  ];
  const after7 = after8
    .with(0, {} as never)
    .with(5, { dynamips_id: 7 } as never)
    .with(6, { path: 'i.bin' } as never);
  const after5 = after7
    .with(1, { ram: 1, on_close: 'save_vm_state' } as never)
    .with(2, { on_close: 'power_off' } as never);
  const move = [{ nodeId: uuid(1), dynamipsId: 7 }];
  for (const [revision, properties, moves] of [
    [8, after8, []],
    [7, after7, []],
    [6, after7, move],
    [5, after5, move],
  ] as const) {
    const { topology, ...rest } = upgraded(revision);
    assert.deepEqual(
      topology.topology.nodes.map((it) => it.properties),
      properties,
      `revision ${revision}`,
    );
    assert.deepEqual(rest, { revision, moves, unknown: [] });
    assert.equal(topology.revision, 9);
    assert.equal(topology.drawing_grid_size, 75);
    if (revision === 5)
      assert.deepEqual(
        [topology.topology.nodes[0]!.console_type, topology.topology.nodes[7]!.console_type],
        ['telnet', 'none'],
      );
  }
});

test('an older file is upgraded on disk, its old text is kept beside it, and dynamips finds its files again', async (t) => {
  const directory = await scratchDirectory(t);
  const path = join(directory, 'old.gns3');
  const shared = join(directory, 'project-files/dynamips');
  await mkdir(join(shared, 'configs'), { recursive: true });
  const names = [
    'c7200_i1_nvram',
    'c7200_i12_nvram',
    'c7200_i2_disk0',
    'ilt_mem',
    'configs/i1_startup-config.cfg',
    'configs/i12_x.cfg',
  ];
  for (const name of names) await writeFile(join(shared, name), name);
  const router = {
    ...sample().topology.nodes[0]!,
    node_type: 'dynamips',
    properties: { dynamips_id: 1, startup_config: 'x' },
  };
  const old = changed({ revision: 6, version: '2.0.3', 'topology.nodes': [router] });
  await writeFile(path, old);

  const { topology, upgradedFrom, fingerprint: found } = await readTopologyFile(path, { version: VERSION });
  assert.deepEqual([topology.revision, topology.version, upgradedFrom], [9, VERSION, 6]);
  assert.equal(await readFile(`${path}.backup6`, 'utf8'), old);
  assert.deepEqual(await readTopologyFile(path, { version: 'x' }), {
    topology,
    fingerprint: found,
    upgradedFrom: undefined,
  });
  const own = uuid(1);
  assert.deepEqual((await readdir(shared, { recursive: true })).sort(), [
    ...[own, `${own}/c7200_i1_nvram`, `${own}/configs`, `${own}/configs/i1_startup-config.cfg`],
    ...['c7200_i12_nvram', 'c7200_i2_disk0', 'configs', 'configs/i12_x.cfg', 'ilt_mem'],
  ]);
});

test('an upgrade moves nothing through a link that leads out of the project', async (t) => {
  const directory = await scratchDirectory(t);
  const elsewhere = join(directory, 'elsewhere');
  await mkdir(join(elsewhere, 'configs'), { recursive: true });
  await writeFile(join(elsewhere, 'c7200_i1_nvram'), 'of somebody else');
  await mkdir(join(directory, 'lab/project-files'), { recursive: true });
  await symlink(elsewhere, join(directory, 'lab/project-files/dynamips'));
  const path = join(directory, 'lab/old.gns3');
  const router = { ...sample().topology.nodes[0]!, node_type: 'dynamips', properties: { dynamips_id: 1 } };
  await writeFile(path, changed({ revision: 6, 'topology.nodes': [router] }));
  await assert.rejects(
    readTopologyFile(path, { version: VERSION }),
    failure('conflict', /dynamips: it is a symbolic link/),
  );
  assert.deepEqual((await readdir(elsewhere)).sort(), ['c7200_i1_nvram', 'configs']);
});

test('a file that cannot be upgraded for want of space or permission stays as it is', async (t) => {
  const directory = await scratchFileSystem(t, '64k');
  if (directory === undefined) return;
  const path = join(directory, 'old.gns3');
  const old = changed({ revision: 8 });
  await writeFile(path, old);
  const ballast = join(directory, 'ballast');
  await writeFile(ballast, Buffer.alloc(200_000)).catch(() => {});
  await assert.rejects(readTopologyFile(path, { version: VERSION }), failure('out-of-space', /old\.gns3\.backup8/));
  assert.deepEqual(await readdir(directory).then((names) => names.sort()), ['ballast', 'old.gns3']);
  await rm(ballast);
  remountReadOnly(directory);
  await assert.rejects(readTopologyFile(path, { version: VERSION }), failure('conflict', /backup8: .*read-only/));
  assert.equal(await readFile(path, 'utf8'), old);
});

test('an edit by another program is noticed, an untouched file is not mistaken for one', async (t) => {
  const directory = await scratchDirectory(t);
  const path = join(directory, 'lab.gns3');
  assert.deepEqual(await recognizeFile(path, ['1:2:3']), { exists: false, known: undefined });
  const written = await writeTopologyFile(path, sample());
  assert.deepEqual(await recognizeFile(path, [undefined, written]), { exists: true, known: written });
  assert.equal((await readTopologyFile(path, { version: VERSION })).fingerprint, written);
  const edits: Record<string, () => Promise<unknown>> = {
    'another size': () => writeFile(path, changed({ name: 'another name' })),
    'the same size later': () => writeFile(path, changed({ name: [...'another name'].reverse().join('') })),
    'another file in its place': () => writeTopologyFile(path, sample()),
  };
  for (const [title, edit] of Object.entries(edits)) {
    const { fingerprint: before } = await readTopologyFile(path, { version: VERSION });
    await edit();
    assert.deepEqual(await recognizeFile(path, [undefined, before]), { exists: true, known: undefined }, title);
  }
});

test('a copy of a file is known by its content, whatever its time and its place on the disk', async (t) => {
  const directory = await scratchDirectory(t);
  const [path, copy, other] = ['lab.gns3', 'copy.gns3', 'other.gns3'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const written = await writeTopologyFile(path, sample());
  await copyFile(path, copy);
  await utimes(copy, new Date(), new Date(Date.now() + 1000));
  assert.deepEqual(await recognizeFile(copy, ['1:1:1', written]), { exists: true, known: written });
  const text = await readFile(path, 'utf8');
  await writeFile(other, text.replace(sample().name, [...sample().name].reverse().join('')));
  assert.equal((await stat(other)).size, (await stat(path)).size);
  assert.deepEqual(await recognizeFile(other, [written]), { exists: true, known: undefined });
  const { ino, size, mtimeNs } = await stat(path, { bigint: true });
  const former = `${ino}:${size}:${mtimeNs}`;
  assert.deepEqual(await recognizeFile(path, [former]), { exists: true, known: former }, 'of an earlier release');
});

test('what is no topology file is refused by its path, whatever it is', async (t) => {
  const directory = await scratchDirectory(t);
  const at = (name: string) => join(directory, name);
  await mkdir(at('folder.gns3'));
  execFileSync('mkfifo', [at('fifo.gns3')]);
  await writeFile(at('binary.gns3'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0xff, 0xfe]));
  await writeFile(at('latin1.gns3'), Buffer.from(changed({ name: 'Zürich' }), 'latin1'));
  await writeFile(at('half.gns3'), changed({}).slice(0, 500));
  await writeFile(at('empty.gns3'), '');
  await writeFile(at('huge.gns3'), '');
  await truncate(at('huge.gns3'), 2 ** 40);
  await symlink('loop.gns3', at('loop.gns3'));
  for (const [name, message] of Object.entries({
    folder: /not a regular file/,
    fifo: /not a regular file/,
    binary: /not UTF-8/,
    latin1: /not UTF-8/,
    half: /not valid JSON.*put back an earlier copy/,
    empty: /not valid JSON/,
    huge: /at most \d+ bytes/,
    loop: /symbolic link/,
    missing: /no such file/,
  })) {
    const path = at(`${name}.gns3`);
    await assert.rejects(readTopologyFile(path, { version: VERSION }), (error: Error) => {
      assert.ok(error.message.startsWith(path), error.message);
      return failure('conflict', message)(error);
    });
  }
  await assert.rejects(readTopologyFile(join(at('half.gns3'), 'x'), { version: VERSION }), failure('conflict'));
});
