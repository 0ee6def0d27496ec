// Run in a network namespace: sends numbered UDP datagrams at a rate, or receives them and prints what has come.
// numbered-flow.ts receive
// numbered-flow.ts send <address> <port> <datagrams a second>, until its standard input ends

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

const [, , mode, address = '', port = '', rate = ''] = process.argv;

/** Datagrams that this namespace's sockets had no room for. */
function overflow(): number {
  const [names = '', values = ''] = readFileSync('/proc/net/snmp', 'utf8').match(/^Udp: .*/gm) ?? [];
  return Number(values.split(' ')[names.split(' ').indexOf('RcvbufErrors')]);
}

if (mode === 'receive') {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
  const seen = new Set<number>();
  const result = { received: 0, doubled: 0, reordered: 0, overflow: 0 };
  let last = -1;
  socket.on('message', (message) => {
    const number = message.readUInt32LE(0);
    result.received++;
    if (seen.has(number)) result.doubled++;
    seen.add(number);
    if (number < last) result.reordered++;
    else last = number;
  });
  socket.bind(0);
  await once(socket, 'listening');
  process.stdout.write(`${socket.address().port}\n`);
  process.stdin.resume();
  /** What lies in the socket is read first: 32 datagrams at most in each turn. */
  const finish = (before: number): void => {
    if (result.received !== before) setImmediate(finish, result.received);
    else process.stdout.write(`${JSON.stringify({ ...result, overflow: overflow() })}\n`, () => process.exit());
  };
  // The test has seen all frames arrive.
  process.stdin.on('end', () => setImmediate(finish, -1));
} else {
  const socket = createSocket('udp4');
  socket.connect(Number(port), address);
  await once(socket, 'connect');
  const start = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    // After a pause not all at once: that would fill queues.
    const due = Math.min(((performance.now() - start) * Number(rate)) / 1000, sent + 50);
    for (; sent < due; sent++) {
      const message = Buffer.alloc(64);
      message.writeUInt32LE(sent, 0);
      socket.send(message);
    }
  }, 1);
  process.stdin.resume();
  process.stdin.on('end', () => {
    clearInterval(timer);
    // Closes after everything is sent.
    socket.close(() => {
      process.stdout.write(`${sent}\n`);
    });
  });
}
