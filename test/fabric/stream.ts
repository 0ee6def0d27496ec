// A program that is run in a network namespace: receives or sends a stream of bytes by TCP, and prints their SHA-256.
//   receive: prints the port, and, when the sender is done, the sum
//   send <address> <port> <bytes>: prints the sum of bytes that nobody can guess

import { createHash, randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer } from 'node:net';

const CHUNK = 1 << 20;

function receive(): void {
  const server = createServer((socket) => {
    const hash = createHash('sha256');
    socket.on('data', (data) => hash.update(data));
    socket.on('end', () => {
      process.stdout.write(`${hash.digest('hex')}\n`);
      socket.end();
      server.close();
    });
  });
  server.listen(0, '::', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
}

async function send([address, port, bytes]: string[]): Promise<void> {
  const hash = createHash('sha256');
  const socket = connect({ host: address!, port: Number(port) });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  for (let left = Number(bytes); left > 0; left -= CHUNK) {
    const chunk = randomBytes(Math.min(CHUNK, left));
    hash.update(chunk);
    await new Promise((resolve) => socket.write(chunk, resolve));
  }
  socket.end();
  socket.resume();
  await closed;
  process.stdout.write(`${hash.digest('hex')}\n`);
}

const [verb, ...rest] = process.argv.slice(2);
if (verb === 'receive') receive();
else await send(rest);
