// Gives the selected PCs addresses of one network, in the files that they run at their start.
import type { LabContext } from '../lab-context.ts';
import { addressesSetBy, startupFileOf } from '../model/lab/abilities.ts';
import { api } from '../model/server/api.ts';
import type { NodeObject } from '../model/server/types.ts';
import { diskUse, pathOfFile } from '../panels/inspector/node/node-files.ts';

const NETWORK = '10.0.0.';
const LARGEST = 254;
const MOST_BYTES = 65_536;

/** Whether a node takes an address at its next start. */
export const takesAddress = (node: NodeObject): boolean =>
  startupFileOf(node) !== undefined && node.status === 'stopped';

/** Those that have an address keep it. @throws Refusal */
export async function giveAddresses(context: LabContext): Promise<void> {
  const scripts = new Map<NodeObject, string>();
  const pcs = [...context.lab.nodes.values()].filter((node) => startupFileOf(node) !== undefined);
  await Promise.all(pcs.map(async (node) => scripts.set(node, await readScript(node))));
  const taken = new Set([...scripts.values()].flatMap(addressesSetBy).map((address) => address.split('/')[0]));
  let number = 0;
  for (const node of context.selectedNodes().filter(takesAddress)) {
    const script = scripts.get(node) ?? '';
    if (addressesSetBy(script).length > 0) continue;
    do number += 1;
    while (taken.has(`${NETWORK}${number}`));
    if (number > LARGEST) return;
    const lines = script === '' ? `set pcname ${node.name}\n` : `${script.trimEnd()}\n`;
    await api.upload(pathOfFile(node, startupFileOf(node)!), new Blob([`${lines}ip ${NETWORK}${number}/24\n`]));
  }
}

/** Empty for a node that has never started and got no file. */
async function readScript(node: NodeObject): Promise<string> {
  const name = startupFileOf(node)!;
  const { files } = await diskUse(node);
  if (!files.some(({ path }) => path === name)) return '';
  return (await api.text(pathOfFile(node, name), MOST_BYTES)) ?? '';
}
