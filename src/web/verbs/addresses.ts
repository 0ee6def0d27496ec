// Gives the selected PCs addresses of one network, in the files that they run at their start.
import type { LabContext } from '../lab-context.ts';
import { addressesSetBy, startupFileOf } from '../model/lab/abilities.ts';
import { api } from '../model/server/api.ts';
import type { NodeObject } from '../model/server/types.ts';
import { diskUse, pathOfFile } from '../panels/inspector/node/node-files.ts';
import { WORDS } from '../words.ts';

const NETWORK = '10.0.0.';
const LARGEST = 254;
const MOST_BYTES = 65_536;

/** Whether a node takes an address at its next start. */
export const takesAddress = (node: NodeObject): boolean =>
  startupFileOf(node) !== undefined && node.status === 'stopped';

/** Those that have an address keep it. @throws Refusal; Error at the end if scripts cannot be read, which are left unchanged */
export async function giveAddresses(context: LabContext): Promise<void> {
  const scripts = new Map<NodeObject, string | undefined>();
  const pcs = [...context.lab.nodes.values()].filter((node) => startupFileOf(node) !== undefined);
  await Promise.all(pcs.map(async (node) => scripts.set(node, await readScript(node))));
  const read = [...scripts.values()].filter((script) => script !== undefined);
  const taken = new Set(read.flatMap(addressesSetBy).map((address) => address.split('/')[0]));
  const unreadable: string[] = [];
  let number = 0;
  for (const node of context.selectedNodes().filter(takesAddress)) {
    const script = scripts.get(node);
    if (script === undefined) unreadable.push(node.name);
    if (script === undefined || addressesSetBy(script).length > 0) continue;
    do number += 1;
    while (taken.has(`${NETWORK}${number}`));
    if (number > LARGEST) break;
    const lines = script === '' ? `set pcname ${node.name}\n` : `${script.trimEnd()}\n`;
    await api.upload(pathOfFile(node, startupFileOf(node)!), new Blob([`${lines}ip ${NETWORK}${number}/24\n`]));
  }
  if (unreadable.length > 0) throw new Error(WORDS.nodes.unreadableScripts(unreadable.join(', ')));
}

/** Empty for a node that has never started and got no file; undefined if the file is not text or too long. */
async function readScript(node: NodeObject): Promise<string | undefined> {
  const name = startupFileOf(node)!;
  const { files } = await diskUse(node);
  if (!files.some(({ path }) => path === name)) return '';
  return await api.text(pathOfFile(node, name), MOST_BYTES);
}
