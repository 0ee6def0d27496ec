// Consoles of nodes on a host that offers them on its loopback alone: clients of the controller reach them at the address that the node names.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { StandIn } from './computes-stand-in.ts';
import { LabServer, until } from './lab-server.ts';

/** An address of this host that is no loopback address, as that of another host is. */
const ELSEWHERE = '192.0.2.77';

/** Virtual PCs that are ready at once. */
const BUILT_IN = { 'VPCS.engine': 'built-in' };
const CANNOT_ADD = process.getuid?.() === 0 ? false : 'only root may make network namespaces and interfaces';

type Body = Record<string, string & number>;

function addAddress(): void {
  const known = execFileSync('ip', ['-o', 'address', 'show', 'dev', 'lo'], { encoding: 'utf8' });
  if (!known.includes(ELSEWHERE)) execFileSync('ip', ['address', 'add', `${ELSEWHERE}/32`, 'dev', 'lo']);
}

async function twoHosts(t: TestContext, settings: Record<string, string> = {}): Promise<[LabServer, LabServer]> {
  addAddress();
  const login = { auth: 'true', user: 'u', password: 'p' };
  // On one machine the ports of both would meet.
  const server = await LabServer.start(t, { ...BUILT_IN, console_end_port_range: '6000' });
  const ports = { console_start_port_range: '7000', console_end_port_range: '8000' };
  const other = await LabServer.start(t, { ...BUILT_IN, host: '0.0.0.0', ...login, ...ports, ...settings });
  const credentials = { user: 'u', password: 'p' };
  const body = { compute_id: 'other', name: 'Other', protocol: 'http', host: ELSEWHERE, port: other.port };
  await server.expect(201, 'POST', '/v2/computes', { ...body, ...credentials });
  return [server, other];
}

/** What a telnet client sees that types a line at a console, until the pattern has come. */
async function telnet({ console_host: host, console: port }: Body, line: string, pattern: RegExp): Promise<string> {
  const socket = connect({ host: String(host), port: Number(port) });
  let output = '';
  socket.setEncoding('latin1').on('data', (text) => {
    output += text;
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(`${line}\r`);
  await until(() => pattern.test(output) || socket.closed, `${pattern}`);
  socket.destroy();
  return output;
}

const refused = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('error', () => resolve(true)).once('connect', () => socket.destroy() && resolve(false));
  });

test('the console of a node of another host works at the address that the node names, and its port is free when the node goes', {
  skip: CANNOT_ADD,
}, async (t) => {
  const [server] = await twoHosts(t);
  const project = await server.project();
  const url = `/v2/projects/${project.project_id}`;
  const pc = (name: string, compute: string) =>
    server.expect(201, 'POST', `${url}/nodes`, { name, node_type: 'vpcs', compute_id: compute });
  const [near, far] = [await pc('Near', 'local'), await pc('Far', 'other')];
  assert.equal(far.console_host, near.console_host);
  assert.notEqual(far.console, near.console);
  const path = `${url}/nodes/${far.node_id}`;
  assert.match(await telnet(far, '', /disconnected/), /Far is not started/);
  await server.expect(200, 'POST', `${path}/start`);
  assert.match(await telnet(far, 'show ip', /MAC {2}/), /NAME/);
  assert.match(await telnet(far, 'show ip', /MAC {2}/), /NAME/, 'any number of clients');

  // Whoever repeats what he sees changes nothing; another number is another port.
  const same = await server.expect(200, 'PUT', path, { console: far.console, name: 'Far2' });
  assert.deepEqual([same.console, same.name], [far.console, 'Far2']);
  const moved = await server.expect(200, 'PUT', path, { console: 7100 });
  assert.notEqual(moved.console, far.console);
  assert.match(await telnet(moved, 'show ip', /MAC {2}/), /NAME/);
  assert.equal(await refused(far.console), true);

  await server.expect(204, 'POST', `${url}/close`);
  assert.equal(await refused(moved.console), true, 'of a closed lab');
  await server.expect(201, 'POST', `${url}/open`);
  const again = await server.expect(200, 'GET', path);
  await server.expect(200, 'POST', `${path}/start`);
  assert.match(await telnet(again, 'show ip', /MAC {2}/), /NAME/);
  const without = await server
    .expect(200, 'POST', `${path}/stop`)
    .then(() => server.expect(200, 'PUT', path, { console_type: 'none' }));
  assert.equal(without.console, null);
  assert.equal(await refused(again.console), true, 'of a node without a console');
  const back = await server.expect(200, 'PUT', path, { console_type: 'telnet' });
  assert.equal(await refused(back.console), false);
  for (const target of ['local', 'other']) {
    const node = await server.expect(200, 'PUT', path, { compute_id: target });
    await server.expect(200, 'POST', `${path}/start`);
    assert.match(await telnet(node, 'show ip', /MAC {2}/), /NAME/, `moved to ${target}`);
    await server.expect(200, 'POST', `${path}/stop`);
  }
  const there = await server.expect(200, 'GET', path);
  await server.expect(204, 'DELETE', path);
  assert.equal(await refused(there.console), true, 'of a deleted node');
});

test('consoles that a host offers to all, those of a host on this machine, and those of the release are dialled there', {
  skip: CANNOT_ADD,
}, async (t) => {
  const [server, other] = await twoHosts(t, { allow_remote_console: 'true' });
  const it = await StandIn.start(
    t,
    {
      'POST /projects': {},
      'POST /projects/.*/vpcs/nodes': { status: 'stopped', console: 5000, console_type: 'telnet', name: 'N' },
      'POST .*': {},
    },
    ELSEWHERE,
  );
  await server.expect(201, 'POST', '/v2/computes', it.body());
  const body = { compute_id: 'here', name: 'Here', protocol: 'http', host: '127.0.0.1', port: other.port };
  await server.expect(201, 'POST', '/v2/computes', { ...body, user: 'u', password: 'p' });
  const project = await server.project();
  const url = `/v2/projects/${project.project_id}/nodes`;
  for (const [compute, host] of [
    ['other', ELSEWHERE],
    ['it', ELSEWHERE],
    ['here', '127.0.0.1'],
  ] as const) {
    const node = await server.expect(201, 'POST', url, { name: 'PC', node_type: 'vpcs', compute_id: compute });
    assert.equal(node.console_host, host, compute);
    if (compute !== 'it') {
      await server.expect(200, 'POST', `${url}/${node.node_id}/start`);
      assert.match(await telnet(node, 'show ip', /NAME/), /NAME/);
    }
  }
});
