// Labs that outlive the daemon, as a test sees them.
import assert from 'node:assert/strict';
import { PcConsole } from '../pc-console.ts';
import { eventually } from './daemon.ts';
import type { Lab, NodeObject } from './lab.ts';
import { isAnswered } from './pc-typing.ts';
import { processesIn } from './processes.ts';

/** The program of a PC that runs. */
export const pidOf = (pc: NodeObject): number | undefined => processesIn(pc.node_directory)[0];
export const pidsOf = (pcs: readonly NodeObject[]) => pcs.map(pidOf);

/** Waits until the lab that was open before the daemon ended is open again. */
export async function openAgain(lab: Lab): Promise<void> {
  await eventually('the lab to be open', async () => (await lab.daemon.get(lab.path)).status === 'opened');
  await lab.nodes(); // answered when the opening is over
}

export async function ping(from: NodeObject, address: string): Promise<string> {
  using console = await PcConsole.open('127.0.0.1', from.console);
  return (await console.command(`ping ${address} -c 1`)).join('\n');
}

/** Pings as `reaches` does, by the console's own port; fails with what each link has carried and what the daemon wrote. */
export async function pingIsAnswered(lab: Lab, from: NodeObject, address: string): Promise<void> {
  try {
    const answer = () => ping(from, address);
    await eventually(`an answer of ${address}`, answer, (said) => isAnswered(said, address));
  } catch (error) {
    const links = await lab.links();
    const carried = await Promise.all(
      links.map(({ link_id }) => lab.daemon.get(`${lab.path}/links/${link_id}/statistics`)),
    );
    assert.fail(`${error}\n${JSON.stringify(carried)}\n${lab.daemon.log}`);
  }
}
