// The network adapters of a VirtualBox machine: types, limits, and the VBoxManage arguments that connect them to the
// fabric.
import type { CustomAdapter } from '../../../api/vocabulary.ts';
import { refusal } from './manage.ts';

/** Types by the clients' names, with VBoxManage's names. */
const TYPES: Readonly<Record<string, string>> = {
  'PCnet-PCI II (Am79C970A)': 'Am79C970A',
  'PCNet-FAST III (Am79C973)': 'Am79C973',
  'Intel PRO/1000 MT Desktop (82540EM)': '82540EM',
  'Intel PRO/1000 T Server (82543GC)': '82543GC',
  'Intel PRO/1000 MT Server (82545EM)': '82545EM',
  'Paravirtualized Network (virtio-net)': 'virtio',
};
const USUAL_TYPE = '82540EM';
/** Limit if the chipset's is unknown. */
const USUAL_MOST = 8;

/** Attachments made by the user of VirtualBox: left unchanged unless the node may use any adapter. */
const TAKEN: readonly (string | undefined)[] = ['nat', 'bridged', 'intnet', 'hostonly', 'natnetwork'];

export interface AdapterPlan {
  /** From 0. */
  number: number;
  type: string;
  /** UDP ports of the machine and of the cable's end. */
  ports: { program: number; cable: number };
  connected: boolean;
}

export const attachmentOf = (info: ReadonlyMap<string, string>, number: number) => info.get(`nic${number + 1}`);

export const isTaken = (attachment: string | undefined): boolean => TAKEN.includes(attachment);

/** Maximum number of adapters for a machine's chipset. */
export function mostAdapters(properties: ReadonlyMap<string, string>, info: ReadonlyMap<string, string>): number {
  const chipset = (info.get('chipset') ?? 'piix3').toUpperCase();
  return Number(properties.get(`Maximum ${chipset} Network Adapter count`)) || USUAL_MOST;
}

/** @throws Failure `conflict` (`VirtualBoxError`) */
export function mustHave(adapters: number, most: number): void {
  if (adapters > most) throw refusal(`adapters: this machine can have ${most}, not ${adapters}.`);
}

export function typeOf(general: string, custom: CustomAdapter | undefined): string {
  return TYPES[custom?.adapter_type ?? general] ?? USUAL_TYPE;
}

/** Arguments of `modifyvm` for a machine that is off. */
export function adapterWords({ number, type, ports, connected }: AdapterPlan): string[] {
  const k = number + 1;
  return [
    ...[`--nictrace${k}`, 'off', `--nictype${k}`, type],
    ...[`--nic${k}`, 'generic', `--nicgenericdrv${k}`, 'UDPTunnel'],
    ...[`--nicproperty${k}`, `sport=${ports.program}`, `--nicproperty${k}`, 'dest=127.0.0.1'],
    ...[`--nicproperty${k}`, `dport=${ports.cable}`, `--cableconnected${k}`, connected ? 'on' : 'off'],
  ];
}

/** The same for `controlvm` of a running machine, call by call. Its type stays. */
export function liveAdapterWords({ number, ports, connected }: AdapterPlan): string[][] {
  const k = number + 1;
  return [
    [`nic${k}`, 'generic', 'UDPTunnel'],
    ...[`sport=${ports.program}`, 'dest=127.0.0.1', `dport=${ports.cable}`].map((member) => [
      `nicproperty${k}`,
      member,
    ]),
    [`setlinkstate${k}`, connected ? 'on' : 'off'],
  ];
}
