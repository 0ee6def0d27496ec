// Runs in a network of its own, which it takes away: three clients, of which one is sent to, one is silent and one does not read,
// vanish without a word. Prints how many connections the server still has, once all have gone.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Connections } from '../../src/http/app/connections.ts';

execFileSync('ip', ['link', 'set', 'lo', 'up']);
const connections = new Connections({
  ...{ keepAliveIdle: 1_000, keepAliveInterval: 1_000, keepAliveProbes: 2, unacknowledged: 2_000, look: 200 },
});
const sent: NodeJS.Timeout[] = [];
const server = createServer((socket: Socket) => {
  connections.accept(socket);
  socket.on('data', (data) => {
    if (String(data) === 'send') sent.push(setInterval(() => socket.write('x'.repeat(100_000)), 50));
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
const clients = (['send', 'listen', 'send but do not read'] as const).map((wish) => {
  const client = connect(port, '127.0.0.1', () => client.write(wish.slice(0, 4)));
  if (!wish.endsWith('read')) client.resume();
  return client.on('error', () => {});
});
// Who is there but reads nothing stays: longer than any of the limits.
await new Promise((resolve) => setTimeout(resolve, 3_500));
const before = connections.size;
execFileSync('ip', ['link', 'set', 'lo', 'down']);
const limit = performance.now() + 60_000;
while (connections.size > 0 && performance.now() < limit) await new Promise((resolve) => setTimeout(resolve, 50));
process.stdout.write(`${before} before, ${connections.size} after, ${clients.length} clients\n`);
process.exit();
