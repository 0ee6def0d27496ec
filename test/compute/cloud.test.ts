import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isSpecialInterface } from '../../src/host/network/interfaces.ts';
import type { Body } from '../body.ts';
import { freePort, Peer, until } from '../fabric/peers.ts';
import { type Lab, startLab } from './support.ts';

const NODE_ERROR = 'NodeError';

function tunnel(lport: number, rport: number, port_number = 0): object {
  return { name: `UDP ${port_number}`, port_number, type: 'udp', lport, rhost: '127.0.0.1', rport };
}

async function started(t: TestContext, body: object = {}): Promise<{ lab: Lab; path: string; cloud: string }> {
  const lab = await startLab(t);
  const path = await lab.project();
  const cloud = await lab.node(path, 'cloud', body);
  return { lab, path, cloud };
}

/** A cloud whose port 0 is a tunnel to a peer, and a peer on the cable of that port. */
async function joined(t: TestContext) {
  const [inside, outside] = [await Peer.open(t), await Peer.open(t)];
  const [lport, cable] = [await freePort(), await freePort()];
  const made = await started(t, { ports_mapping: [tunnel(lport, outside.port)] });
  const nio = { type: 'nio_udp', lport: cable, rhost: '127.0.0.1', rport: inside.port };
  const port = `${made.cloud}/adapters/0/ports/0`;
  await made.lab.expect(201, 'POST', `${port}/nio`, nio);
  return { ...made, inside, outside, lport, cable, nio, port };
}

test('a cloud without ports of its own offers every interface of the host that is not special', async (t) => {
  const { lab, path, cloud } = await started(t, { name: 'Cloud' });
  const told = await lab.expect(200, 'GET', cloud);
  const names = readdirSync('/sys/class/net').sort();
  // Interfaces come and go while tests run side by side: only what stays is compared.
  const stays = (name: string): boolean => ['lo', 'eth0'].includes(name) && names.includes(name);
  assert.deepEqual(
    told.interfaces.filter(({ name }: Body) => stays(name)),
    names.filter(stays).map((name) => ({ name, type: 'ethernet', special: name === 'lo' })),
  );
  for (const [index, entry] of told.ports_mapping.entries()) {
    assert.equal(isSpecialInterface(entry.interface), false);
    assert.deepEqual([entry.port_number, entry.name], [index, entry.interface]);
  }
  const { ports_mapping: _, interfaces: __, ...rest } = told;
  assert.deepEqual(rest, {
    name: 'Cloud',
    node_id: cloud.split('/').at(-1),
    project_id: path.split('/').at(-1),
    node_directory: join(
      lab.config.Server.projects_path,
      path.slice(10),
      'project-files/builtin',
      cloud.split('/').at(-1)!,
    ),
    remote_console_host: '',
    remote_console_port: 23,
    remote_console_type: 'none',
    remote_console_http_path: '/',
    status: 'started',
  });
});

test('ports of a cloud are numbered by their place; a change is announced; stopping a cloud changes nothing', async (t) => {
  const { lab, cloud } = await started(t, { ports_mapping: [tunnel(15_970, 9, 7), tunnel(15_971, 9, 3)] });
  const numbers = (body: Body): number[] => body.ports_mapping.map((entry: Body) => entry.port_number);
  assert.deepEqual(numbers(await lab.expect(200, 'GET', cloud)), [0, 1]);
  for (const verb of ['start', 'stop', 'suspend']) await lab.expect(204, 'POST', `${cloud}/${verb}`);
  for (const verb of ['reload', 'duplicate']) await lab.expect(404, 'POST', `${cloud}/${verb}`, {});
  assert.deepEqual(lab.events(), []);
  const tap = { name: 'up', port_number: 5, type: 'tap', interface: 'tap9' };
  const body = { name: 'New', ports_mapping: [tap], remote_console_port: null, remote_console_type: 'https' };
  const changed = await lab.expect(200, 'PUT', cloud, body);
  assert.deepEqual(changed.ports_mapping, [{ ...tap, port_number: 0 }]);
  assert.deepEqual([changed.name, changed.remote_console_port, changed.remote_console_type], ['New', null, 'https']);
  assert.deepEqual(lab.events(), ['node.updated started']);
});

test('frames cross a cloud both ways; a capture records them; filters and suspension hold them up', async (t) => {
  const { lab, inside, outside, lport, cable, nio, port } = await joined(t);
  const capture = { capture_file_name: 'c.pcap', data_link_type: 'DLT_EN10MB' };
  await lab.expect(200, 'POST', `${port}/start_capture`, capture);
  await inside.send(cable, 'out');
  assert.deepEqual(await outside.takeText(), ['out']);
  await outside.send(lport, 'in');
  assert.deepEqual(await inside.takeText(), ['in']);
  await lab.expect(204, 'POST', `${port}/stop_capture`);
  const dropped = async (): Promise<number> => {
    const { incoming } = await lab.expect(200, 'GET', `${port}/statistics`);
    return incoming.dropped.frequency_drop;
  };
  for (const held of [{ suspend: true }, { filters: { frequency_drop: [-1] } }]) {
    assert.deepEqual(await lab.expect(201, 'PUT', `${port}/nio`, { ...nio, ...held }), { ...nio, ...held });
    const before = await dropped();
    await inside.send(cable, 'lost');
    await until(async () => (await dropped()) > before);
    await lab.expect(201, 'PUT', `${port}/nio`, { ...nio, filters: {}, suspend: false });
    await inside.send(cable, 'found');
    assert.deepEqual(await outside.takeText(), ['found']);
  }
});

test('a connected cloud keeps its ports, whole or not at all; unplugged, its tunnel is closed', async (t) => {
  const { lab, cloud, outside, lport, port, nio } = await joined(t);
  const refused = await lab.expect(409, 'PUT', cloud, { name: 'New', ports_mapping: [tunnel(lport, 9)] });
  assert.deepEqual([refused.exception, /ports_mapping/.test(refused.message)], [NODE_ERROR, true]);
  const kept = await lab.expect(200, 'GET', cloud);
  assert.deepEqual([kept.name, kept.ports_mapping], ['N1', [tunnel(lport, outside.port)]]);
  await lab.expect(409, 'POST', `${port}/nio`, { ...nio, lport: await freePort() });
  await lab.expect(204, 'DELETE', `${port}/nio`);
  assert.equal((await lab.expect(409, 'DELETE', `${port}/nio`)).exception, NODE_ERROR);
  // Bound again: nobody has it any more.
  await Peer.open(t, { port: lport });
  await lab.expect(200, 'PUT', cloud, { ports_mapping: [tunnel(lport, 9), tunnel(lport + 1, 9, 1)] });
});

test('a tunnel whose UDP port is taken: the NIO stays, the reason is reported, the cloud stops until it is started again', async (t) => {
  const thief = await Peer.open(t);
  const { lab, cloud } = await started(t, { ports_mapping: [tunnel(thief.port, 9)] });
  const nio = { type: 'nio_udp', lport: await freePort(), rhost: '127.0.0.1', rport: 9 };
  await lab.expect(201, 'POST', `${cloud}/adapters/0/ports/0/nio`, nio);
  const { message } = await lab.told('log.error');
  assert.match(message, new RegExp(`Port 0 of N1 .*UDP port ${thief.port} is already in use`));
  assert.equal((await lab.expect(200, 'GET', cloud)).status, 'stopped');
  assert.deepEqual(lab.events('log.error'), ['node.updated stopped']);
  assert.equal((await lab.expect(409, 'POST', `${cloud}/start`)).exception, NODE_ERROR);
  await thief.release();
  await lab.expect(204, 'POST', `${cloud}/start`);
  assert.deepEqual(lab.events(), ['node.updated started']);
});

test('a tunnel to an unknown host name is reported as such', async (t) => {
  const entry = { ...tunnel(15_972, 9), rhost: 'no-such-host.invalid' };
  const { lab, cloud } = await started(t, { ports_mapping: [entry] });
  const nio = { type: 'nio_udp', lport: await freePort(), rhost: '127.0.0.1', rport: 9 };
  await lab.expect(201, 'POST', `${cloud}/adapters/0/ports/0/nio`, nio);
  assert.match((await lab.told('log.error')).message, /rhost: "no-such-host\.invalid"/);
});

test('no cable gets the UDP port of a tunnel, nor a console the hidden port of a cloud; both come back', async (t) => {
  const lab = await startLab(t, { udp: [15_960, 15_963], console: [12_960, 12_963] });
  const path = await lab.project();
  const cloud = await lab.node(path, 'cloud', { ports_mapping: [tunnel(15_960, 9)] });
  const told = async () => {
    const { console_ports, udp_ports } = await lab.expect(200, 'GET', '/network/ports');
    return [console_ports, udp_ports];
  };
  assert.deepEqual(await told(), [[12_960], [15_960]]);
  assert.equal((await lab.expect(201, 'POST', `${path}/ports/udp`)).udp_port, 15_961);
  await lab.expect(200, 'PUT', cloud, { ports_mapping: [tunnel(15_962, 9)] });
  assert.deepEqual((await told())[1], [15_961, 15_962]);
  await lab.expect(204, 'DELETE', cloud);
  assert.deepEqual(await told(), [[], [15_961]]);
});

for (const [what, body, member] of [
  ['no name', { name: '' }, /name/],
  [
    'a tunnel without its port',
    { ports_mapping: [{ name: 'u', port_number: 0, type: 'udp', rhost: 'a', rport: 1 }] },
    /lport/,
  ],
  ['a second port that is wrong', { ports_mapping: [tunnel(1, 1), { ...tunnel(1, 0), name: 'x' }] }, /rport/],
  [
    'an Ethernet port without an interface',
    { ports_mapping: [{ name: 'e', port_number: 0, type: 'ethernet' }] },
    /interface/,
  ],
  [
    'a port of an unknown type',
    { ports_mapping: [{ name: 'e', port_number: 0, type: 'radio', interface: 'x' }] },
    /type/,
  ],
  ['a console on port 0', { remote_console_port: 0 }, /remote_console_port/],
  ['a console of an unknown type', { remote_console_type: 'x' }, /remote_console_type/],
  ['an unknown member', { x: 1 }, /x/],
] as const) {
  test(`a cloud with ${what} is refused, and the member named`, async (t) => {
    const lab = await startLab(t);
    const path = await lab.project();
    assert.match((await lab.expect(400, 'POST', `${path}/cloud/nodes`, { name: 'C', ...body })).message, member);
  });
}

test('a port that a cloud does not have, and a NIO that is no UDP tunnel, are refused', async (t) => {
  const { lab, cloud } = await started(t, { ports_mapping: [tunnel(15_973, 9)] });
  const nio = { type: 'nio_udp', lport: await freePort(), rhost: '127.0.0.1', rport: 9 };
  assert.equal((await lab.expect(409, 'POST', `${cloud}/adapters/0/ports/1/nio`, nio)).exception, NODE_ERROR);
  await lab.expect(409, 'POST', `${cloud}/adapters/0/ports/0/nio`, { type: 'nio_tap', tap_device: 'tap0' });
});
