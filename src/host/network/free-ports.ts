// Free TCP ports of loopback for programs that need a port number and cannot choose a free port themselves.
import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';

/** Ports in use by programs: two that start at the same time must not get the same one. */
const given = new Set<number>();

/** A port that is free now. Disposing of `resources` returns it. */
export async function takeFreePort(resources: AsyncDisposableStack): Promise<number> {
  for (;;) {
    const port = await unusedPort();
    if (given.has(port)) continue;
    keepPort(port, resources);
    return port;
  }
}

/** The same for the port of a program that is reattached. */
export function keepPort(port: number, resources: AsyncDisposableStack): void {
  given.add(port);
  resources.defer(() => void given.delete(port));
}

function unusedPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen({ host: LOOPBACK, port: 0, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
