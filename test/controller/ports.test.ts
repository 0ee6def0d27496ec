// Ports of nodes: what each type offers to be linked (as in release 2.2.57).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PortSource } from '../../src/api/kinds/kind.ts';
import { portsOf } from '../../src/api/kinds/kinds.ts';
import { addToMac } from '../../src/api/mac.ts';
import { defaultLabel } from '../../src/controller/nodes/label.ts';

function source(more: Partial<PortSource>): PortSource {
  return {
    node_type: 'qemu',
    properties: {},
    port_name_format: 'Ethernet{0}',
    port_segment_size: 0,
    first_port_name: null,
    custom_adapters: [],
    ...more,
  };
}

const names = (more: Partial<PortSource>): string[] => portsOf(source(more)).map(({ name }) => name);
const adapters = (count: number) => ({ properties: { adapters: count } });

test('the standard rule names ports by format, segment, first port and custom names', () => {
  assert.deepEqual(names(adapters(3)), ['Ethernet0', 'Ethernet1', 'Ethernet2']);
  assert.deepEqual(
    names({
      ...adapters(3),
      port_name_format: 'Gi{0}/{1}',
      first_port_name: 'Mgmt',
      port_segment_size: 2,
      custom_adapters: [{ adapter_number: 1, port_name: 'zzz' }],
    }),
    ['Mgmt', 'zzz', 'Gi1/0'],
  );
  assert.deepEqual(names({ ...adapters(4), port_name_format: 'Gi{segment0}/{port0}', port_segment_size: 2 }), [
    'Gi0/0',
    'Gi0/1',
    'Gi1/0',
    'Gi1/1',
  ]);
  assert.deepEqual(names({ ...adapters(4), port_name_format: 'Gi{segment1}/{port1}', port_segment_size: 2 }), [
    'Gi1/1',
    'Gi1/2',
    'Gi2/1',
    'Gi2/2',
  ]);
  assert.deepEqual(names({ ...adapters(3), port_name_format: 'port{port1}' }), ['port1', 'port2', 'port3']);
  assert.throws(() => names({ ...adapters(1), port_name_format: '{colour}' }), /port_name_format/);
  assert.throws(() => names({ ...adapters(1), port_name_format: 'a{' }), /port_name_format/);
});

test('an IOU device has four ports an adapter, Ethernet first, then serial', () => {
  const ports = portsOf(
    source({
      node_type: 'iou',
      properties: { ethernet_adapters: 2, serial_adapters: 2 },
      port_name_format: 'Ethernet{segment0}/{port0}',
      port_segment_size: 4,
    }),
  );
  assert.deepEqual(
    ports.map(({ name }) => name),
    [
      ...[0, 1].flatMap((segment) => [0, 1, 2, 3].map((port) => `Ethernet${segment}/${port}`)),
      ...[2, 3].flatMap((segment) => [0, 1, 2, 3].map((port) => `Serial${segment}/${port}`)),
    ],
  );
  assert.deepEqual(ports.at(-1), {
    name: 'Serial3/3',
    short_name: 's3/3',
    adapter_number: 3,
    port_number: 3,
    link_type: 'serial',
    data_link_types: { 'Frame Relay': 'DLT_FRELAY', 'Cisco HDLC': 'DLT_C_HDLC', 'Cisco PPP': 'DLT_PPP_SERIAL' },
  });
});

test('virtual PCs, hubs, clouds and containers', () => {
  assert.deepEqual(portsOf(source({ node_type: 'vpcs' })), [
    {
      name: 'Ethernet0',
      short_name: 'e0',
      adapter_number: 0,
      port_number: 0,
      link_type: 'ethernet',
      data_link_types: { Ethernet: 'DLT_EN10MB' },
    },
  ]);
  const mapping = {
    ports_mapping: [
      { name: 'Uplink', port_number: 7 },
      { name: 'b', port_number: 9 },
    ],
  };
  const short = (type: 'ethernet_hub' | 'cloud') =>
    portsOf(source({ node_type: type, properties: mapping })).map((port) => [
      port.name,
      port.short_name,
      port.port_number,
    ]);
  assert.deepEqual(short('ethernet_hub'), [
    ['Uplink', 'e0', 0],
    ['b', 'e1', 1],
  ]);
  assert.deepEqual(short('cloud'), [
    ['Uplink', 'Uplink', 0],
    ['b', 'b', 1],
  ]);
  const [, second] = portsOf(
    source({ node_type: 'docker', properties: { adapters: 2, mac_address: '02:42:00:00:00:ff' } }),
  );
  assert.deepEqual([second?.name, second?.adapter_number, second?.mac_address], ['eth1', 1, '02:42:00:00:01:00']);
});

test('Frame Relay and ATM switches have the ports that their mappings name', () => {
  const ports = portsOf(
    source({ node_type: 'frame_relay_switch', properties: { mappings: { '1:101': '10:202', '2:1': '1:5' } } }),
  );
  assert.deepEqual(
    ports.map(({ name, port_number: number, link_type: type }) => [name, number, type]),
    [
      ['1', 1, 'serial'],
      ['2', 2, 'serial'],
      ['10', 10, 'serial'],
    ],
  );
});

test('a router has the ports of its adapters and WICs', () => {
  const ports = portsOf(
    source({ node_type: 'dynamips', properties: { slot0: 'GT96100-FE', slot1: null, wic0: 'WIC-2T', ram: 128 } }),
  );
  assert.deepEqual(
    ports.map((port) => [port.name, port.short_name, port.adapter_number, port.port_number]),
    [
      ['FastEthernet0/0', 'f0/0', 0, 0],
      ['FastEthernet0/1', 'f0/1', 0, 1],
      ['Serial0/0', 's0/0', 0, 16],
      ['Serial0/1', 's0/1', 0, 17],
    ],
  );
});

test('MAC addresses count on over byte boundaries', () => {
  assert.equal(addToMac('00:00:ab:00:00:ff', 2), '00:00:ab:00:01:01');
  assert.equal(addToMac('nonsense', 1), 'nonsense');
});

test('labels stand above the symbol, rounded half to even', () => {
  for (const [height, y] of [
    [59, -40],
    [45, -32],
    [32, -26],
    [71, -46],
    [48, -34],
    [60, -40],
  ] as const) {
    assert.equal(defaultLabel('x', height).y, y, String(height));
  }
});
