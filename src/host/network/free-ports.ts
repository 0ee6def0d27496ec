// TCP ports of loopback for programs that are told which port to listen on, and cannot be told to take any.
import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';

/** Ports that were given away and are not back: two programs that start at the same time must not get one. */
const given = new Set<number>();

/** A port that nobody listens on right now; `resources` allow it to be given away again. */
export async function takeFreePort(resources: AsyncDisposableStack): Promise<number> {
  for (;;) {
    const port = await unusedPort();
    if (given.has(port)) continue;
    keepPort(port, resources);
    return port;
  }
}

/** The same for a port that a program of a former life has. */
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
