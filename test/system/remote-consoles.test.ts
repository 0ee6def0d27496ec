// Consoles of nodes on another host for a client that names its window: size and Break reach a Labwire there, and of a compute of the
// release it is told that it cannot.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { StandIn } from '../controller/computes-stand-in.ts';
import { type Daemon, eventually, ownDaemon, startDaemon } from './daemon.ts';
import { Lab, missing } from './lab.ts';

/** A client of a console that takes its window along. */
class Window {
  readonly socket: WebSocket;
  output = '';
  readonly told: string[] = [];

  constructor(t: TestContext, daemon: Daemon, path: string, size = 'cols=100&rows=30') {
    this.socket = new WebSocket(`${daemon.url.replace('http', 'ws')}${path}/console/ws?${size}`);
    t.after(() => this.socket.terminate());
    this.socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.output += data.toString();
      else this.told.push(data.toString());
    });
  }

  type(text: string): void {
    this.socket.send(Buffer.from(text));
  }

  say(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  async sees(pattern: RegExp): Promise<void> {
    await eventually(`${pattern}, after ${this.output.slice(-200)}`, () => pattern.test(this.output));
  }
}

test('the size of a terminal and a Break reach a node of another daemon', { skip: missing('vpcs') }, async (t) => {
  const config = '[Server]\nudp_start_port_range = 24000\n';
  const other = ownDaemon(t, { config });
  const [controller] = await Promise.all([startDaemon(t), other.start()]);
  const { hostname: host, port } = new URL(other.url);
  await controller.post('/v2/computes', {
    compute_id: 'other',
    name: 'Other',
    protocol: 'http',
    host,
    port: Number(port),
  });
  const lab = await Lab.create(controller, 'Consoles');
  const pc = await lab.pc('There', { compute_id: 'other', properties: { startup_script: 'ip 10.0.0.1/24\n' } });
  await lab.start(pc);
  const window = new Window(t, controller, `${lab.path}/nodes/${pc.node_id}`);
  await window.sees(/> $/);
  window.type('! stty size\r');
  await window.sees(/30 100/);
  window.say({ type: 'resize', cols: 120, rows: 40 });
  window.type('! stty size\r');
  await window.sees(/40 120/);
  // Nobody answers: without a Break this goes on for a long time.
  window.output = '';
  window.type('ping 10.0.0.99 -c 1000\r');
  await window.sees(/host \(10\.0\.0\.99\) not reachable|timeout/);
  window.say({ type: 'break' });
  window.output = '';
  await eventually('the prompt', () => {
    window.type('\r');
    return /There> \r?\n?There> $|> $/.test(window.output);
  });
  assert.deepEqual(window.told, []);
  assert.doesNotMatch(window.output, /"type"/, 'a control message is no input');
});

test('a compute of the release gets no control message, and a client that sends a Break learns why', async (t) => {
  const it = await StandIn.start(t, {
    'POST /projects': {},
    'POST /projects/[^/]+/vpcs/nodes': { status: 'stopped', console: 5000, console_type: 'telnet' },
    'POST /projects/.*': {},
    'DELETE /projects.*': {},
  });
  const heard: string[] = [];
  it.opened = (socket) => {
    socket.on('message', (data: Buffer) => heard.push(data.toString()));
    // The release sends what its console says as text or as bytes.
    if (it.calls.at(-1)?.endsWith('/console/ws')) socket.send('PC1> ');
  };
  const controller = await startDaemon(t);
  await controller.post('/v2/computes', it.body());
  const lab = await Lab.create(controller, 'Consoles');
  const pc = await lab.pc('There', { compute_id: 'it' });
  const window = new Window(t, controller, `${lab.path}/nodes/${pc.node_id}`);
  await window.sees(/PC1> /);
  window.say({ type: 'resize', cols: 120, rows: 40 });
  window.say({ type: 'break' });
  await eventually('an answer', () => window.told.length > 0);
  window.type('show\r');
  await eventually('what was typed', () => heard.length > 0);
  assert.deepEqual(heard, ['show\r']);
  assert.deepEqual(JSON.parse(window.told[0]!), {
    type: 'refused',
    message: 'The compute It cannot send a Break, nor set the size of a terminal: that takes a Labwire there.',
  });
  assert.equal(window.told.length, 1);
});
