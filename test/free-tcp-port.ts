// A port for a server of a test.
import { createServer } from 'node:net';
import { reserved } from './system/own-ports.ts';

/** Above the ports that the kernel gives to clients, and those of daemons of tests. */
const FIRST = 61_000;
const COUNT = 2_000;
/** Servers of NATS speak to each other at the port so far above. */
const BETWEEN_SERVERS = 2_000;

/** A TCP port that no other test has while this process runs; nor the one 2,000 above. */
export async function freeTcpPort(): Promise<number> {
  const number = await reserved('port', COUNT, async (each) => {
    const port = FIRST + each;
    return (await isFree(port)) && (await isFree(port + BETWEEN_SERVERS));
  });
  return FIRST + number.value;
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false)).listen(port, () => server.close(() => resolve(true)));
  });
