// What a machine has: the members of its object that a change may set, with their defaults (facts of release 2.2.57).

import { imageKind } from '../../../store/node-kinds/kinds.ts';
import { type DiskCache, DRIVES } from '../../../store/node-kinds/qemu.ts';
import type { CustomAdapter } from '../../../store/vocabulary.ts';
import type { Image } from '../../images/references.ts';
import type { QemuCreate, QemuUpdate } from './schema.ts';

export const IMAGE_KIND = imageKind('qemu');

/** Members of the object that name an image; each has its checksum beside it. */
export const IMAGE_MEMBERS = [
  'hda_disk_image',
  'hdb_disk_image',
  'hdc_disk_image',
  'hdd_disk_image',
  'cdrom_image',
  'bios_image',
  'initrd',
  'kernel_image',
] as const;
export type ImageMember = (typeof IMAGE_MEMBERS)[number];

export type Images = Record<ImageMember, Image>;

export interface Settings {
  usage: string;
  hda_disk_interface: string;
  hdb_disk_interface: string;
  hdc_disk_interface: string;
  hdd_disk_interface: string;
  /** Absent unless given. */
  hda_disk_cache?: DiskCache;
  hdb_disk_cache?: DiskCache;
  hdc_disk_cache?: DiskCache;
  hdd_disk_cache?: DiskCache;
  kernel_command_line: string;
  boot_priority: string;
  /** MiB */
  ram: number;
  cpus: number;
  adapters: number;
  adapter_type: string;
  mac_address: string;
  legacy_networking: boolean;
  replicate_network_connection_state: boolean;
  tpm: boolean;
  uefi: boolean;
  create_config_disk: boolean;
  on_close: 'power_off' | 'shutdown_signal' | 'save_vm_state';
  /** Per cent of one core; 0 without a limit. */
  cpu_throttling: number;
  process_priority: string;
  options: string;
}

/** Kept, but no members of the object. */
export interface HiddenSettings {
  linked_clone: boolean;
  custom_adapters: readonly CustomAdapter[];
}

/** The address of the first adapter, unless it is given: made of the node's identifier. */
export function defaultMac(nodeId: string): string {
  return `0c:${nodeId.slice(2, 4)}:${nodeId.slice(4, 6)}:${nodeId.slice(6, 8)}:00:00`;
}

export function defaultSettings(nodeId: string): Settings {
  return {
    usage: '',
    hda_disk_interface: 'none',
    hdb_disk_interface: 'none',
    hdc_disk_interface: 'none',
    hdd_disk_interface: 'none',
    kernel_command_line: '',
    boot_priority: 'c',
    ram: 256,
    cpus: 1,
    adapters: 1,
    adapter_type: 'e1000',
    mac_address: defaultMac(nodeId),
    legacy_networking: false,
    replicate_network_connection_state: true,
    tpm: false,
    uefi: false,
    create_config_disk: false,
    on_close: 'power_off',
    cpu_throttling: 0,
    process_priority: 'low',
    options: '',
  };
}

/** The settings with what a body gives; a null changes nothing, but for the MAC address, which is the default one again. */
export function changedSettings(before: Settings, body: QemuCreate | QemuUpdate, nodeId: string): Settings {
  const settings: Record<string, unknown> = { ...before };
  for (const member of [...Object.keys(before), ...DRIVES.map((drive) => `${drive}_disk_cache`)]) {
    const value = (body as Record<string, unknown>)[member];
    if (value != null && value !== 'null') settings[member] = value;
  }
  if (body.mac_address === null) settings['mac_address'] = defaultMac(nodeId);
  if (typeof body.options === 'string') settings['options'] = normalisedOptions(body.options);
  return settings as unknown as Settings;
}

/** The configuration disk is attached as the first disk is, unless the fourth drive has an interface of its own. */
export function withConfigDisk(settings: Settings): Settings {
  if (!settings.create_config_disk || settings.hdd_disk_interface !== 'none') return settings;
  return { ...settings, hdd_disk_interface: settings.hda_disk_interface };
}

/** Old words for the ways of acceleration become today's. */
export function normalisedOptions(options: string): string {
  return options
    .replaceAll('-no-kvm', '-machine accel=tcg')
    .replaceAll('-no-hax', '-machine accel=tcg')
    .replaceAll('-enable-kvm', '-machine accel=kvm')
    .replaceAll('-enable-hax', '')
    .trim();
}

/** The address of an adapter: its own, or the machine's and its number. */
export function macOf(settings: Pick<Settings, 'mac_address'>, adapter: number, custom?: CustomAdapter): string {
  if (custom?.mac_address !== undefined) return custom.mac_address.toLowerCase();
  const base = BigInt(`0x${settings.mac_address.replaceAll(':', '')}`);
  const value = BigInt.asUintN(48, base + BigInt(adapter));
  return value
    .toString(16)
    .padStart(12, '0')
    .replace(/..(?!$)/g, '$&:');
}
