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

export async function ownPorts(): Promise<OwnPorts> {
  const number = await reserved('ports', COUNT);
  const first = FIRST + number.value * EACH;
  return { first, last: first + EACH - 1, [Symbol.dispose]: () => number[Symbol.dispose]() };
}

/**
 * A number below `count`. Others of this machine, processes too, get the next ones until it is disposed of, or the process is gone.
 * @param what there is one such number of each kind
 */
export async function reserved(
  what: string,
  count: number,
  isUsable: (value: number) => Promise<boolean> = async () => true,
): Promise<Disposable & { value: number }> {
  for (let value = process.pid % count, tried = 0; tried < count; value = (value + 1) % count, tried++) {
    // A name without a file, which nobody else can have, and which goes with the process.
    const mark = await marked(`\0labwire-test-${what}-${value}`);
    if (!mark) continue;
    if (await isUsable(value)) return { value, [Symbol.dispose]: () => mark.close() };
    mark.close();
  }
  throw new Error(`tests have all ${count} ${what}: end some`);
}

function marked(name: string): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined)).listen(name, () => resolve(server.unref()));
  });
}
