// Edits the adapters and the serial port in a machine's file, before its start and after its stop.
import type { CustomAdapter } from '../../../api/vocabulary.ts';
import type { Pairs } from './files.ts';

/** More than any machine has. */
const ADAPTERS = 10;
/** The network of an adapter while no node uses it: VMware's host-only network. */
const IDLE = 'vmnet1';
/** Attachments made by the user of VMware: left unchanged unless the node may use any adapter. */
const TAKEN: readonly (string | undefined)[] = ['nat', 'bridged', 'hostonly'];
const OWN = ['vmnet0', 'vmnet1', 'vmnet8'];

export interface AdapterSettings {
  adapters: number;
  adapter_type: string;
  use_any_adapter: boolean;
  custom_adapters: readonly CustomAdapter[];
}

const plain = (vnet: string | undefined): string | undefined => vnet?.replace('/dev/', '');

/** The attachment by the user of VMware, unless a node may use the adapter. */
export function attachmentOf(vmx: Pairs, adapter: number): string | undefined {
  const type = vmx.get(`ethernet${adapter}.connectiontype`);
  return vmx.get(`ethernet${adapter}.present`)?.toUpperCase() === 'TRUE' && TAKEN.includes(type) ? type : undefined;
}

/**
 * Connects the adapters of a machine to networks of the host.
 * @param isManaged whether a network is assigned to nodes
 * @param allocate returns one that no node uses
 * @returns the network of each adapter connected to the fabric
 */
export function attachAdapters(
  vmx: Pairs,
  { adapters, adapter_type: general, use_any_adapter: useAny, custom_adapters: custom }: AdapterSettings,
  isManaged: (vnet: string) => boolean,
  allocate: () => string,
): Map<number, string> {
  const attached = new Map<number, string>();
  for (let number = 0; number < adapters; number += 1) {
    const set = (member: string, value: string): void => void vmx.set(`ethernet${number}.${member}`, value);
    vmx.delete(`ethernet${number}.startconnected`);
    if (!useAny && attachmentOf(vmx, number) !== undefined) continue;
    const type = custom.find(({ adapter_number }) => adapter_number === number)?.adapter_type ?? general;
    const before = plain(vmx.get(`ethernet${number}.vnet`));
    const keeps = before !== undefined && !isManaged(before) && !OWN.includes(before);
    const vnet = keeps ? before : allocate();
    if (vmx.get(`ethernet${number}.present`) === undefined) {
      set('present', 'TRUE');
      set('addresstype', 'generated');
      set('generatedaddressoffset', '0');
    }
    set('present', 'TRUE');
    set('virtualdev', type === 'default' ? 'e1000' : type);
    set('connectiontype', 'custom');
    set('vnet', vnet);
    attached.set(number, vnet);
  }
  for (let number = adapters; number < ADAPTERS; number += 1) {
    if (vmx.get(`ethernet${number}.present`)?.toUpperCase() === 'TRUE')
      vmx.set(`ethernet${number}.startconnected`, 'FALSE');
  }
  return attached;
}

/** Makes the first serial port a Unix socket on which the machine listens. */
export function attachSerial(vmx: Pairs, pipe: string): void {
  for (const [member, value] of [
    ['present', 'TRUE'],
    ['filetype', 'pipe'],
    ['filename', pipe],
    ['pipe.endpoint', 'server'],
    ['startconnected', 'TRUE'],
  ] as const) {
    vmx.set(`serial0.${member}`, value);
  }
}

/** Reverts the start's changes, so that VMware's own window shows a plain machine. */
export function detachAdapters(vmx: Pairs, managed: ReadonlySet<string>): void {
  for (let number = 0; number < ADAPTERS; number += 1) {
    if (managed.has(plain(vmx.get(`ethernet${number}.vnet`)) ?? '')) vmx.set(`ethernet${number}.vnet`, IDLE);
    if (vmx.get(`ethernet${number}.startconnected`) === 'FALSE') vmx.set(`ethernet${number}.startconnected`, 'TRUE');
  }
}
