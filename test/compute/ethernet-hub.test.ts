import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync } from 'node:fs';
import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findLink } from '../../src/host/network/kernel-interfaces.ts';
import type { Body } from '../body.ts';
import { cablePair, cannotMakeInterfaces, ip, uniqueName } from '../fabric/namespaces.ts';
import { freePort, Peer, until } from '../fabric/peers.ts';
import { scratchDirectory, scratchFileSystem } from '../store/scratch.ts';
import { type Lab, startLab } from './support.ts';

const EIGHT = Array.from({ length: 8 }, (_, n) => ({ name: `Ethernet${n}`, port_number: n }));

async function started(
  t: TestContext,
  body: object = {},
): Promise<{ lab: Lab; path: string; hub: string; directory: string }> {
  const lab = await startLab(t);
  const path = await lab.project();
  const hub = await lab.node(path, 'ethernet_hub', body);
  return { lab, path, hub, directory: lab.directoryOf(path) };
}

/** Connects a port of the hub with a peer; answers where the peer sends. */
async function connected(
  t: TestContext,
  lab: Lab,
  hub: string,
  port: number,
  more: object = {},
): Promise<[Peer, number]> {
  const { peer, nio } = await lab.peer(t, hub, port, more);
  return [peer, nio.lport];
}

test('a hub has eight ports and is always on; starting, stopping and suspending it change nothing', async (t) => {
  const { lab, path, hub } = await started(t, { name: 'Hub' });
  const wanted = {
    name: 'Hub',
    node_id: hub.split('/').at(-1),
    project_id: path.split('/').at(-1),
    ports_mapping: EIGHT,
    status: 'started',
  };
  for (const verb of ['start', 'stop', 'suspend']) await lab.expect(204, 'POST', `${hub}/${verb}`);
  assert.deepEqual(await lab.expect(200, 'GET', hub), wanted);
  assert.deepEqual(lab.events(), [], 'creating and starting it is not announced');
});

test('changing a hub is announced, removing it, too, and then it is gone', async (t) => {
  const { lab, hub } = await started(t);
  const changed = await lab.expect(200, 'PUT', hub, { name: 'New', ports_mapping: [{ name: 'x', port_number: 7 }] });
  assert.equal(changed.name, 'New');
  assert.deepEqual(changed.ports_mapping, [{ name: 'Ethernet0', port_number: 0 }], 'ports are renumbered and renamed');
  await lab.expect(204, 'DELETE', hub);
  assert.deepEqual(lab.events(), ['node.updated started', 'node.deleted started']);
  await lab.expect(404, 'GET', hub);
  await lab.expect(404, 'DELETE', hub);
});

test('a hub created twice is the first one; the same identifier for another type is refused', async (t) => {
  const { lab, path } = await started(t);
  const node_id = randomUUID();
  await lab.node(path, 'ethernet_hub', { name: 'first', node_id });
  const again = await Promise.all(
    [1, 2].map(() => lab.expect(201, 'POST', `${path}/ethernet_hub/nodes`, { name: 'second', node_id })),
  );
  assert.deepEqual(
    again.map(({ name }) => name),
    ['first', 'first'],
  );
  assert.match((await lab.expect(409, 'POST', `${path}/vpcs/nodes`, { name: 'x', node_id })).message, /node_id/);
  await lab.expect(404, 'GET', `${path}/vpcs/nodes/${node_id}`);
});

test('a copy keeps the ports that it was created with', async (t) => {
  const { lab, path, hub } = await started(t);
  const copy = await lab.node(path, 'ethernet_hub', { name: 'Copy', ports_mapping: [{ name: 'p', port_number: 4 }] });
  const body = { destination_node_id: copy.split('/').at(-1) };
  const answer = await lab.expect(201, 'POST', `${hub}/duplicate`, body);
  assert.deepEqual([answer.name, answer.ports_mapping], ['Copy', [{ name: 'p', port_number: 4 }]]);
  await lab.expect(404, 'POST', `${hub}/duplicate`, { destination_node_id: randomUUID() });
  await lab.expect(400, 'POST', `${hub}/duplicate`, {});
});

/** Whether whoever runs this may open /dev/net/tun, which hosts differ in. */
function tunOpens(): boolean {
  try {
    accessSync('/dev/net/tun', constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** What attaching answers, as release 2.2.57 does. */
const udp = { type: 'nio_udp', lport: 15_990, rhost: '127.0.0.1', rport: 41_000 };
const ATTACHING: [string, Partial<Body>, number, { port?: string; exception?: string; message?: RegExp }][] = [
  ['a UDP NIO on a free port', udp, 201, {}],
  ['a UDP NIO with any adapter number', udp, 201, { port: 'adapters/7/ports/0' }],
  ['nothing', { type: 'nio_null' }, 201, {}],
  ['a port that the hub does not have', udp, 409, { port: 'adapters/0/ports/8', exception: 'DynamipsError' }],
  [
    'a host that has no address',
    { ...udp, rhost: 'no-such-host.invalid' },
    409,
    { exception: 'DynamipsError', message: /rhost/ },
  ],
  ['a VMnet', { type: 'nio_vmnet', vmnet: 'vmnet1' }, 409, { message: /use nio_udp or nio_null/ }],
  ['NAT', { type: 'nio_nat' }, 409, {}],
  [
    'an interface that is not there',
    { type: 'nio_generic_ethernet', ethernet_device: 'nosuch0' },
    409,
    { message: /ethernet_device: .* nosuch0/ },
  ],
  tunOpens()
    ? [
        'a TAP that is none',
        { type: 'nio_tap', tap_device: 'lo' },
        409,
        { exception: 'DynamipsError', message: /lo exists/ },
      ]
    : [
        'a TAP without the right to have one',
        { type: 'nio_tap', tap_device: 'lo' },
        403,
        { message: /\/dev\/net\/tun/ },
      ],
  [
    'a filter that does not exist',
    { ...udp, filters: { lag: [1] } },
    409,
    { exception: 'UbridgeError', message: /lag.*delay/ },
  ],
  [
    'a chance above 100',
    { ...udp, filters: { packet_loss: [101] } },
    409,
    { exception: 'UbridgeError', message: /0 to 100/ },
  ],
  [
    'a delay without a latency',
    { ...udp, filters: { delay: [] } },
    409,
    { exception: 'UbridgeError', message: /latency in ms/i },
  ],
  ['a delay of text', { ...udp, filters: { delay: ['10'] } }, 409, { exception: 'UbridgeError' }],
  [
    'an expression that is none',
    { ...udp, filters: { bpf: ['icmp\nbogus thing'] } },
    409,
    { exception: 'UbridgeError', message: /filters\.bpf: .*(bogus thing|libpcap)/ },
  ],
  [
    'an expression that is no text',
    { ...udp, filters: { bpf: [7] } },
    409,
    { exception: 'UbridgeError', message: /filters\.bpf: give/ },
  ],
  ['no expression', { ...udp, filters: { bpf: [''] } }, 201, {}],
  ['no type', { lport: 1, rhost: 'a', rport: 1 }, 400, {}],
  ['an unknown type', { ...udp, type: 'nio_magic' }, 400, { message: /type/ }],
  ['port 0', { ...udp, lport: 0 }, 400, { message: /lport/ }],
  ['port 65536', { ...udp, rport: 65_536 }, 400, { message: /rport/ }],
  ['a port as text', { ...udp, lport: '25001' }, 400, {}],
  ['a port with a fraction', { ...udp, lport: 2.5 }, 400, {}],
  ['no host', { ...udp, rhost: '' }, 400, { message: /rhost/ }],
  ['an unknown member', { ...udp, speed: 10 }, 400, { message: /speed/ }],
  ['a member of another type', { type: 'nio_null', lport: 3 }, 400, {}],
  ['filters as a list', { ...udp, filters: [] }, 400, { message: /filters/ }],
  ['suspension as text', { ...udp, suspend: 'no' }, 400, {}],
  ['a port number with a fraction', udp, 404, { port: 'adapters/0/ports/1.5' }],
  ['a negative port number', udp, 404, { port: 'adapters/0/ports/-1' }],
];

for (const [what, nio, status, { port = 'adapters/0/ports/0', exception, message }] of ATTACHING) {
  test(`attaching ${what} answers ${status}${exception ? ` with ${exception}` : ''}`, async (t) => {
    const { lab, hub } = await started(t);
    const answer = await lab.request('POST', `${hub}/${port}/nio`, nio);
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    if (status === 201) {
      const { filters: _, suspend: __, ...echoed } = nio;
      assert.deepEqual(answer.body, echoed);
    } else {
      assert.equal(answer.body.exception, exception);
      if (message) assert.match(answer.body.message, message);
      await lab.expect(201, 'POST', `${hub}/adapters/0/ports/0/nio`, udp);
    }
  });
}

test('a NIO is attached, found occupied, removed once, and its port is free for the next', async (t) => {
  const { lab, hub } = await started(t);
  const port = `${hub}/adapters/0/ports/3/nio`;
  await lab.expect(201, 'POST', port, udp);
  assert.equal((await lab.expect(409, 'POST', port, { ...udp, lport: 15_991 })).exception, 'DynamipsError');
  await lab.expect(405, 'PUT', port, udp);
  await lab.expect(204, 'DELETE', port);
  assert.equal((await lab.expect(409, 'DELETE', port)).exception, 'DynamipsError');
  await lab.expect(201, 'POST', port, udp);
  assert.deepEqual(lab.events(), []);
});

test('a UDP port that another program took meanwhile is refused with its number and the fix', async (t) => {
  const { lab, hub } = await started(t);
  const thief = await Peer.open(t, { host: '0.0.0.0' });
  const nio = { type: 'nio_udp', lport: thief.port, rhost: '127.0.0.1', rport: 9 };
  const { message, exception } = await lab.expect(409, 'POST', `${hub}/adapters/0/ports/0/nio`, nio);
  assert.match(message, new RegExp(`${thief.port}`));
  assert.equal(exception, 'DynamipsError');
  await thief.release();
  await lab.expect(201, 'POST', `${hub}/adapters/0/ports/0/nio`, nio);
});

test('a node under another project, another type, an unknown or a wrong identifier is never found', async (t) => {
  const { lab, path, hub } = await started(t);
  const other = await lab.project();
  const id = hub.split('/').at(-1)!;
  for (const [nodes, status] of [
    [`${other}/ethernet_hub/nodes/${id}`, 404],
    [`${path}/vpcs/nodes/${id}`, 404],
    [`${path}/ethernet_hub/nodes/${randomUUID()}`, 404],
    [`${path}/ethernet_hub/nodes/${id.toUpperCase()}`, 404],
    [`${path}/ethernet_hub/nodes/nope`, 400],
    [`/projects/nope/ethernet_hub/nodes/${id}`, 400],
    [`/projects/${randomUUID()}/ethernet_hub/nodes/${id}`, 404],
  ] as const) {
    for (const [method, suffix, body] of [
      ['GET', '', undefined],
      ['PUT', '', {}],
      ['DELETE', '', undefined],
      ['POST', '/start', undefined],
      ['POST', '/adapters/0/ports/0/nio', udp],
      ['DELETE', '/adapters/0/ports/0/nio', undefined],
      ['POST', '/adapters/0/ports/0/start_capture', { capture_file_name: 'x' }],
      ['GET', '/adapters/0/ports/0/pcap', undefined],
    ] as const) {
      const answer = await lab.request(method, `${nodes}${suffix}`, body);
      assert.equal(answer.status, status, `${method} ${nodes}${suffix}: ${JSON.stringify(answer.body)}`);
    }
  }
});

test('a frame that enters at one port leaves at all the others, and only peers are heard', async (t) => {
  const { lab, hub } = await started(t);
  const [a, toA] = await connected(t, lab, hub, 0);
  const [b] = await connected(t, lab, hub, 1);
  const [c] = await connected(t, lab, hub, 7, { filters: {}, suspend: false });
  const stranger = await Peer.open(t);
  await stranger.send(toA, 'from a stranger');
  await a.send(toA, 'from a');
  assert.deepEqual([await b.takeText(), await c.takeText()], [['from a'], ['from a']]);
  assert.equal(a.heard.length, 0);
});

test('a suspended port of a hub is silent', async (t) => {
  const { lab, hub } = await started(t);
  const [a, toA] = await connected(t, lab, hub, 0);
  const [b] = await connected(t, lab, hub, 1, { suspend: true, filters: { delay: [10, 2] } });
  const [c] = await connected(t, lab, hub, 2);
  await a.send(toA, 'x');
  assert.deepEqual(await c.takeText(), ['x']);
  assert.equal(b.heard.length, 0);
});

test('a connected hub keeps its ports, whole or not at all', async (t) => {
  const { lab, hub } = await started(t);
  await connected(t, lab, hub, 2);
  lab.events();
  const refused = await lab.expect(409, 'PUT', hub, { name: 'New', ports_mapping: [{ name: 'x', port_number: 0 }] });
  assert.equal(refused.exception, 'NodeError');
  assert.match(refused.message, /ports_mapping/);
  const { name, ports_mapping } = await lab.expect(200, 'GET', hub);
  assert.deepEqual([name, ports_mapping], ['N1', EIGHT], 'nothing is half changed');
  assert.equal((await lab.expect(200, 'PUT', hub, { name: 'New', ports_mapping: EIGHT })).name, 'New');
  assert.deepEqual(lab.events(), ['node.updated started']);
});

test('ports of its own numbers and names are taken as they are given', async (t) => {
  const mapping = [
    { name: 'north', port_number: 3 },
    { name: 'south', port_number: 10 },
  ];
  const { lab, hub } = await started(t, { ports_mapping: mapping });
  assert.deepEqual((await lab.expect(200, 'GET', hub)).ports_mapping, mapping);
  await lab.expect(409, 'POST', `${hub}/adapters/0/ports/0/nio`, udp);
  await lab.expect(201, 'POST', `${hub}/adapters/0/ports/10/nio`, udp);
});

test('a capture can be read from its beginning while it grows, and its end is reported to the reader', async (t) => {
  const { lab, hub, directory } = await started(t);
  const [a, toA] = await connected(t, lab, hub, 0);
  const port = `${hub}/adapters/0/ports/0`;
  assert.match((await lab.expect(409, 'GET', `${port}/pcap`)).message, /not being captured/);
  const body = { capture_file_name: 'test.pcap', data_link_type: 'DLT_EN10MB' };
  const { pcap_file_path } = await lab.expect(200, 'POST', `${port}/start_capture`, body);
  assert.equal(pcap_file_path, join(directory, 'project-files/captures/test.pcap'));
  assert.equal((await lab.expect(409, 'POST', `${port}/start_capture`, body)).exception, 'DynamipsError');

  const response = await lab.app.request(`/v2/compute${port}/pcap`);
  assert.equal(response.headers.get('content-type'), 'application/vnd.tcpdump.pcap');
  const reader = response.body!.getReader();
  let read = Buffer.alloc(0);
  const readTo = async (size: number) => {
    while (read.length < size) {
      const { done, value } = await reader.read();
      if (done) return false;
      read = Buffer.concat([read, value]);
    }
    return true;
  };
  assert.ok(await readTo(24), 'the header comes at once');
  await a.send(toA, Buffer.alloc(60, 1));
  assert.ok(await readTo(24 + 76), 'a frame comes when it has passed');
  await a.send(toA, Buffer.alloc(60, 2));
  await lab.expect(204, 'POST', `${port}/stop_capture`);
  assert.equal(await readTo(Number.POSITIVE_INFINITY), false, 'the stream ends');
  assert.deepEqual(read, await readFile(pcap_file_path));
  await lab.expect(204, 'POST', `${port}/stop_capture`);
  await lab.expect(409, 'GET', `${port}/pcap`);
});

test('format, snap length, ring and filter of a capture work on a port; wrong ones are named', async (t) => {
  const { lab, hub, directory } = await started(t, { name: 'Hub' });
  const [a, toA] = await connected(t, lab, hub, 0);
  const port = `${hub}/adapters/0/ports/0`;
  const name = { capture_file_name: 'c.pcapng' };
  for (const [wrong, words] of [
    [{ format: 'cap' }, /format/],
    [{ snap_length: 65_536 }, /snap_length/],
    [{ ring_size: 1000 }, /ring_size/],
    [{ ring_files: 5 }, /ring_files: needs ring_size/],
    [{ filter: 'no such thing' }, /filter: .*(no such thing|libpcap)/],
  ] as const)
    assert.match((await lab.expect(400, 'POST', `${port}/start_capture`, { ...name, ...wrong })).message, words);
  const asked = {
    format: 'pcapng',
    snap_length: 20,
    ring_size: 131_072,
    ring_files: 3,
    interface_description: 'to PC',
  };
  await lab.expect(200, 'POST', `${port}/start_capture`, { ...name, ...asked });
  const other = `${hub}/adapters/0/ports/1`;
  await connected(t, lab, hub, 1);
  const taken = { capture_file_name: 'c_00002.pcapng' };
  assert.match((await lab.expect(409, 'POST', `${other}/start_capture`, taken)).message, /written by another/);
  const response = await lab.app.request(`/v2/compute${port}/pcap`);
  assert.equal(response.headers.get('content-type'), 'application/x-pcapng');
  await a.send(toA, Buffer.alloc(60, 1));
  const seen = async () => (await lab.expect(200, 'GET', `${port}/statistics`)).capture;
  await until(async () => (await seen()).frames > 0);
  assert.deepEqual(await seen(), { frames: 1, bytes: 60, drops: 0, filtered: 0 });
  await lab.expect(204, 'POST', `${port}/stop_capture`);
  assert.equal(await seen(), null);
  const content = Buffer.from(await response.arrayBuffer());
  assert.deepEqual(content, await readFile(join(directory, 'project-files/captures/c.pcapng')));
  assert.ok(content.includes('Hub 0/0') && content.includes('to PC'));
  assert.ok(content.includes(Buffer.alloc(20, 1)) && !content.includes(Buffer.alloc(21, 1)));
});

test('removing the NIO, the node or the project ends the capture and its readers', async (t) => {
  const { lab, path, hub } = await started(t);
  for (const [method, target] of [
    ['DELETE', `${hub}/adapters/0/ports/0/nio`],
    ['DELETE', hub],
    ['POST', `${path}/close`],
  ] as const) {
    const own = target === hub ? hub : target.startsWith(hub) ? hub : await lab.node(path, 'ethernet_hub');
    await connected(t, lab, own, 0);
    await lab.expect(200, 'POST', `${own}/adapters/0/ports/0/start_capture`, { capture_file_name: 'again.pcap' });
    const response = await lab.app.request(`/v2/compute${own}/adapters/0/ports/0/pcap`);
    await lab.expect(204, method, target);
    assert.equal((await response.arrayBuffer()).byteLength, 24, target);
  }
});

for (const [what, name, status] of [
  ['a path', '../../../escape.pcap', 400],
  ['a directory', 'a/b.pcap', 400],
  ['the directory itself', '..', 400],
  ['a NUL', 'a\0b', 400],
  ['nothing', '', 400],
  ['300 characters', 'x'.repeat(300), 403],
] as const) {
  test(`a capture file called by ${what} is refused with ${status}, and nothing is made`, async (t) => {
    const { lab, hub, directory } = await started(t);
    await connected(t, lab, hub, 0);
    const body = { capture_file_name: name };
    await lab.expect(status, 'POST', `${hub}/adapters/0/ports/0/start_capture`, body);
    assert.equal(existsSync(join(directory, '../escape.pcap')), false);
    await lab.expect(200, 'POST', `${hub}/adapters/0/ports/0/start_capture`, { capture_file_name: 'good.pcap' });
  });
}

test('a capture does not follow a link out of the project', async (t) => {
  const { lab, path, hub, directory } = await started(t);
  const outside = await scratchDirectory(t);
  await connected(t, lab, hub, 0);
  await lab.expect(200, 'POST', `${path}/files/project-files/x`, '');
  await symlink(outside, join(directory, 'project-files/captures'));
  await lab.expect(403, 'POST', `${hub}/adapters/0/ports/0/start_capture`, { capture_file_name: 'c.pcap' });
  assert.equal(existsSync(join(outside, 'c.pcap')), false);
});

test('two captures never write the same file, and one without a NIO is refused', async (t) => {
  const { lab, hub } = await started(t);
  const port = (n: number) => `${hub}/adapters/0/ports/${n}`;
  for (const n of [0, 1]) await connected(t, lab, hub, n);
  const body = { capture_file_name: 'c.pcap', data_link_type: 'DLT_PPP_SERIAL' };
  await lab.expect(200, 'POST', `${port(0)}/start_capture`, body);
  assert.match((await lab.expect(409, 'POST', `${port(1)}/start_capture`, body)).message, /c\.pcap/);
  await lab.expect(204, 'POST', `${port(0)}/stop_capture`);
  await lab.expect(200, 'POST', `${port(1)}/start_capture`, body);
  assert.equal((await lab.expect(409, 'POST', `${port(5)}/start_capture`, body)).exception, 'DynamipsError');
  await lab.expect(409, 'POST', `${port(5)}/stop_capture`);
  await lab.expect(400, 'POST', `${port(0)}/start_capture`, { ...body, data_link_type: 'DLT_X' });
  await lab.expect(400, 'POST', `${port(0)}/start_capture`, {});
});

test('a capture that fills the disk ends with an error that names the port, and can be begun again when there is room', async (t) => {
  const disk = await scratchFileSystem(t, '1M');
  if (disk === undefined) return;
  const lab = await startLab(t, { projects_path: join(disk, 'projects') });
  const hub = await lab.node(await lab.project(), 'ethernet_hub', { name: 'Hub' });
  const [a, toA] = await connected(t, lab, hub, 0);
  const port = `${hub}/adapters/0/ports/0`;
  await lab.expect(200, 'POST', `${port}/start_capture`, { capture_file_name: 'c.pcap' });
  const stream = await lab.app.request(`/v2/compute${port}/pcap`);
  await writeFile(join(disk, 'ballast'), Buffer.alloc(2_000_000)).catch(() => {});
  for (let n = 0; n < 20; n += 1) await a.send(toA, Buffer.alloc(1400, n));
  assert.match((await lab.told('log.error')).message, /port 0\/0 of Hub has ended.*c\.pcap/);
  await lab.expect(409, 'GET', `${port}/pcap`);
  assert.equal((await stream.arrayBuffer()).byteLength >= 24, true, 'its readers are told the end');
  await rm(join(disk, 'ballast'));
  await lab.expect(200, 'POST', `${port}/start_capture`, { capture_file_name: 'c.pcap' });
});

test('a TAP of a hub is up while the cable is there, and an interface keeps what it was', {
  skip: cannotMakeInterfaces,
}, async (t) => {
  const { lab, hub } = await started(t);
  const [tap, [outside]] = [uniqueName(), await cablePair(t)];
  const nios = [
    { type: 'nio_tap', tap_device: tap },
    { type: 'nio_linux_ethernet', ethernet_device: outside },
  ];
  for (const [port, nio] of nios.entries())
    assert.deepEqual(await lab.expect(201, 'POST', `${hub}/adapters/0/ports/${port}/nio`, nio), nio);
  assert.equal(findLink(tap)?.up, true);
  for (const port of nios.keys()) await lab.expect(204, 'DELETE', `${hub}/adapters/0/ports/${port}/nio`);
  assert.equal(findLink(tap), undefined);
  assert.equal(findLink(outside)?.up, true);
});

test('frames that are too long for the path to another host are counted, and reported in the lab', {
  skip: cannotMakeInterfaces,
}, async (t) => {
  const { lab, hub } = await started(t, { name: 'Hub' });
  const [here] = await cablePair(t);
  await ip('link', 'set', here, 'mtu', '1500');
  await ip('address', 'add', '10.71.3.1/24', 'dev', here);
  await ip('neighbour', 'add', '10.71.3.2', 'lladdr', '02:00:00:00:00:02', 'dev', here);
  const [peer, into] = await connected(t, lab, hub, 0);
  const nio = { type: 'nio_udp', lport: await freePort(), rhost: '10.71.3.2', rport: 20_000 };
  await lab.expect(201, 'POST', `${hub}/adapters/0/ports/1/nio`, nio);
  await peer.send(into, Buffer.alloc(1472), Buffer.alloc(1473));
  const tunnel = await until(async () => {
    const answer = await lab.expect(200, 'GET', `${hub}/adapters/0/ports/1/statistics`);
    return answer.tunnel.fragmented > 0 && answer.tunnel;
  });
  const { reason, ...figures } = tunnel;
  assert.deepEqual(figures, { by: 'udp', path_mtu: 1500, max_frame: 1472, fragmented: 1, too_long: 0 });
  assert.match(reason, /VXLAN|vxlan_port|missing/);
  const { message } = await lab.told('log.warning');
  assert.match(message, /^Port 0\/1 of Hub: frames of more than 1472 bytes go to 10\.71\.3\.2 in fragments/);
  const { tunnel: none } = await lab.expect(200, 'GET', `${hub}/adapters/0/ports/0/statistics`);
  assert.equal(none, null, 'a tunnel within this host has no such path');
});
