// The settings of a machine, and their changes.

import { type AbsentSettings, changeAbsent } from '../../../api/kinds/absent-settings.ts';
import { imageKind } from '../../../api/kinds/kinds.ts';
import type { SettingsOf } from '../../../api/kinds/property.ts';
import { type QemuCreate, type QemuUpdate, type qemuHidden, qemuSettings } from '../../../api/kinds/qemu.ts';
import type { Image } from '../../images/references.ts';

export const IMAGE_KIND = imageKind('qemu');

/** Members of the object that name an image; each has a checksum member. */
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

export type Settings = SettingsOf<typeof qemuSettings> & AbsentSettings;

/** Kept, but not members of the object. */
export type HiddenSettings = SettingsOf<typeof qemuHidden>;

/** The settings after a change. Null changes nothing, except that it restores the default MAC address. */
export function changedSettings(before: Settings, body: QemuCreate | QemuUpdate, nodeId: string): Settings {
  const settings: Record<string, unknown> = { ...before };
  for (const member of Object.keys(before)) {
    const value = (body as Record<string, unknown>)[member];
    if (value != null && value !== 'null') settings[member] = value;
  }
  if (body.mac_address === null) settings['mac_address'] = qemuSettings.mac_address.node(nodeId);
  if (typeof body.options === 'string') settings['options'] = normalisedOptions(body.options);
  changeAbsent(settings, body);
  return settings as unknown as Settings;
}

/** The configuration disk uses the first disk's interface, unless the fourth drive has its own. */
export function withConfigDisk(settings: Settings): Settings {
  if (!settings.create_config_disk || settings.hdd_disk_interface !== 'none') return settings;
  return { ...settings, hdd_disk_interface: settings.hda_disk_interface };
}

/** Translates old options for acceleration. */
export function normalisedOptions(options: string): string {
  return options
    .replaceAll('-no-kvm', '-machine accel=tcg')
    .replaceAll('-no-hax', '-machine accel=tcg')
    .replaceAll('-enable-kvm', '-machine accel=kvm')
    .replaceAll('-enable-hax', '')
    .trim();
}
