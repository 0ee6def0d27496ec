// A console on a TCP port, with real connections.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Console } from '../../src/consoles/console.ts';
import { TelnetServer } from '../../src/consoles/telnet-server.ts';
import { configureLog } from '../../src/host/log.ts';
import { eventually } from '../eventually.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { Client } from './harness.ts';

const lines: string[] = [];
configureLog({ write: (line) => lines.push(line) });

/** The kernel keeps less for a connection whose other end does not read. */
const MOST_BUFFERED_BYTES = 16 * 1024 * 1024;

interface Fixture {
  console: Console;
  server: TelnetServer;
  port: number;
  input: string[];
  sizes: string[];
}

async function serve(t: TestContext, name = 'PC1'): Promise<Fixture> {
  const input: string[] = [];
  const sizes: string[] = [];
  const console = new Console({
    name,
    write: (bytes) => input.push(bytes.toString('latin1')) > 0,
    resize: (columns, rows) => sizes.push(`${columns}x${rows}`),
  });
  const port = await freeTcpPort();
  const server = new TelnetServer({ console, host: '127.0.0.1', port });
  await server.start();
  t.after(() => server.stop());
  return { console, server, port, input, sizes };
}

test('all clients see the same output and the input of all is merged', async (t) => {
  const { console, port, input } = await serve(t);
  const [a, b] = [await Client.open(t, port), await Client.open(t, port)];
  await eventually('two clients', () => console.clientCount === 2);
  console.output(Buffer.from('PC1> '));
  await Promise.all([a.sees(/PC1> $/), b.sees(/PC1> $/)]);
  a.send('from a\n');
  await eventually('input of a', () => input.join('') === 'from a\n');
  b.send('from b\n');
  await eventually('input of b', () => input.join('') === 'from a\nfrom b\n');
});

test('who comes later sees what was said before, after the telnet greeting', async (t) => {
  const { console, port } = await serve(t);
  for (let i = 0; i < 10_000; i++) console.output(Buffer.from(`line ${i}\r\n`));
  const client = await Client.open(t, port);
  const text = await client.sees(/line 9999\r\n$/);
  assert.match(text, /^(\xff[\xfb\xfd].){5}line \d+\r\n/s);
  assert.ok(text.length > 60 * 1024 && text.length <= 64 * 1024 + 15);
});

test('bytes of value 255 arrive doubled, keystrokes arrive without telnet, window sizes reach the program', async (t) => {
  const { console, port, input, sizes } = await serve(t);
  const client = await Client.open(t, port);
  await eventually('the greeting', () => client.text.endsWith('\xff\xfd\x1f'));
  client.send(Buffer.from([255, 251, 31, 255, 250, 31, 0, 132, 0, 43, 255, 240, 0x61, 255, 255, 0x0d, 0x0a, 255, 246]));
  await client.sees(/\r\n\[PC1 is here\]\r\n$/);
  assert.deepEqual([input.join(''), sizes], ['a\xff\r', ['132x43']]);
  console.output(Buffer.from([0x62, 255, 0x63]));
  await client.sees(/b\xff\xffc$/);
});

/** The console's clock runs ahead by ten seconds and a half from now on. */
function tenSecondsLater(t: TestContext): void {
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + 10_500);
}

test('a client that stops reading delays no other, and is disconnected with the reason after ten seconds', async (t) => {
  const { console, port } = await serve(t);
  const [alive, stalled] = [await Client.open(t, port), await Client.open(t, port)];
  await eventually('two clients', () => console.clientCount === 2);
  stalled.socket.pause();
  const block = Buffer.from(`${'x'.repeat(1021)}\r\n`);
  let sent = 0;
  const talk = (): void => {
    // The living one reads on, so it is never asked to take more than a client should.
    if (alive.text.length + 64 * 1024 > sent) for (let i = 0; i < 32; i++, sent += block.length) console.output(block);
  };
  // More than the buffers of a connection take.
  const begun = performance.now();
  for (; sent <= MOST_BUFFERED_BYTES; await sleep(5)) talk();
  // A busy machine may need as long as that for the talk.
  if (performance.now() - begun < 9_000) assert.equal(console.clientCount, 2);
  tenSecondsLater(t);
  await eventually('the stalled client to be dropped', () => console.clientCount === 1);
  console.output(Buffer.from('still here'));
  await alive.sees(/still here$/);
  assert.equal(alive.text.length, 15 + sent + 'still here'.length);
  stalled.socket.resume();
  await stalled.ends();
  assert.match(stalled.text, /\[disconnected: too slow: nothing was read for 10 s\]\r\n$/);
  assert.match(lines.join(''), /console client disconnected console=PC1 client="telnet 127\.0\.0\.1:\d+"/);
});

test('a client that reads again after a while sees what was left out, and the end', async (t) => {
  const { console, port } = await serve(t);
  const slow = await Client.open(t, port);
  await eventually('the client', () => console.clientCount === 1);
  slow.socket.pause();
  for (let sent = 0; sent < MOST_BUFFERED_BYTES; sent += 64 * 1024) console.output(Buffer.alloc(64 * 1024, 0x61));
  console.output(Buffer.from('prompt> '));
  slow.socket.resume();
  await slow.sees(/a\r\n\[\d+ bytes of output left out: they came too fast\]\r\na+prompt> $/);
});

test('what waits for a dropped client is thrown away within seconds, whatever it sends', async (t) => {
  const { console, port } = await serve(t);
  const stalled = await Client.open(t, port);
  await eventually('the client', () => console.clientCount === 1);
  stalled.socket.pause();
  for (let sent = 0; sent < MOST_BUFFERED_BYTES; sent += 64 * 1024) console.output(Buffer.alloc(64 * 1024, 0x61));
  const typing = setInterval(() => stalled.socket.write('x'), 500);
  t.after(() => clearInterval(typing));
  // The first look sees what has left until now.
  await sleep(1500);
  tenSecondsLater(t);
  await eventually('the client to be dropped', () => console.clientCount === 0);
  // Of the two ends of its connection, which are both in this process, the client's own is left.
  const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  await eventually('the end of the connection', sockets, (count) => count === 1);
  stalled.socket.resume();
  await stalled.ends();
  assert.doesNotMatch(stalled.text, /disconnected/);
});

test('stop closes all clients at once, also those that do not read, and frees the port', async (t) => {
  const { console, server, port } = await serve(t);
  const [reader, stalled] = [await Client.open(t, port), await Client.open(t, port)];
  await eventually('two clients', () => console.clientCount === 2);
  stalled.socket.pause();
  for (let i = 0; i < 200 && console.clientCount === 2; i++) console.output(Buffer.alloc(1024, 0x61));
  console.output(Buffer.from('last words'));
  await server.stop();
  await reader.ends();
  assert.match(reader.text, /last words$/);
  assert.equal(console.clientCount, 0);
  const again = createServer().listen(port, '127.0.0.1');
  await once(again, 'listening');
  again.close();
  await server.stop();
});

test('after a restart clients find the console as it was', async (t) => {
  const { console, server, port } = await serve(t);
  console.output(Buffer.from('before'));
  await server.stop();
  await server.start();
  const client = await Client.open(t, port);
  await client.sees(/before$/);
});

test('a client that goes leaves nothing behind', async (t) => {
  const { console, server, port } = await serve(t);
  const [polite, rude] = [await Client.open(t, port), await Client.open(t, port)];
  await eventually('two clients', () => console.clientCount === 2);
  polite.socket.end();
  rude.socket.resetAndDestroy();
  await eventually('both to be forgotten', () => console.clientCount === 0);
  console.output(Buffer.from('nobody listens'));
  await server.stop();
});

test('a port that another program has is a conflict that names port and fix', async (t) => {
  const { port, console } = await serve(t);
  const second = new TelnetServer({ console, host: '127.0.0.1', port });
  const message = new RegExp(`console port ${port} on 127.0.0.1 for 'PC1'.*another console port`);
  await assert.rejects(second.start(), { name: 'Failure', code: 'conflict', message });
  await second.stop();
  const elsewhere = new TelnetServer({ console, host: '192.0.2.1', port });
  await assert.rejects(elsewhere.start(), { code: 'conflict', message: /correct the host setting/ });
});

test('questions are not answered without end to a client that does not read', async (t) => {
  const { console, port, input } = await serve(t);
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  socket.pause();
  // Each asks for an option that is refused, by as many bytes.
  const whole = 3 * 2 ** 21;
  socket.write(Buffer.alloc(whole, Buffer.from([255, 253, 99])));
  socket.write('end\n');
  await eventually('the questions to be taken', () => input.join('') === 'end\n');
  console.output(Buffer.from('.'));
  let answer = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    answer += chunk.length;
    if (chunk.at(-1) === '.'.charCodeAt(0)) break;
  }
  t.diagnostic(`${answer} of ${whole} bytes of answers`);
  assert.ok(answer < 0.9 * whole, `${answer} of ${whole} bytes of answers`);
});
