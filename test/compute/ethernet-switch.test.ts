import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { SwitchConsole } from '../../src/compute/emulators/ethernet_switch/console.ts';
import type { Body } from '../body.ts';
import { BROADCAST, frame, mac } from '../fabric/frames.ts';
import { until } from '../fabric/peers.ts';
import { type Lab, startLab } from './support.ts';

/** Console ports that no other test file uses: while nothing listens on one, nobody else may. */
const CONSOLE: [number, number] = [11_700, 11_799];

async function started(t: TestContext, body: object = {}): Promise<{ lab: Lab; path: string; node: string }> {
  const lab = await startLab(t, { console: CONSOLE });
  const path = await lab.project();
  return { lab, path, node: await lab.node(path, 'ethernet_switch', { name: 'SW', ...body }) };
}

const access = (number: number, vlan: number) => ({
  name: `Ethernet${number}`,
  port_number: number,
  type: 'access',
  vlan,
});

test('a switch has eight access ports of VLAN 1, keeps a console port, and takes given ports as they are', async (t) => {
  const { lab, path, node } = await started(t);
  const found: Body = await lab.expect(200, 'GET', node);
  assert.deepEqual(
    found.ports_mapping,
    [0, 1, 2, 3, 4, 5, 6, 7].map((number) => access(number, 1)),
  );
  assert.equal(found.console_type, 'none');
  const ports: Body = await lab.expect(200, 'GET', '/network/ports');
  assert.deepEqual(ports.console_ports, [found.console]);
  const odd = [{ name: 'Uplink', port_number: 7, type: 'qinq', vlan: 5, ethertype: '0x9200' }];
  const other = await lab.node(path, 'ethernet_switch', { name: 'Odd', ports_mapping: odd });
  assert.deepEqual((await lab.expect(200, 'GET', other)).ports_mapping, odd);
  await lab.expect(204, 'DELETE', other);
  await lab.expect(204, 'DELETE', node);
  assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).console_ports, []);
});

test('ports are renumbered and renamed by a change; while a NIO is attached their settings change, but not their number', async (t) => {
  const { lab, node } = await started(t);
  const two = [
    { name: 'x', port_number: 9, type: 'access', vlan: 10 },
    { name: 'y', port_number: 8, type: 'access', vlan: 20 },
  ];
  const changed = await lab.expect(200, 'PUT', node, { ports_mapping: two, console: 1 });
  assert.deepEqual(changed.ports_mapping, [access(0, 10), access(1, 20)]);
  assert.notEqual(changed.console, 1);
  const [a, b] = [await lab.peer(t, node, 0), await lab.peer(t, node, 1)];
  const refused = await lab.expect(409, 'PUT', node, { ports_mapping: [access(0, 1)] });
  assert.match(refused.message, /ports_mapping: SW is connected/);
  await lab.expect(200, 'PUT', node, { ports_mapping: [access(0, 10), access(1, 10)] });
  await a.send(frame(BROADCAST, mac(1), 'now in one VLAN'));
  assert.deepEqual(await b.peer.take(1), [frame(BROADCAST, mac(1), 'now in one VLAN')]);
  await lab.expect(200, 'PUT', node, { ports_mapping: [access(0, 10), { ...access(1, 3), type: 'dot1q' }] });
  await a.send(frame(BROADCAST, mac(1), 'to a trunk'));
  assert.deepEqual(await b.peer.take(1), [frame(BROADCAST, mac(1), 'to a trunk', { vlan: 10 })]);
});

test('a port that ports_mapping does not list can be used: it is in VLAN 1', async (t) => {
  const { lab, node } = await started(t);
  const [a, extra] = [await lab.peer(t, node, 0), await lab.peer(t, node, 100)];
  await extra.send(frame(BROADCAST, mac(1), 'from a hundred'));
  assert.deepEqual(await a.peer.take(1), [frame(BROADCAST, mac(1), 'from a hundred')]);
  await lab.expect(409, 'POST', `${node}/adapters/0/ports/65536/nio`, { type: 'nio_null' });
});

test('the table of addresses can be read and cleared', async (t) => {
  const { lab, node } = await started(t, {
    ports_mapping: [access(0, 20), access(1, 10), { ...access(2, 1), type: 'dot1q' }],
  });
  const [a, b, trunk] = [await lab.peer(t, node, 0), await lab.peer(t, node, 1), await lab.peer(t, node, 2)];
  await a.send(frame(BROADCAST, mac(2), ''));
  await trunk.peer.take(1);
  await b.send(frame(BROADCAST, mac(0xabc), ''), frame(BROADCAST, mac(1), ''));
  await trunk.peer.take(2);
  const table: Body = await lab.expect(200, 'GET', `${node}/mac_table`);
  assert.ok(table.every(({ age }: Body) => age >= 0 && age < 60));
  assert.deepEqual(
    table.map(({ age, ...row }: Body) => row),
    [
      { vlan: 10, mac_address: '02:00:00:00:00:01', port_number: 1, port_name: 'Ethernet1' },
      { vlan: 10, mac_address: '02:00:00:00:0a:bc', port_number: 1, port_name: 'Ethernet1' },
      { vlan: 20, mac_address: '02:00:00:00:00:02', port_number: 0, port_name: 'Ethernet0' },
    ],
  );
  await lab.expect(204, 'DELETE', `${node}/mac_table`);
  assert.deepEqual(await lab.expect(200, 'GET', `${node}/mac_table`), []);
});

/** Somebody at the console, who waits for texts. */
class Terminal {
  text = '';
  readonly socket: Socket;

  constructor(t: TestContext, port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.setEncoding('latin1').on('data', (text) => {
      this.text += text;
    });
    t.after(() => this.socket.destroy());
  }

  /** Types, and answers what is shown until the pattern is. */
  async type(text: string, pattern: RegExp): Promise<string> {
    this.text = '';
    this.socket.write(text);
    return this.shows(pattern);
  }

  async shows(pattern: RegExp): Promise<string> {
    await until(async () => pattern.test(this.text));
    return this.text;
  }
}

test('the console holds 64 KiB of commands; Ctrl+C and the end of the last client drop them', async () => {
  let asked = 0;
  let answer = Promise.withResolvers<void>();
  const { console } = new SwitchConsole({
    name: 'SW',
    macTable: async () => {
      asked++;
      await answer.promise;
      return [];
    },
    clearMacTable: async () => {},
    listPorts: async () => [],
  });
  let shown = '';
  const attach = () =>
    console.attach({
      description: 'a test',
      send: (output) => {
        shown += output.toString('latin1');
      },
      queuedBytes: 0,
      close: () => {},
    });
  const client = attach();
  for (let kibibytes = 0; kibibytes < 1024; kibibytes += 16) client.input(Buffer.from('mac\n'.repeat(4096)));
  answer.resolve();
  const held = 1 + (64 * 1024) / 4;
  await until(async () => asked >= held && /SW> $/.test(shown));
  assert.ok(asked <= held + 1, `${asked} commands ran`);

  answer = Promise.withResolvers();
  asked = 0;
  client.input(Buffer.from('mac\n'.repeat(10)));
  await until(async () => asked === 1);
  client.input(Buffer.from('mac\x03mac\n'));
  shown = '';
  answer.resolve();
  await until(async () => /No addresses[\s\S]*SW> mac[\s\S]*No addresses[\s\S]*SW> $/.test(shown));
  assert.equal(asked, 2);

  answer = Promise.withResolvers();
  asked = 0;
  client.input(Buffer.from('mac\n'.repeat(10)));
  // The command before lets others have their turns before the next one begins.
  await until(async () => asked === 1);
  client.detach();
  const next = attach();
  answer.resolve();
  shown = '';
  await until(async () => /No addresses[\s\S]*SW> $/.test(shown));
  next.input(Buffer.from('mac 7\n'));
  await until(async () => /mac 7[\s\S]*SW> $/.test(shown));
  assert.equal(asked, 2);
});

test('the telnet console shows ports and addresses, edits its line, and comes and goes with console_type', async (t) => {
  const { lab, node } = await started(t, { console_type: 'telnet', ports_mapping: [access(0, 1), access(1, 1)] });
  const { console } = await lab.expect(200, 'GET', node);
  const [a, b] = [await lab.peer(t, node, 0), await lab.peer(t, node, 1)];
  await a.send(frame(BROADCAST, mac(1), ''));
  await b.peer.take(1);
  await a.send(frame(BROADCAST, mac(1), '', { vlan: 3 }));
  const terminal = new Terminal(t, console);
  await terminal.shows(/SW: Ethernet switch\..*\r\n\r\nSW> $/s);
  const port = /Ethernet0 +access +1 +yes +2 +0 +1\r\nEthernet1 +access +1 +yes +0 +1 +0\r\nSW> $/;
  await until(async () => port.test(await terminal.type('ports\r\n', /SW> $/)));
  assert.match(
    await terminal.type('mac\r', /SW> $/),
    /MAC +VLAN +Port +Age \(s\)\r\n02:00:00:00:00:01 +1 +Ethernet0 +\d+\r\n/,
  );
  assert.match(await terminal.type('mac 7\r', /SW> $/), /No addresses\./);
  // A typing error, corrected: back two, away with one, the right one in its place.
  await terminal.type('clear mxc\x1b[D\x7fa\r', /SW> $/);
  assert.deepEqual(await lab.expect(200, 'GET', `${node}/mac_table`), []);
  assert.match(await terminal.type('\x1b[A\r', /SW> $/), /clear mac/);
  assert.match(await terminal.type('clear m\t\r', /SW> $/), /clear mac \r\nSW> $/);
  assert.match(await terminal.type('?\n', /SW> $/), /ports .*\r\nclear mac .*\r\nhelp .*\r\nexit /s);
  assert.match(await terminal.type('shutdown\r', /SW> $/), /Unknown command: shutdown/);
  await lab.expect(200, 'PUT', node, { name: 'Core' });
  await terminal.type('\x03', /Core> $/);
  const socket = await lab.app.openSocket(`/v2/compute${node}/console/ws`);
  const seen: string[] = [];
  socket.listen({ message: (data) => seen.push(String(data)) });
  await until(async () => seen.join('').endsWith('Core> '));
  await lab.expect(204, 'POST', `${node}/console/reset`);
  await once(terminal.socket, 'close');
  const another = new Terminal(t, console);
  await another.shows(/Core> $/);
  another.socket.write('exit\r');
  await once(another.socket, 'close');
  await lab.expect(200, 'PUT', node, { console_type: 'none' });
  await assert.rejects(lab.app.openSocket(`/v2/compute${node}/console/ws`), /has no console/);
  const [refused] = await once(connect(console, '127.0.0.1'), 'error');
  assert.equal(refused.code, 'ECONNREFUSED');
  await lab.expect(200, 'PUT', node, { console_type: 'telnet' });
  await new Terminal(t, console).shows(/Core> $/);
});

test('a refused change leaves ports and console as they were', async (t) => {
  const { lab, node } = await started(t);
  const { console, ports_mapping } = await lab.expect(200, 'GET', node);
  await lab.peer(t, node, 0);
  const isOpen = async (): Promise<boolean> => {
    const socket = connect(console, '127.0.0.1');
    t.after(() => socket.destroy());
    return once(socket, 'connect').then(
      () => true,
      () => false,
    );
  };
  await lab.expect(409, 'PUT', node, { console_type: 'telnet', ports_mapping: [access(0, 1)] });
  assert.equal((await lab.expect(200, 'GET', node)).console_type, 'none');
  assert.equal(await isOpen(), false);

  const occupier = createServer().listen(console, '127.0.0.1');
  await once(occupier, 'listening');
  const other = ports_mapping.map((port: Body) => ({ ...port, vlan: 7 }));
  await lab.expect(409, 'PUT', node, { name: 'Other', console_type: 'telnet', ports_mapping: other });
  const after = await lab.expect(200, 'GET', node);
  assert.deepEqual([after.name, after.console_type, after.ports_mapping], ['SW', 'none', ports_mapping]);
  await once(occupier.close(), 'close');
  await lab.expect(200, 'PUT', node, { console_type: 'telnet', ports_mapping: other });
  assert.equal(await isOpen(), true);
});

test('a console port that is taken is replaced by a free one', async (t) => {
  const { lab, path, node } = await started(t);
  const { console } = await lab.expect(200, 'GET', node);
  const first = await lab.node(path, 'ethernet_switch', { name: 'Other', console });
  assert.notEqual((await lab.expect(200, 'GET', first)).console, console);
});
