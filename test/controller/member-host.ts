// A host of a cluster that answers what a test says, as its controller has it.
import type { TestContext } from 'node:test';
import { Compute } from '../../src/controller/computes/compute.ts';
import { RemoteTransport } from '../../src/controller/computes/remote.ts';
import { StandIn } from './computes-stand-in.ts';

const listener = { changed: () => {}, announced: () => {}, joined: async () => {}, lost: () => {} };

/** @param made gets the host itself, which can vanish */
export async function memberHost(
  t: TestContext,
  name: string,
  answers: StandIn['answers'],
  made: (host: StandIn) => void = () => {},
): Promise<Compute> {
  const host = await StandIn.start(t, answers);
  made(host);
  const { port } = host;
  const description = { compute_id: name, name, protocol: 'http', host: '127.0.0.1', port, user: null } as const;
  const transport = new RemoteTransport(description, undefined);
  const compute = new Compute(description, { transport, listener, version: '2.2.57', consoleHost: name });
  t.after(() => compute.stop());
  compute.place = { name, address: '127.0.0.1', outsideAddress: '127.0.0.1' };
  await compute.connect();
  return compute;
}
