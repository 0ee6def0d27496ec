// The texts of a setting: those of its kind, or the common ones. Loaded only for the API document.
import { cloudWords } from './cloud-words.ts';
import { commonWords } from './common-words.ts';
import { dockerWords } from './docker-words.ts';
import { dynamipsWords } from './dynamips-words.ts';
import { iouWords } from './iou-words.ts';
import { qemuWords } from './qemu-words.ts';
import { tracengWords } from './traceng-words.ts';
import { virtualboxWords, virtualMachineWords } from './virtual-machines-words.ts';
import { vpcsWords } from './vpcs-words.ts';
import type { GroupedWords, SettingWords } from './words.ts';

/** The groups of a form, in order. */
const GROUPS = ['', 'Host', 'Machine', 'Disks and start', 'Cards', 'Network', 'Console', 'More'];

const OF_KIND: Readonly<Record<string, GroupedWords>> = {
  cloud: cloudWords,
  docker: dockerWords,
  dynamips: dynamipsWords,
  iou: iouWords,
  qemu: qemuWords,
  traceng: tracengWords,
  virtualbox: virtualboxWords,
  vmware: virtualMachineWords,
  vpcs: vpcsWords,
};

/** The most settings of one source in a group. */
const MOST = 100;

/** A setting's texts, and its place in a form. */
export interface PlacedWords extends SettingWords {
  group: string;
  /** Settings with a lower number come first. */
  order: number;
}

function placed(words: GroupedWords, name: string, isOwn: boolean): PlacedWords | undefined {
  for (const [rank, group] of GROUPS.entries()) {
    const found = words[group]?.[name];
    if (found === undefined) continue;
    // What a machine is comes before what all machines have; elsewhere the common settings come first.
    const isLater = isOwn !== (group === 'Machine');
    const order = (2 * rank + Number(isLater)) * MOST + Object.keys(words[group] ?? {}).indexOf(name);
    return { ...found, group, order };
  }
  return undefined;
}

/** The texts for a setting of a kind of node. */
export function settingWords(kind: string | undefined, name: string): PlacedWords | undefined {
  const own = kind === undefined ? undefined : OF_KIND[kind];
  return (own && placed(own, name, true)) ?? placed(commonWords, name, false);
}
