// Settings that the release does not have: nodes with the defaults omit them.
export interface InterfaceSettings {
  mtu?: number;
  offload?: boolean;
}
/** When a guest's writes reach the host's disk (QEMU's `cache=`). Empty is QEMU's default, writeback. */
export const DISK_CACHES = ['writeback', 'writethrough', 'none', 'directsync', 'unsafe', ''] as const;
export type DiskCache = (typeof DISK_CACHES)[number];

export interface AbsentSettings extends InterfaceSettings {
  guest_agent?: boolean;
  hda_disk_cache?: DiskCache;
  hdb_disk_cache?: DiskCache;
  hdc_disk_cache?: DiskCache;
  hdd_disk_cache?: DiskCache;
}

export const ABSENT_DEFAULTS: Readonly<Required<AbsentSettings>> = {
  mtu: 1500,
  offload: true,
  guest_agent: false,
  hda_disk_cache: '',
  hdb_disk_cache: '',
  hdc_disk_cache: '',
  hdd_disk_cache: '',
};

export const ABSENT_MEMBERS = Object.keys(ABSENT_DEFAULTS) as readonly (keyof AbsentSettings)[];

/** Members and properties that the answers about a node omit at these values. */
export const OMITTED_AT: Readonly<Record<string, unknown>> = { start_order: 0, start_delay: 0, ...ABSENT_DEFAULTS };

/** Takes over what a body says of them. Null changes nothing. */
export function changeAbsent(
  settings: AbsentSettings,
  body: { readonly [Member in keyof AbsentSettings]?: AbsentSettings[Member] | null | undefined },
): void {
  for (const member of ABSENT_MEMBERS) {
    const value = body[member];
    if (value === ABSENT_DEFAULTS[member]) delete settings[member];
    else if (value != null) Object.assign(settings, { [member]: value });
  }
}
