import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { Body } from '../body.ts';
import { type Lab, startLab } from './support.ts';

/** Loopback stands for the bridge: an interface that every host has, and that no lab can be given. */
async function started(t: TestContext, body: object = {}): Promise<{ lab: Lab; path: string; nat: string }> {
  const lab = await startLab(t, { default_nat_interface: 'lo', console: [12_970, 12_975] });
  const path = await lab.project();
  return { lab, path, nat: await lab.node(path, 'nat', { name: 'NAT1', ...body }) };
}

const MAPPING = [{ interface: 'lo', name: 'nat0', port_number: 0, type: 'ethernet' }];

test('a NAT has one port, on the configured interface, whatever mapping it is given', async (t) => {
  const other = [{ name: 'x', port_number: 3, type: 'tap', interface: 'tap9' }];
  const { lab, path, nat } = await started(t, { ports_mapping: other, status: 'stopped' });
  const wanted = {
    name: 'NAT1',
    node_id: nat.split('/').at(-1),
    project_id: path.split('/').at(-1),
    status: 'started',
    ports_mapping: MAPPING,
  };
  assert.deepEqual(await lab.expect(200, 'GET', nat), wanted);
  for (const verb of ['start', 'stop', 'suspend']) await lab.expect(204, 'POST', `${nat}/${verb}`);
  const changed = await lab.expect(200, 'PUT', nat, { name: 'New', ports_mapping: other });
  assert.deepEqual(changed, { ...wanted, name: 'New' });
  assert.deepEqual(lab.events(), ['node.updated started']);
  assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).console_ports, [12_970]);
  await lab.expect(204, 'DELETE', nat);
  await lab.expect(404, 'GET', nat);
  assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).console_ports, []);
});

test('a NIO at a NAT whose interface cannot be used stays; the reason is reported and the node stops', async (t) => {
  const { lab, nat } = await started(t);
  const nio = { type: 'nio_udp', lport: 15_980, rhost: '127.0.0.1', rport: 9 };
  assert.deepEqual(await lab.expect(201, 'POST', `${nat}/adapters/0/ports/0/nio`, nio), nio);
  assert.match((await lab.told('log.error')).message, /Port 0 of NAT1 leads nowhere: .*lo/);
  assert.equal((await lab.expect(200, 'GET', nat)).status, 'stopped');
  assert.equal((await lab.expect(409, 'POST', `${nat}/start`)).exception, 'NodeError');
  await lab.expect(409, 'POST', `${nat}/adapters/0/ports/1/nio`, { ...nio, lport: 15_981 });
  await lab.expect(204, 'DELETE', `${nat}/adapters/0/ports/0/nio`);
});

for (const [what, settings, message] of [
  [
    'there is no bridge, and no network of our own is wanted',
    { nat_network: 'off' },
    /no interface lw-none.*nat_network is off/,
  ],
  [
    'there is no bridge, and our own network is not allowed',
    { allowed_interfaces: 'eth9' },
    /labwire-nat0 is not among allowed_interfaces/,
  ],
  [
    'the bridge is not allowed',
    { default_nat_interface: 'lo', allowed_interfaces: 'eth9' },
    /lo is not among allowed_interfaces/,
  ],
] as const) {
  test(`a NAT is refused with what to do about it where ${what}`, async (t) => {
    const lab = await startLab(t, { default_nat_interface: 'lw-none', ...settings });
    const refused = await lab.expect(409, 'POST', `${await lab.project()}/nat/nodes`, { name: 'N' });
    assert.equal(refused.exception, 'NodeError');
    assert.match(refused.message, message);
  });
}

test('making a NAT without a bridge changes nothing on the host: it is made, or refused with what is missing', async (t) => {
  const lab = await startLab(t, { default_nat_interface: 'lw-none' });
  const { status, body } = await lab.request('POST', `${await lab.project()}/nat/nodes`, { name: 'N' });
  if (status === 409) assert.match(body.message, /CAP_NET_ADMIN|apt install nftables/);
  else assert.equal((body as Body).ports_mapping[0].interface, 'labwire-nat0');
  assert.equal(readdirSync('/sys/class/net').includes('labwire-nat0'), false);
});

test('what a NAT is not is refused, and a second one by the same identifier is the first', async (t) => {
  const { lab, path } = await started(t);
  for (const [body, member] of [
    [{}, /name/],
    [{ name: '' }, /name/],
    [{ name: 'a', x: 1 }, /x/],
    [{ name: 'a', ports_mapping: [{ name: 'x' }] }, /ports_mapping/],
  ] as const) {
    assert.match((await lab.expect(400, 'POST', `${path}/nat/nodes`, body)).message, member);
  }
  const node_id = randomUUID();
  await lab.node(path, 'nat', { name: 'first', node_id });
  assert.equal((await lab.expect(201, 'POST', `${path}/nat/nodes`, { name: 'second', node_id })).name, 'first');
});
