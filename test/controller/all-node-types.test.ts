// A lab of release 2.2.57 with nodes of all types: opened, closed, moved, copied, exported, and imported by another server, without losing anything that
// its file says, or files of its nodes.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Body } from '../body.ts';
import { BUSYBOX } from '../compute/docker-engine.ts';
import { engine, noEngine } from '../compute/docker-support.ts';
import { image as iouImage, noCompiler } from '../compute/iou-support.ts';
import { script, VBOX, VMRUN, VMWARE } from '../compute/machine-programs.ts';
import { noQemu, qemuImg } from '../compute/qemu-support.ts';
import { makeImage, noDynamips } from '../compute/router-support.ts';
import { LabServer } from './lab-server.ts';

const TYPES = (vmx: string): [type: string, console: string, properties: object][] => [
  ['vpcs', 'telnet', {}],
  ['traceng', 'none', { ip_address: '192.0.2.7', default_destination: '192.0.2.8' }],
  [
    'cloud',
    'none',
    { ports_mapping: [{ name: 'u', port_number: 0, type: 'udp', lport: 29_990, rhost: '127.0.0.1', rport: 29_991 }] },
  ],
  ['nat', 'none', {}],
  [
    'ethernet_hub',
    'none',
    {
      ports_mapping: [
        { name: 'First', port_number: 0 },
        { name: 'Second', port_number: 1 },
      ],
    },
  ],
  [
    'ethernet_switch',
    'telnet',
    {
      ports_mapping: [
        { name: 'A', port_number: 0, type: 'access', vlan: 7, ethertype: '' },
        { name: 'B', port_number: 1, type: 'qinq', vlan: 9, ethertype: '0x88A8' },
      ],
    },
  ],
  ['frame_relay_switch', 'none', { mappings: { '1:101': '2:202' } }],
  ['atm_switch', 'none', { mappings: { '1:10:20': '2:30:40' } }],
  [
    'qemu',
    'vnc',
    {
      ...{ platform: 'x86_64', ram: 320, cpus: 2, adapters: 3, adapter_type: 'virtio-net-pci', boot_priority: 'dc' },
      ...{
        hda_disk_image: 'disk.qcow2',
        hda_disk_interface: 'scsi',
        hda_disk_cache: 'none',
        mtu: 9000,
        offload: false,
        mac_address: '0c:11:22:33:44:00',
      },
      ...{ kernel_command_line: 'quiet', cpu_throttling: 50, process_priority: 'very low', on_close: 'save_vm_state' },
      ...{ options: '-machine accel=tcg', usage: 'admin/admin', linked_clone: true, uefi: false, tpm: false },
      ...{ replicate_network_connection_state: false, create_config_disk: false },
    },
  ],
  [
    'docker',
    'telnet',
    {
      ...{ image: BUSYBOX, adapters: 2, environment: 'A=1\nB=two words', extra_hosts: 'far:192.0.2.1', usage: 'none' },
      ...{ console_resolution: '800x600', console_http_port: 8080, console_http_path: '/x', start_command: '/bin/sh' },
      ...{ extra_volumes: ['/kept'] },
    },
  ],
  [
    'dynamips',
    'telnet',
    {
      ...{
        dynamips_id: 12,
        platform: 'c3725',
        image: 'c37xx.image',
        ram: 96,
        nvram: 128,
        slot0: 'GT96100-FE',
        slot1: 'NM-4T',
      },
      ...{
        wic0: 'WIC-2T',
        idlepc: '0x60608040',
        idlemax: 600,
        idlesleep: 40,
        exec_area: 32,
        disk0: 16,
        system_id: 'AB12',
      },
      ...{ mac_addr: 'c401.0000.0000', auto_delete_disks: true, mmap: false, sparsemem: false, iomem: 10 },
    },
  ],
  [
    'iou',
    'telnet',
    {
      ...{ path: 'i86bi.bin', ethernet_adapters: 1, serial_adapters: 3, ram: 300, nvram: 96, application_id: 401 },
      ...{ l1_keepalives: true, use_default_iou_values: false, usage: 'a router' },
    },
  ],
  [
    'virtualbox',
    'telnet',
    { vmname: 'web', adapters: 2, ram: 512, headless: true, on_close: 'save_vm_state', usage: 'v' },
  ],
  ['vmware', 'none', { vmx_path: vmx, adapters: 2, adapter_type: 'vmxnet3', headless: true, linked_clone: false }],
];

/** What is in one and not the same in the other, by its path. */
function lost(wanted: Body, found: Body, path = ''): string[] {
  if (wanted === null || typeof wanted !== 'object') {
    return wanted === found ? [] : [`${path}: ${JSON.stringify(wanted)} became ${JSON.stringify(found)}`];
  }
  if (found === null || typeof found !== 'object') return [`${path}: is not there`];
  return Object.entries(wanted).flatMap(([member, value]) => lost(value, found[member], `${path}/${member}`));
}

/** Nodes of these types are given a file. */
const WITH_FILES = ['vpcs', 'qemu', 'docker', 'dynamips', 'iou'];

const skip = noQemu || noDynamips || noCompiler || noEngine;

test('a lab with nodes of all types keeps all that its file says, wherever it goes', { skip }, async (t) => {
  const settings = { 'VPCS.engine': 'built-in', 'Docker.socket_path': engine().socketPath };
  const server = await LabServer.start(t, settings);
  await server.stop();
  const programs = join(server.state, 'programs');
  const images = (kind: string): string => join(server.state, 'images', kind);
  for (const folder of [programs, ...['QEMU', 'IOS', 'IOU'].map(images)]) mkdirSync(folder, { recursive: true });
  script(join(programs, 'VBoxManage'), VBOX);
  writeFileSync(join(programs, 'state'), 'poweroff\n');
  script(join(programs, 'vmrun'), VMRUN);
  script(join(programs, 'vmware'), VMWARE);
  const vmx = join(programs, 'machine.vmx');
  writeFileSync(vmx, '.encoding = "UTF-8"\ndisplayname = "machine"\nmemsize = "64"\n');
  await qemuImg('create', '-q', '-f', 'qcow2', join(images('QEMU'), 'disk.qcow2'), '1M');
  await makeImage(images('IOS'), 'c37xx');
  copyFileSync(iouImage(), join(images('IOU'), 'i86bi.bin'));
  server.configure({
    'VirtualBox.vboxmanage_path': join(programs, 'VBoxManage'),
    'VMware.vmrun_path': join(programs, 'vmrun'),
  });
  await server.start();

  const nodes = TYPES(vmx).map(([node_type, console_type, properties], index) => ({
    ...{ compute_id: 'local', console: null, console_auto_start: index % 2 === 1, console_type, custom_adapters: [] },
    ...{ first_port_name: null, height: 59, width: 65, locked: false, name: `N-${node_type}`, node_id: randomUUID() },
    label: { rotation: 0, style: 'font-size: 9;', text: `N-${node_type}`, x: index, y: -25 },
    ...{ node_type, port_name_format: 'Ethernet{0}', port_segment_size: 0, properties, template_id: null },
    ...{ symbol: ':/symbols/computer.svg', x: 10 * index, y: -7 * index, z: 1 + (index % 3) },
  }));
  const idOf = (type: string): string => nodes.find(({ node_type }) => node_type === type)!.node_id;
  const end = (type: string, adapter_number: number, port_number: number) => ({
    ...{ adapter_number, node_id: idOf(type), port_number },
    label: { rotation: 0, style: 'font-size: 8;', text: `${type} end`, x: 4, y: 5 },
  });
  const links = [
    [end('vpcs', 0, 0), end('ethernet_hub', 0, 0)],
    [end('qemu', 2, 0), end('ethernet_switch', 0, 1)],
    [end('docker', 1, 0), end('ethernet_hub', 0, 1)],
    [end('dynamips', 0, 0), end('ethernet_switch', 0, 0)],
    [end('iou', 0, 0), end('cloud', 0, 0)],
  ].map((ends) => ({ filters: {}, link_id: randomUUID(), link_style: {}, nodes: ends, suspend: false }));
  const project_id = randomUUID();
  const file = {
    ...{ auto_close: false, auto_open: false, auto_start: false, drawing_grid_size: 25, grid_size: 75, name: 'all' },
    ...{ project_id, revision: 9, scene_height: 900, scene_width: 1900, show_grid: true, show_interface_labels: true },
    ...{
      show_layers: false,
      snap_to_grid: false,
      supplier: null,
      type: 'topology',
      variables: null,
      version: '2.2.57',
    },
    topology: { computes: [], drawings: [], links, nodes },
    zoom: 80,
  };
  const directory = join(server.state, 'projects', project_id);
  mkdirSync(directory, { recursive: true });
  const path = join(directory, 'all.gns3');
  writeFileSync(path, JSON.stringify(file));

  const byName = (list: Body[]): Body[] => list.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  /** Ports of consoles are given when the file names none. */
  const told = (list: Body[]): Body[] => byName(list).map(({ console: _port, ...rest }) => rest);
  const wanted = told(nodes);
  const found = async (id: string, at = server): Promise<Body[]> =>
    told(await at.expect(200, 'GET', `/v2/projects/${id}/nodes`));
  const fileOf = (id: string, { node_id }: Body): string => `/v2/projects/${id}/nodes/${node_id}/files/notes.txt`;
  /** The types of nodes that have not their file. */
  const withoutFile = async (id: string, at = server): Promise<string[]> => {
    const without: string[] = [];
    for (const node of (await found(id, at)).filter(({ node_type: type }) => WITH_FILES.includes(type))) {
      const { json } = await at.call('GET', fileOf(id, node));
      if (json !== `of ${node.name}`) without.push(node.node_type);
    }
    return without;
  };
  await server.expect(201, 'POST', '/v2/projects/load', { path });
  assert.deepEqual(lost(wanted, await found(project_id)), [], 'opened');
  for (const type of WITH_FILES) {
    const node = nodes.find(({ node_type }) => node_type === type)!;
    const { status } = await server.request(fileOf(project_id, node), { method: 'POST', body: `of ${node.name}` });
    assert.equal(status, 201);
  }
  await server.expect(204, 'POST', `/v2/projects/${project_id}/close`);
  const closed: Body = JSON.parse(readFileSync(path, 'utf8'));
  const { topology: _old, ...head } = file;
  assert.deepEqual(lost(head, { ...closed, version: file.version }), [], 'its settings in the file');
  assert.deepEqual(lost(wanted, told(closed.topology.nodes)), [], 'its nodes in the file');
  const ofLinks = (list: Body[]): Body[] => list.toSorted((one, other) => (one.link_id < other.link_id ? -1 : 1));
  assert.deepEqual(lost(ofLinks(links), ofLinks(closed.topology.links)), [], 'its links in the file');

  const elsewhere = join(server.state, 'elsewhere', 'all');
  await server.expect(200, 'PUT', `/v2/projects/${project_id}`, { path: elsewhere });
  assert.equal(existsSync(directory), false);
  await server.expect(201, 'POST', `/v2/projects/${project_id}/open`);
  assert.deepEqual(lost(wanted, await found(project_id)), [], 'moved');
  assert.deepEqual(await withoutFile(project_id), [], 'moved');
  const linksMoved: Body[] = await server.expect(200, 'GET', `/v2/projects/${project_id}/links`);
  assert.deepEqual(lost(ofLinks(links), ofLinks(linksMoved)), [], 'its links, moved');
  await server.expect(204, 'POST', `/v2/projects/${project_id}/close`);

  /** Of a copy, whose nodes have identifiers of their own. */
  const copied = (list: Body[]): Body[] =>
    list.map(({ node_id: _id, properties: { application_id: _ap, dynamips_id: _dy, ...properties }, ...rest }) => ({
      ...rest,
      properties,
    }));
  const copy = await server.expect(201, 'POST', `/v2/projects/${project_id}/duplicate`, {
    name: 'copy',
    reset_mac_addresses: false,
  });
  await server.expect(201, 'POST', `/v2/projects/${copy.project_id}/open`);
  assert.deepEqual(lost(copied(wanted), await found(copy.project_id)), [], 'duplicated');
  assert.deepEqual(await withoutFile(copy.project_id), [], 'duplicated');
  await server.expect(204, 'DELETE', `/v2/projects/${copy.project_id}`);

  await server.expect(201, 'POST', `/v2/projects/${project_id}/open`);
  const refused = await server.expect(409, 'GET', `/v2/projects/${project_id}/export`);
  assert.match(refused.message, /N-v(irtualbox|mware)/);
  for (const type of ['virtualbox', 'vmware']) {
    await server.expect(204, 'DELETE', `/v2/projects/${project_id}/nodes/${idOf(type)}`);
  }
  const archive = await server.request(`/v2/projects/${project_id}/export?include_images=yes`);
  assert.equal(archive.status, 200);
  const body = new Uint8Array(await archive.arrayBuffer()); // whole, before the server ends, with its ports and numbers
  await server.stop();
  const far = await LabServer.start(t, settings);
  const other = randomUUID();
  const imported = await far.request(`/v2/projects/${other}/import?name=other`, {
    method: 'POST',
    body,
  });
  assert.equal(imported.status, 201, await imported.text());
  await far.expect(201, 'POST', `/v2/projects/${other}/open`);
  const rest = wanted.filter(({ node_type: type }) => type !== 'virtualbox' && type !== 'vmware');
  assert.deepEqual(lost(copied(rest), await found(other, far)), [], 'imported');
  assert.deepEqual(await withoutFile(other, far), [], 'imported');
  for (const [kind, image] of [
    ['QEMU', 'disk.qcow2'],
    ['IOS', 'c37xx.image'],
    ['IOU', 'i86bi.bin'],
  ] as const) {
    assert.deepEqual(readFileSync(join(far.state, 'images', kind, image)), readFileSync(join(images(kind), image)));
  }
  const again: Body[] = await far.expect(200, 'GET', `/v2/projects/${other}/links`);
  assert.equal(again.length, links.length);
});
