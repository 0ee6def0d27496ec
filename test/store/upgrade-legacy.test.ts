// Labs of the releases 1.x: what becomes of their nodes, links, texts, shapes and files.
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseTopology } from '../../src/store/topology/document.ts';
import { readTopologyFile } from '../../src/store/topology/file.ts';
import { upgradeLegacy } from '../../src/store/topology/upgrade-legacy.ts';
import { unzipped } from '../controller/archives-zip.ts';
import { failure, scratchDirectory } from './scratch.ts';

// biome-ignore lint/suspicious/noExplicitAny: documents are looked at member by member
type Json = any;

const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

function legacy(topology: object = {}, more: object = {}): Json {
  return {
    ...{ auto_start: true, name: 'old', project_id: uuid(1), resources_type: 'local', type: 'topology' },
    ...{ revision: 4, version: '1.5.2', topology, ...more },
  };
}

/** With identifiers in the order in which they are needed. */
function upgraded(topology: object, more: object = {}): { document: Json; pictures: string[] } {
  let last = 100;
  return upgradeLegacy(legacy(topology, more), () => {
    last += 1;
    return uuid(last);
  });
}

const only = (node: object): Json => upgraded({ nodes: [{ id: 1, ...node }] }).document.topology.nodes[0];

test('a project of 1.x has its name, its identifier and its flag, and nothing that is not known any more', () => {
  const { document } = upgraded({});
  assert.deepEqual(document, {
    ...{ type: 'topology', revision: 5, version: '1.5.2', project_id: uuid(1), name: 'old', auto_start: true },
    topology: { computes: [], nodes: [], links: [], drawings: [] },
  });
  assert.equal(upgraded({}, { project_id: undefined }).document.project_id, uuid(101));
  assert.equal(upgraded({}, { auto_start: undefined }).document.auto_start, false);
});

test('servers are computes', () => {
  const servers = [
    { id: 1, local: true, host: '127.0.0.1', port: 8000 },
    { id: 2, local: false, vm: true, host: '192.168.56.101', port: 8000 },
    { id: 3, local: false, host: 'far', port: 8001, protocol: 'https', user: 'x' },
    { id: 7, local: false, host: 'away', port: '8002', protocol: 'ssh' },
  ];
  const nodes = [1, 2, 3, 7, 9].map((server_id) => ({ id: server_id, type: 'VPCSDevice', server_id }));
  const { topology } = upgraded({ servers, nodes }).document;
  assert.deepEqual(topology.computes, [
    { compute_id: uuid(101), name: 'Remote 3', protocol: 'https', host: 'far', port: 8001 },
    { compute_id: uuid(102), name: 'Remote 7', protocol: 'http', host: 'away', port: 8002 },
  ]);
  assert.deepEqual(
    topology.nodes.map((node: Json) => node.compute_id),
    ['local', 'vm', uuid(101), uuid(102), 'local'],
  );
});

test('every type has its counterpart, with the symbol of the type', () => {
  const types: Record<string, [type: string, symbol: string]> = {
    VPCSDevice: ['vpcs', 'vpcs_guest'],
    QemuVM: ['qemu', 'qemu_guest'],
    DockerVM: ['docker', 'docker_guest'],
    ATMSwitch: ['atm_switch', 'atm_switch'],
    EthernetHub: ['ethernet_hub', 'hub'],
    EthernetSwitch: ['ethernet_switch', 'ethernet_switch'],
    FrameRelaySwitch: ['frame_relay_switch', 'frame_relay_switch'],
    EtherSwitchRouter: ['dynamips', 'multilayer_switch'],
    C7200: ['dynamips', 'router'],
    VMwareVM: ['vmware', 'vmware_guest'],
    VirtualBoxVM: ['virtualbox', 'vbox_guest'],
    IOUDevice: ['iou', 'multilayer_switch'],
    Cloud: ['cloud', 'cloud'],
    Host: ['cloud', 'computer'],
  };
  for (const [type, expected] of Object.entries(types)) {
    const { node_type, symbol } = only({ type });
    assert.deepEqual([node_type, symbol], [expected[0], `:/symbols/${expected[1]}.svg`], type);
  }
  for (const type of ['Toaster', undefined, 'constructor', 'C9999']) {
    assert.throws(() => only({ type }), failure('conflict', /no counterpart/), type);
  }
  const own = { type: 'VPCSDevice', default_symbol: ':/symbols/router.normal.svg' };
  assert.equal(only(own).symbol, ':/symbols/router.svg');
  assert.equal(only({ ...own, symbol: ':/symbols/cloud.svg' }).symbol, ':/symbols/cloud.svg');
});

test('a node keeps its place, its name, its console and its properties', () => {
  const node = only({
    type: 'QemuVM',
    vm_id: uuid(5),
    ...{
      x: -10.4,
      y: 7.5,
      linked_base: true,
      port_name_format: 'Gi{0}',
      port_segment_size: 0,
      first_port_name: 'Mgmt',
    },
    label: { text: 'Q1', font: 'Arial,12.5,-1,5,50,1,1,1,0,0', color: '#80ff0000', x: 3.2, y: -25, rotation: 90 },
    properties: { name: 'Q1', console: 5005, console_host: '::', use_ubridge: true, ram: 512, adapters: 2 },
  });
  assert.deepEqual(node, {
    ...{ node_id: uuid(5), node_type: 'qemu', compute_id: 'local', name: 'Q1', console: 5005, console_type: 'telnet' },
    ...{ symbol: ':/symbols/qemu_guest.svg', x: -10, y: 7, z: 1 },
    ...{ port_name_format: 'Gi{0}', port_segment_size: 0, first_port_name: 'Mgmt' },
    label: {
      ...{ text: 'Q1', x: 3, y: -25, rotation: 90 },
      style:
        'font-family: Arial;font-size: 12.5;font-style: italic;text-decoration: underline line-through;fill: #ff0000;fill-opacity: 0.5;',
    },
    properties: { linked_clone: true, ram: 512, adapters: 2 },
  });
  assert.equal(only({ type: 'DockerVM', properties: { console_type: 'vnc' } }).console_type, 'vnc');
  assert.equal(only({ type: 'Cloud' }).console_type, null);
  assert.equal(only({ type: 'VPCSDevice', label: { text: 'PC1' } }).name, 'PC1');
  assert.equal(only({ type: 'VPCSDevice', label: { text: 'PC1' }, properties: { name: 'Other' } }).name, 'PC1');
  assert.deepEqual(only({ type: 'VirtualBoxVM' }).properties, { linked_clone: false });
  assert.deepEqual(only({ type: 'VMwareVM', linked_clone: true }).properties, { linked_clone: true });
});

test('routers have a platform and memory', () => {
  const router = (type: string, properties: object = {}): Json => {
    const { platform, ram } = only({ type, dynamips_id: 3, properties }).properties;
    return [platform, ram];
  };
  const memory = { c1700: 160, c2600: 160, c2691: 192, c3600: 192, c3725: 128, c3745: 256, c7200: 512 };
  for (const [platform, ram] of Object.entries(memory)) {
    assert.deepEqual(router(platform.toUpperCase()), [platform, ram]);
  }
  assert.deepEqual(router('C3640'), ['c3600', 192]);
  assert.deepEqual(router('c3745'), ['c3745', 256]);
  assert.deepEqual(router(undefined as never, { platform: 'c3725' }), ['c3725', 128]);
  assert.deepEqual(router('C7200', { ram: 300 }), ['c7200', 300]);
  assert.deepEqual(router('EtherSwitchRouter', { platform: 'c3745' }), ['c3745', 256]);
  assert.deepEqual(router('EtherSwitchRouter'), ['c3725', 128]);
  assert.equal(only({ type: 'C7200', dynamips_id: 3 }).properties.dynamips_id, 3);
});

test('hubs and switches count their ports from zero', () => {
  const hub = only({
    type: 'EthernetHub',
    properties: { name: 'H', ports: [1, 2] },
    ports: [port(2, '2'), port(1, '1')],
  });
  assert.deepEqual(hub.properties, {
    ports_mapping: [
      { name: 'Ethernet0', port_number: 0 },
      { name: 'Ethernet1', port_number: 1 },
    ],
  });
  const ports = [
    { id: 4, name: '1', port_number: 1, type: 'access', vlan: 5 },
    { id: 5, name: '2', port_number: 2, type: 'qinq', vlan: 1, ethertype: '0x88A8' },
  ];
  assert.deepEqual(only({ type: 'EthernetSwitch', ports }).properties.ports_mapping, [
    { name: 'Ethernet0', port_number: 0, type: 'access', vlan: 5 },
    { name: 'Ethernet1', port_number: 1, type: 'qinq', vlan: 1, ethertype: '0x88A8' },
  ]);
});

function thrown(act: () => unknown): Json {
  try {
    act();
  } catch (error) {
    return error;
  }
  assert.fail('it was accepted');
}

function port(id: number, name: string, more: object = {}): object {
  return { id, name, ...more };
}

test('NIOs of clouds are their ports', () => {
  const nios = ['nio_nat:n', 'nio_gen_eth:eth0', 'nio_tap:tap0', 'nio_udp:3000:10.0.0.1:4000', 'nio_gen_linux:a:b'];
  const ports = nios.map((name, index) => port(index + 1, name));
  const cloud = only({ type: 'Cloud', properties: { nios }, ports });
  assert.deepEqual(cloud.properties, {
    ports_mapping: [
      { name: 'eth0', port_number: 0, type: 'ethernet', interface: 'eth0' },
      { name: 'tap0', port_number: 1, type: 'tap', interface: 'tap0' },
      { name: 'UDP tunnel 3', port_number: 2, type: 'udp', lport: 3000, rhost: '10.0.0.1', rport: 4000 },
      { name: 'a:b', port_number: 3, type: 'ethernet', interface: 'a:b' },
    ],
  });
});

test('a tunnel of a cloud may lead to an IPv6 address', () => {
  const nios = ['::1', 'fe80::1%eth0', '[2001:db8::7]', 'far.example'].map((host) => `nio_udp:3000:${host}:4000`);
  const { ports_mapping: mapping } = only({ type: 'Cloud', properties: { nios } }).properties;
  assert.deepEqual(
    mapping.map(({ lport, rhost, rport }: Json) => [lport, rhost, rport]),
    ['::1', 'fe80::1%eth0', '2001:db8::7', 'far.example'].map((host) => [3000, host, 4000]),
  );
});

test('an NIO of a cloud that cannot be a port is refused with the cloud, the member and the fix', () => {
  for (const nio of [
    'nio_vde:x:y',
    'nio_udp:',
    'nio_udp:3000:10.0.0.1',
    'nio_udp:0:::1:4000',
    'nio_udp:3000:::1:70000',
  ]) {
    const cloud = { type: 'Cloud', label: { text: 'Cloud 1' }, properties: { nios: [nio] } };
    const { code, message } = thrown(() => only(cloud));
    assert.equal(code, 'conflict');
    assert.ok(message.startsWith(`topology.nodes: properties.nios of the cloud "Cloud 1": "${nio}": `), message);
    assert.match(message, /Correct or remove it in the lab's file\.$/);
  }
});

/** Of the machine that led to the Internet. */
const INTERNET = { hda_disk_image_md5sum: '8ebc5a6ec53a1c05b7aa101b5ceefe31' };

test('links join the ports that their ends are now; what leads nowhere is left out', () => {
  const nodes = [
    {
      id: 1,
      type: 'VPCSDevice',
      vm_id: uuid(11),
      ports: [port(1, 'Ethernet0', { adapter_number: 0, port_number: 0 })],
    },
    { id: 2, type: 'EthernetSwitch', device_id: uuid(12), ports: [port(2, '8', { port_number: 8 })] },
    { id: 3, type: 'C3745', vm_id: uuid(13), ports: [port(3, 'Serial0/0', { slot_number: 0, port_number: 16 })] },
    { id: 4, type: 'VirtualBoxVM', vm_id: uuid(14), ports: [port(4, 'Ethernet2', { port_number: 2 })] },
    { id: 5, type: 'IOUDevice', vm_id: uuid(15), ports: [port(5, 'e1/3', { adapter_number: 1, port_number: 3 })] },
    { id: 6, type: 'FrameRelaySwitch', device_id: uuid(16), ports: [port(6, '10')] },
    {
      id: 7,
      type: 'Cloud',
      properties: { nios: ['nio_nat:x', 'nio_tap:t'] },
      ports: [port(7, 'nio_nat:x'), port(8, 'nio_tap:t')],
    },
    {
      ...{ id: 8, type: 'QemuVM', properties: { hda_disk_image: 'a.img', ...INTERNET, console: 5000, ram: 64 } },
      ports: [port(9, 'Ethernet1', { adapter_number: 1, port_number: 0 })],
    },
  ];
  const link = (source: [number, number], destination: [number, number], more: object = {}): object => ({
    ...{ source_node_id: source[0], source_port_id: source[1] },
    ...{ destination_node_id: destination[0], destination_port_id: destination[1], ...more },
  });
  const label = { text: 'e0', x: 1.5, y: 2, font: 'TypeWriter,10,-1,5,75,0,0,0,0,0', color: '#ff000000' };
  const { topology } = upgraded({
    nodes,
    links: [
      link([1, 1], [2, 2], { source_node_label: label }),
      link([3, 3], [4, 4]),
      link([5, 5], [6, 6]),
      link([7, 8], [8, 9]),
      link([7, 7], [1, 1]),
      link([1, 99], [2, 2]),
      link([99, 1], [2, 2]),
    ],
  }).document;
  const ends = topology.links.map((found: Json) =>
    found.nodes.map((end: Json) => [end.node_id.slice(-2), end.adapter_number, end.port_number]),
  );
  assert.deepEqual(ends.slice(0, 3), [
    [
      ['11', 0, 0],
      ['12', 0, 7],
    ],
    [
      ['13', 0, 16],
      ['14', 2, 0],
    ],
    [
      ['15', 1, 3],
      ['16', 0, 10],
    ],
  ]);
  assert.equal(ends.length, 4);
  assert.deepEqual(
    ends[3].map((end: Json) => end.slice(1)),
    [
      [0, 0],
      [0, 0],
    ],
  );
  assert.deepEqual(topology.links[0].nodes[0].label, {
    ...{ text: 'e0', x: 1, y: 2, rotation: 0 },
    style: 'font-family: TypeWriter;font-size: 10.0;font-weight: bold;fill: #000000;fill-opacity: 1.0;',
  });
  assert.equal('label' in topology.links[0].nodes[1], false);
  // The virtual machine that led to the Internet is a NAT now.
  assert.deepEqual([topology.nodes[7].node_type, topology.nodes[7].properties], ['nat', {}]);
  assert.deepEqual([topology.nodes[7].console, topology.nodes[7].console_type], [null, null]);
});

test('shapes, notes and pictures are drawings', () => {
  const place = { x: 1.4, y: -2, z: 3, rotation: 45 };
  const { document, pictures } = upgraded({
    ellipses: [
      {
        ...place,
        width: 100.4,
        height: 50,
        color: '#80ff0000',
        border_style: 2,
        border_width: 3,
        border_color: '#00ff00',
      },
    ],
    rectangles: [{ width: 10, height: 20, border_style: 0 }],
    notes: [{ ...place, text: 'a < b & "c"\nsecond\u0001', font: 'Arial,20,-1,5,50,0,0,0,0,0', color: '#ff0000ff' }],
    images: [{ ...place, path: 'images\\a b.png' }, { path: '../../../etc/passwd' }, { path: '' }, {}],
  });
  const { drawings } = document.topology;
  assert.deepEqual(drawings[0], {
    ...{ drawing_id: uuid(101), x: 1, y: -2, z: 3, rotation: 45 },
    svg: '<svg width="100" height="50"><ellipse cx="50" cy="25" rx="50" ry="25" fill="#ff0000" fill-opacity="0.5" stroke-width="3" stroke="#00ff00" stroke-dasharray="25, 25"/></svg>',
  });
  assert.equal(
    drawings[1].svg,
    '<svg width="10" height="20"><rect width="10" height="20" fill="#ffffff" fill-opacity="1.0"/></svg>',
  );
  assert.equal(
    drawings[2].svg,
    '<svg width="176" height="64"><text font-family="Arial" font-size="20.0" fill="#0000ff" fill-opacity="1.0">a &lt; b &amp; &quot;c&quot;\nsecond</text></svg>',
  );
  assert.deepEqual(
    drawings.slice(3).map(({ svg }: Json) => svg),
    ['a b.png', 'passwd'],
  );
  assert.deepEqual(pictures, ['images\\a b.png', '../../../etc/passwd']);
});

test('fonts and names cannot break out of the texts that they are put into', () => {
  const hostile = '"/><script>alert(1)</script>';
  const { drawings } = upgraded({
    notes: [{ text: hostile, font: `${hostile},1e9,0,0,x`, color: hostile }],
    rectangles: [{ width: hostile, height: -5, color: hostile, border_color: hostile, border_width: hostile }],
  }).document.topology;
  for (const { svg } of drawings) assert.doesNotMatch(svg, /<script|"\/><s/);
  assert.doesNotMatch(only({ type: 'VPCSDevice', label: { text: 'x', font: 'a;fill: url(x)' } }).label.style, /url\(/);
});

test('whatever stands in the places of nodes, links and drawings is refused or left out, never run into', () => {
  for (const odd of [undefined, null, 1, 'x', [], [null], [[]], [{}], {}, [{ id: {} }]]) {
    const members = ['nodes', 'links', 'servers', 'notes', 'ellipses', 'rectangles', 'images'];
    for (const member of members) {
      try {
        parseTopology(JSON.stringify(legacy({ [member]: odd })));
      } catch (error) {
        assert.ok(failure('conflict')(error), member);
      }
    }
    assert.throws(() => parseTopology(JSON.stringify(legacy(odd as object, { name: odd }))), failure('conflict'));
  }
});

test('a project of 1.x is of this release after it was read, with its files where they belong', async (t) => {
  const directory = await scratchDirectory(t);
  const path = join(directory, 'old.gns3');
  const node = {
    ...{
      id: 1,
      type: 'C3725',
      vm_id: uuid(5),
      dynamips_id: 2,
      ports: [],
      properties: { name: 'R1', image: 'ios.bin' },
    },
  };
  const old = legacy({
    nodes: [node, { id: 2, type: 'VPCSDevice', vm_id: uuid(6), properties: { name: 'PC1', startup_script_path: 'x' } }],
    images: [
      { path: 'drawn/here.png', x: 0, y: 0 },
      { path: '/etc/hostname', x: 0, y: 0 },
    ],
  });
  const files: Record<string, string> = {
    'old.gns3': JSON.stringify(old),
    'instructions.txt': 'read me',
    'drawn/here.png': 'picture',
    'project-files/dynamips/c3725_i2_nvram': 'nvram',
    'project-files/dynamips/configs/i2_startup-config.cfg': 'config',
    'project-files/snapshots/first_010215_101112/old.gns3': JSON.stringify(old),
    'project-files/snapshots/first_010215_101112/project-files/vpcs/x': 'then',
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(directory, name, '..'), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  const { topology, upgradedFrom } = await readTopologyFile(path, { version: '2.2.57' });
  assert.equal(upgradedFrom, 4);
  assert.deepEqual([topology.revision, topology.version, topology.name], [9, '2.2.57', 'old']);
  assert.deepEqual(topology.topology.nodes[1]?.properties, {});
  assert.deepEqual(
    topology.topology.drawings.map(({ svg }) => svg),
    ['here.png', 'hostname'],
  );
  assert.equal(await readFile(join(directory, 'old.gns3.backup4'), 'utf8'), files['old.gns3']);
  assert.equal(await readFile(join(directory, 'README.txt'), 'utf8'), 'read me');
  assert.deepEqual(await readdir(join(directory, 'project-files/images')), ['here.png']);
  assert.equal(await readFile(join(directory, `project-files/dynamips/${uuid(5)}/c3725_i2_nvram`), 'utf8'), 'nvram');
  const snapshots = await readdir(join(directory, 'snapshots'));
  assert.deepEqual(snapshots, ['first_010215_101112.gns3project']);
  const packed = await unzipped(join(directory, 'snapshots', snapshots[0] as string));
  assert.deepEqual(Object.keys(packed).sort(), ['project-files/vpcs/x', 'project.gns3']);
  assert.equal((await readdir(join(directory, 'project-files'))).includes('snapshots'), false);
  const again = await readTopologyFile(path, { version: '2.2.57' });
  assert.equal(again.upgradedFrom, undefined);
  assert.deepEqual(again.topology, topology);
});

test('an upgrade reads and writes nothing outside of the project', async (t) => {
  const around = await scratchDirectory(t);
  const directory = join(around, 'project');
  await mkdir(join(around, 'outside/first_010215_101112'), { recursive: true });
  await writeFile(join(around, 'outside/first_010215_101112/secret'), 'secret');
  await writeFile(join(around, 'secret.png'), 'secret');
  await mkdir(join(directory, 'project-files'), { recursive: true });
  await symlink(join(around, 'outside'), join(directory, 'project-files/snapshots'));
  await symlink(join(around, 'secret.png'), join(directory, 'linked.png'));
  await symlink(join(around, 'outside'), join(directory, 'instructions.txt'));
  const images = ['linked.png', '../secret.png', join(around, 'secret.png')].map((path) => ({ path }));
  await writeFile(join(directory, 'old.gns3'), JSON.stringify(legacy({ images })));
  await readTopologyFile(join(directory, 'old.gns3'), { version: '2.2.57' });
  assert.deepEqual((await readdir(around)).sort(), ['outside', 'project', 'secret.png']);
  assert.deepEqual((await readdir(join(directory, 'project-files'))).sort(), ['snapshots']);
  assert.deepEqual(await readdir(join(around, 'outside')), ['first_010215_101112']);
});
