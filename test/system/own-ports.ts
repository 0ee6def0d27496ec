// A hundred console and UDP ports for each daemon of a test: another daemon would hand out the same ones.
import { createServer, type Server } from 'node:net';

const FIRST = 10_000;
const EACH = 100;
/** Below the ports that the kernel gives to clients, and apart from the defaults, which a daemon in use here may have. */
const COUNT = 100;

export interface OwnPorts extends Disposable {
  readonly first: number;
  readonly last: number;
}

/** Others of this machine, processes too, get the next ones until these are disposed of, or the process is gone. */
export async function ownPorts(): Promise<OwnPorts> {
  for (let number = process.pid % COUNT, tried = 0; tried < COUNT; number = (number + 1) % COUNT, tried++) {
    const first = FIRST + number * EACH;
    // A name without a file, which nobody else can have, and which goes with the process.
    const mark = await marked(`\0labwire-test-ports-${first}`);
    if (mark) return { first, last: first + EACH - 1, [Symbol.dispose]: () => mark.close() };
  }
  throw new Error(`${COUNT} daemons of tests have all ports from ${FIRST} on: end some`);
}

function marked(name: string): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined)).listen(name, () => resolve(server.unref()));
  });
}
