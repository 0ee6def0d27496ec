import * as v from 'valibot';
import { type DRIVES, diskCache } from '../../../store/node-kinds/qemu.ts';
import { ConsolePort, CustomAdapter, Integer, Text } from '../../../store/vocabulary.ts';
import { NodeIdOrNumber } from '../../nodes/schema.ts';

const PLATFORMS = [
  'aarch64',
  'alpha',
  'arm',
  'cris',
  'i386',
  'lm32',
  'm68k',
  'microblaze',
  'microblazeel',
  'mips',
  'mips64',
  'mips64el',
  'mipsel',
  'moxie',
  'or32',
  'ppc',
  'ppc64',
  'ppcemb',
  's390x',
  'sh4',
  'sh4eb',
  'sparc',
  'sparc64',
  'tricore',
  'unicore32',
  'x86_64',
  'xtensa',
  'xtensaeb',
  '',
] as const;

const OnOff = v.picklist(['on', 'off']);
const Mebibytes = v.pipe(Integer, v.minValue(1));

export const BinaryFilter = v.strictObject({ archs: v.optional(v.array(v.picklist(PLATFORMS))) });

/** What each format of disk image understands is for qemu-img to say. */
const DiskOptions = v.strictObject({
  preallocation: v.optional(v.picklist(['off', 'metadata', 'falloc', 'full'])),
  cluster_size: v.optional(Integer),
  refcount_bits: v.optional(Integer),
  lazy_refcounts: v.optional(OnOff),
  subformat: v.optional(
    v.picklist([
      'dynamic',
      'fixed',
      'streamOptimized',
      'twoGbMaxExtentSparse',
      'twoGbMaxExtentFlat',
      'monolithicSparse',
      'monolithicFlat',
    ]),
  ),
  static: v.optional(OnOff),
  zeroed_grain: v.optional(OnOff),
  adapter_type: v.optional(v.picklist(['ide', 'lsilogic', 'buslogic', 'legacyESX'])),
});

export const DiskImageCreate = v.strictObject({
  qemu_img: Text,
  path: Text,
  format: v.picklist(['qcow2', 'qcow', 'vpc', 'vdi', 'vmdk', 'raw']),
  size: Mebibytes,
  ...DiskOptions.entries,
});
export type DiskImageCreate = v.InferOutput<typeof DiskImageCreate>;

export const DiskImageUpdate = v.strictObject({
  qemu_img: Text,
  path: Text,
  extend: v.optional(Mebibytes),
});
export type DiskImageUpdate = v.InferOutput<typeof DiskImageUpdate>;

export type Drive = (typeof DRIVES)[number];

export const ConsoleType = v.picklist(['telnet', 'vnc', 'spice', 'spice+agent', 'none']);
export type ConsoleType = v.InferOutput<typeof ConsoleType>;

const BOOT_PRIORITIES = ['c', 'd', 'n', 'cn', 'cd', 'dn', 'dc', 'nc', 'nd'] as const;
const PRIORITIES = ['realtime', 'very high', 'high', 'normal', 'low', 'very low', 'null'] as const;

const Platform = v.picklist([...PLATFORMS, 'null']);
const MacAddress = v.pipe(
  v.string(),
  v.regex(/^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$/, 'must be a MAC address xx:xx:xx:xx:xx:xx'),
);
const Flag = v.optional(v.nullable(v.boolean()));
const MaybeText = v.optional(v.nullable(v.string()));
const Checksum = MaybeText;
const between = (lowest: number, highest: number) =>
  v.optional(v.nullable(v.pipe(Integer, v.minValue(lowest), v.maxValue(highest))));

/** What a machine has, as creation and change take it. */
const MACHINE = {
  usage: v.optional(v.string()),
  linked_clone: v.optional(v.boolean()),
  qemu_path: v.optional(v.nullable(Text)),
  platform: v.optional(Platform),
  console: v.optional(v.nullable(ConsolePort)),
  hda_disk_image: v.optional(v.string()),
  hda_disk_interface: v.optional(v.string()),
  hda_disk_cache: diskCache,
  hda_disk_image_md5sum: Checksum,
  hdb_disk_image: v.optional(v.string()),
  hdb_disk_interface: v.optional(v.string()),
  hdb_disk_cache: diskCache,
  hdb_disk_image_md5sum: Checksum,
  hdc_disk_image: v.optional(v.string()),
  hdc_disk_interface: v.optional(v.string()),
  hdc_disk_cache: diskCache,
  hdc_disk_image_md5sum: Checksum,
  hdd_disk_image: v.optional(v.string()),
  hdd_disk_interface: v.optional(v.string()),
  hdd_disk_cache: diskCache,
  hdd_disk_image_md5sum: Checksum,
  cdrom_image: v.optional(v.string()),
  cdrom_image_md5sum: Checksum,
  bios_image: v.optional(v.string()),
  bios_image_md5sum: Checksum,
  initrd: v.optional(v.string()),
  initrd_md5sum: Checksum,
  kernel_image: v.optional(v.string()),
  kernel_image_md5sum: Checksum,
  kernel_command_line: MaybeText,
  boot_priority: v.optional(v.picklist(BOOT_PRIORITIES)),
  ram: v.optional(v.nullable(Integer)),
  cpus: between(1, 255),
  adapters: between(0, 275),
  adapter_type: v.optional(v.nullable(Text)),
  mac_address: v.optional(v.nullable(MacAddress)),
  legacy_networking: Flag,
  replicate_network_connection_state: Flag,
  tpm: Flag,
  uefi: Flag,
  create_config_disk: Flag,
  on_close: v.optional(v.picklist(['power_off', 'shutdown_signal', 'save_vm_state'])),
  cpu_throttling: between(0, 800),
  process_priority: v.optional(v.picklist(PRIORITIES)),
  options: MaybeText,
  custom_adapters: v.optional(v.array(CustomAdapter)),
};

export const QemuCreate = v.strictObject({
  name: Text,
  node_id: v.optional(NodeIdOrNumber),
  console_type: v.optional(ConsoleType, 'telnet'),
  ...MACHINE,
});
export type QemuCreate = v.InferOutput<typeof QemuCreate>;

export const QemuUpdate = v.strictObject({
  name: v.optional(v.nullable(Text)),
  console_type: v.optional(ConsoleType),
  ...MACHINE,
});
export type QemuUpdate = v.InferOutput<typeof QemuUpdate>;

/** Platforms that an emulator's name may end with. */
export function isPlatform(word: string): boolean {
  return word !== '' && PLATFORMS.some((platform) => platform === word);
}
