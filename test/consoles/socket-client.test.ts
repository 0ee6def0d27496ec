// A console over a message socket, as the WebSocket routes connect it.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Console } from '../../src/consoles/console.ts';
import { attachSocket, type ConsoleSocket } from '../../src/consoles/socket-client.ts';
import { sizeOf } from '../../src/consoles/socket-control.ts';

type Events = Parameters<ConsoleSocket['listen']>[0];

/** The server's end of a connection whose other end reads nothing until told. */
class SlowSocket implements ConsoleSocket {
  messages: Buffer[] = [];
  bufferedAmount = 0;
  closed: { code?: number | undefined; reason?: string | undefined } | undefined;
  events: Events | undefined;

  send(data: Uint8Array): void {
    this.messages.push(Buffer.from(data));
    this.bufferedAmount += data.length;
  }

  close(code?: number, reason?: string): void {
    this.closed = { code, reason };
    this.events?.close();
  }

  listen(events: Events): void {
    this.events = events;
  }

  get text(): string {
    return Buffer.concat(this.messages).toString();
  }
}

function attached(earlier = ''): { console: Console; socket: SlowSocket; input: string[] } {
  const input: string[] = [];
  const console = new Console({ name: 'PC1', write: (bytes) => input.push(bytes.toString()) > 0 });
  if (earlier) console.output(Buffer.from(earlier));
  const socket = new SlowSocket();
  attachSocket(console, socket, 'web 192.0.2.1');
  return { console, socket, input };
}

test('a web terminal gets clean bytes, earlier output first, in messages of at most 1,024 bytes', () => {
  const { console, socket } = attached(`${'earlier '.repeat(400)}\r\n`);
  console.output(Buffer.from([255, 0x50, 0x43]));
  assert.ok(socket.messages.length > 3);
  assert.ok(socket.messages.every(({ length }) => length > 0 && length <= 1024));
  assert.deepEqual(Buffer.concat(socket.messages).subarray(-5), Buffer.from([0x0d, 0x0a, 255, 0x50, 0x43]));
});

test('text and binary messages are keystrokes', () => {
  const { socket, input } = attached();
  socket.events!.message('show ip\n');
  socket.events!.message(Buffer.from('é\r'));
  socket.events!.message(new Uint8Array([0x03]));
  assert.deepEqual(input, ['show ip\n', 'é\r', '\x03']);
});

test('a client that names its window sends text as control messages, and keystrokes as bytes', () => {
  const said: unknown[] = [];
  const console = new Console({
    ...{ name: 'PC1', write: (bytes: Buffer) => said.push(bytes.toString()) > 0 },
    resize: (columns, rows) => void said.push([columns, rows]),
  });
  const socket = new SlowSocket();
  attachSocket(console, socket, 'web', sizeOf({ cols: '100', rows: '30' }));
  socket.events!.message(Buffer.from('show\r'));
  socket.events!.message('{"type":"resize","cols":120,"rows":40}');
  socket.events!.message('{"type":"break"}');
  assert.deepEqual(said, [[100, 30], 'show\r', [120, 40], '\x03'], 'without a line, Break is Ctrl+C');
  for (const text of ['show', '{}', 'null', '{"type":"resize","cols":0,"rows":2}', '{"type":"resize","cols":9}']) {
    const bad = new SlowSocket();
    attachSocket(console, bad, 'web', { cols: 80, rows: 24 });
    bad.events!.message(text);
    assert.equal(bad.closed?.code, 1007, text);
    assert.ok(Buffer.byteLength(bad.closed?.reason ?? '') <= 123);
  }
  assert.equal(said.filter((entry) => typeof entry === 'string').length, 2, 'none of that was typed');
  assert.equal(sizeOf({}), undefined);
  for (const query of [{ cols: '80' }, { rows: '24' }, { cols: '0', rows: '1' }, { cols: '80', rows: '1e9' }])
    assert.throws(() => sizeOf(query), /(cols|rows): give cols and rows/);
});

test('a socket that closes is no client any more', () => {
  const { console, socket, input } = attached();
  socket.events!.close();
  console.output(Buffer.from('late'));
  socket.events!.message('late');
  assert.deepEqual([console.clientCount, socket.text, input], [0, '', []]);
});

test('a socket with 256 KiB waiting gets the end of what it misses when it has read them; the others miss nothing', () => {
  const { console, socket } = attached();
  const other = new SlowSocket();
  attachSocket(console, other, 'web 192.0.2.2');
  for (let i = 0; i < 1000; i++) {
    console.output(Buffer.from(`${i}`.padEnd(1023).concat('\n')));
    other.bufferedAmount = 0;
  }
  assert.equal(other.text.length, 1000 * 1024);
  assert.equal(socket.text.length, 257 * 1024, 'what was waiting when it became too much, and nothing more');
  socket.bufferedAmount = 64 * 1024;
  console.output(Buffer.from('the end'));
  const [, lost] = /\r\n\[(\d+) bytes of output left out: they came too fast\]\r\n/.exec(socket.text) ?? [];
  const missed = 743 * 1024 + 'the end'.length;
  const since = socket.text.split('came too fast]\r\n')[1]!;
  assert.equal(Number(lost) + since.length, missed);
  assert.ok(since.length > 60 * 1024 && since.endsWith('the end') && /^9\d\d /.test(since));
  socket.bufferedAmount = 0;
  console.output(Buffer.from('and on'));
  assert.ok(socket.text.endsWith('the endand on'));
  assert.equal(socket.closed, undefined);
});

test('a socket that catches up gets the end also when no more output comes, and what it types is taken meanwhile', (t) => {
  const pass = mockTime(t);
  const { console, socket, input } = attached();
  for (let i = 0; i < 300; i++) console.output(Buffer.alloc(1024, 0x61));
  console.output(Buffer.from('prompt> '));
  socket.events!.message(Buffer.from([3]));
  assert.deepEqual(input, ['\x03']);
  pass(2000);
  socket.bufferedAmount = 1000;
  assert.doesNotMatch(socket.text, /prompt/);
  pass(2000);
  assert.match(socket.text, /^a+prompt> $/, 'nothing was lost: no word of it');
});

/** The clocks of the console run on this test's word. */
function mockTime(t: TestContext): (milliseconds: number) => void {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  t.mock.timers.enable({ apis: ['setInterval'] });
  return (milliseconds) => {
    for (let passed = 0; passed < milliseconds; passed += 500) {
      now += 500;
      t.mock.timers.tick(500);
    }
  };
}

test('a socket that delivers nothing for ten seconds is closed, one that is merely slow is not', (t) => {
  const pass = mockTime(t);
  const { console, socket } = attached();
  const slow = new SlowSocket();
  attachSocket(console, slow, 'web 192.0.2.2');
  console.output(Buffer.alloc(10_000, 0x61));
  for (let second = 0; second < 9; second++) {
    pass(1000);
    slow.bufferedAmount -= 100;
  }
  assert.deepEqual([socket.closed, slow.closed], [undefined, undefined]);
  for (let second = 0; second < 20; second++) {
    pass(1000);
    slow.bufferedAmount -= 100;
  }
  assert.match(socket.closed?.reason ?? '', /too slow: nothing was read for 10 s/);
  assert.equal(slow.closed, undefined);
});

test('a socket that was idle for long has its ten seconds when output comes', (t) => {
  const pass = mockTime(t);
  const { console, socket } = attached();
  pass(60_000);
  console.output(Buffer.from('x'));
  pass(9000);
  assert.equal(socket.closed, undefined);
  pass(3000);
  assert.ok(socket.closed);
});

test('the clients of a console that ends get a message', () => {
  const { console, socket } = attached();
  console.closeClients('PC1 has stopped');
  assert.equal(socket.closed?.reason, 'PC1 has stopped');
  assert.equal(console.clientCount, 0);
});
