// Labs that outlive the daemon, as a test sees them.
import { PcConsole } from '../pc-console.ts';
import { eventually } from './daemon.ts';
import type { Lab, NodeObject } from './lab.ts';
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
