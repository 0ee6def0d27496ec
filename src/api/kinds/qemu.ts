// QEMU machines.
import * as v from 'valibot';
import { MacAddress, nodeMac } from '../mac.ts';
import { ConsolePort, Integer, Text } from '../vocabulary.ts';
import { DISK_CACHES } from './absent-settings.ts';
import { isProgram } from './image-heads.ts';
import { type NodeKindFacts, OVERHEAD_MIB, type PassedRoute } from './kind.ts';
import { adapterPorts } from './ports.ts';
import {
  consoleTypes,
  createBody,
  customAdapterRows,
  type Effect,
  nameAndNumber,
  ofTemplate,
  p,
  templateMembers,
  updateBody,
  usage,
} from './property.ts';
import {
  absentFlag,
  between,
  flag,
  integer,
  interfaceSettings,
  macAddress,
  portNameRows,
  text,
} from './template-members.ts';

/** Drives of a machine, in the order of their numbers. */
export const DRIVES = ['hda', 'hdb', 'hdc', 'hdd'] as const;

const PRIORITIES = ['realtime', 'very high', 'high', 'normal', 'low', 'very low'] as const;

const OnOff = v.picklist(['on', 'off']);
const Mebibytes = v.pipe(Integer, v.minValue(1));

/** An empty disk of `size` MiB. qemu-img validates the options of each format. */
export const NewDisk = v.strictObject({
  format: v.picklist(['qcow2', 'qcow', 'vpc', 'vdi', 'vmdk', 'raw']),
  size: Mebibytes,
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

/** `extend` is MiB to add; without it, whether there is such a disk is all that is checked. */
export const LongerDisk = v.strictObject({ extend: v.optional(Mebibytes) });

/** `extend` is MiB to add. */
export const DiskResize = v.strictObject({ drive_name: v.picklist(DRIVES), extend: Integer });
export type DiskResize = v.InferOutput<typeof DiskResize>;
export type Drive = (typeof DRIVES)[number];

// biome-ignore format: one list
export const PLATFORMS = ['aarch64', 'alpha', 'arm', 'cris', 'i386', 'lm32', 'm68k', 'microblaze', 'microblazeel', 'mips', 'mips64', 'mips64el', 'mipsel', 'moxie', 'or32', 'ppc', 'ppc64', 'ppcemb', 's390x', 'sh4', 'sh4eb', 'sparc', 'sparc64', 'tricore', 'unicore32', 'x86_64', 'xtensa', 'xtensaeb', ''] as const;
// biome-ignore format: one list
const ADAPTER_TYPES = ['e1000', 'e1000-82544gc', 'e1000-82545em', 'e1000e', 'i82550', 'i82551', 'i82557a', 'i82557b', 'i82557c', 'i82558a', 'i82558b', 'i82559a', 'i82559b', 'i82559c', 'i82559er', 'i82562', 'i82801', 'igb', 'ne2k_pci', 'pcnet', 'rocker', 'rtl8139', 'virtio', 'virtio-net-pci', 'vmxnet3'] as const;

const diskInterface = v.picklist(['ide', 'sata', 'nvme', 'scsi', 'sd', 'mtd', 'floppy', 'pflash', 'virtio', 'none']);

const image = (effect: Effect = 'start') => p(v.string(), { template: text(), effect });
const checksum = p(v.nullable(v.string()), { readOnly: true });
const diskInterfaceRow = p(v.string(), { node: 'none', template: v.optional(diskInterface, 'none') });
/** Absent at its default. */
const diskCacheRow = p(v.picklist(DISK_CACHES), { template: v.optional(v.picklist(DISK_CACHES)) });
const flagRow = (usual: boolean) => p(v.nullable(v.boolean()), { node: usual, template: flag(usual) });
const textRow = p(v.nullable(v.string()), { node: '', template: text() });
const number = (lowest: number, highest: number, usual: number, effect: Effect = 'start') =>
  p(v.nullable(between(lowest, highest)), {
    node: usual,
    template: v.optional(between(lowest, highest), usual),
    effect,
  });
/** The one schema of nodes and templates. */
const choice = <const Words extends readonly string[]>(
  words: Words,
  usual: Words[number],
  effect: Effect = 'start',
) => {
  const schema = v.picklist(words);
  return p(schema, { node: usual, template: v.optional(schema, usual as v.InferInput<typeof schema>), effect });
};

/** A node's settings in responses. */
export const qemuSettings = {
  ...usage,
  hda_disk_interface: diskInterfaceRow,
  hdb_disk_interface: diskInterfaceRow,
  hdc_disk_interface: diskInterfaceRow,
  hdd_disk_interface: diskInterfaceRow,
  kernel_command_line: textRow,
  boot_priority: choice(['c', 'd', 'n', 'cn', 'cd', 'dn', 'dc', 'nc', 'nd'], 'c'),
  ram: p(v.nullable(Integer), { node: 256, template: integer(256) }),
  cpus: number(1, 255, 1),
  adapters: number(0, 275, 1),
  adapter_type: p(v.nullable(Text), { node: 'e1000', template: v.optional(v.picklist(ADAPTER_TYPES), 'e1000') }),
  mac_address: p(v.nullable(MacAddress), { node: (id: string) => nodeMac('0c', id), template: macAddress }),
  legacy_networking: flagRow(false),
  replicate_network_connection_state: flagRow(true),
  tpm: flagRow(false),
  uefi: flagRow(false),
  create_config_disk: flagRow(false),
  on_close: choice(['power_off', 'shutdown_signal', 'save_vm_state'], 'power_off', 'live'),
  cpu_throttling: number(0, 800, 0, 'live'),
  process_priority: p(v.picklist([...PRIORITIES, 'null']), {
    node: 'low',
    template: v.optional(v.picklist(PRIORITIES), 'normal'),
  }),
  options: textRow,
};

const diskCaches = {
  hda_disk_cache: diskCacheRow,
  hdb_disk_cache: diskCacheRow,
  hdc_disk_cache: diskCacheRow,
  hdd_disk_cache: diskCacheRow,
};

/** Kept, but not answered. */
export const qemuHidden = { linked_clone: p(v.boolean(), { node: true, template: flag(true) }), ...customAdapterRows };

const qemuProperties = {
  ...nameAndNumber,
  console_type: consoleTypes(['telnet', 'vnc', 'spice', 'spice+agent', 'none'], { node: 'telnet' }),
  console: p(v.nullable(ConsolePort), { effect: 'live' }),
  console_auto_start: ofTemplate(flag(false)),
  ...portNameRows,
  ...qemuHidden,
  qemu_path: p(v.nullable(Text), { template: text() }),
  platform: p(v.picklist([...PLATFORMS, 'null']), { template: v.optional(v.picklist(PLATFORMS), '') }),
  hda_disk_image: image(),
  hda_disk_image_md5sum: checksum,
  hdb_disk_image: image(),
  hdb_disk_image_md5sum: checksum,
  hdc_disk_image: image(),
  hdc_disk_image_md5sum: checksum,
  hdd_disk_image: image(),
  hdd_disk_image_md5sum: checksum,
  cdrom_image: image('live'),
  cdrom_image_md5sum: checksum,
  bios_image: image(),
  bios_image_md5sum: checksum,
  initrd: image(),
  initrd_md5sum: checksum,
  kernel_image: image(),
  kernel_image_md5sum: checksum,
  ...qemuSettings,
  ...diskCaches,
  ...interfaceSettings,
  /** A channel to the QEMU guest agent. */
  guest_agent: absentFlag,
};

export const QemuCreate = createBody(qemuProperties);
export type QemuCreate = v.InferOutput<typeof QemuCreate>;
export const QemuUpdate = updateBody(qemuProperties);
export type QemuUpdate = v.InferOutput<typeof QemuUpdate>;

/** Machines of this host's own kind of processor, which KVM runs. */
const OWN_PROCESSOR = /x86_64|i386|qemu-kvm/;
const WITHOUT_KVM = /-no-kvm|accel[= ]tcg/;

function diskRoute(method: 'POST' | 'PUT' | 'DELETE', summary: string, body?: v.GenericSchema): PassedRoute {
  const path = 'disks/{disk_name}';
  return {
    method,
    path,
    to: path,
    ...(body && { body }),
    status: 204,
    limit: 120_000,
    privilege: 'Node.Allocate',
    summary,
    errors: [507],
  };
}

export const qemu: NodeKindFacts = {
  type: 'qemu',
  kernelForwards: true,
  properties: qemuProperties,
  effect: 'start',
  addedByRelease3: ['maxcpus', ...DRIVES.map((drive) => `${drive}_disk_image_backed`)],
  ports: (source) => adapterPorts(source),
  whileRunning: 'state',
  checkpointCovers: (name) => /^hd[a-d]_disk\.qcow2$/.test(name),
  images: {
    folder: 'QEMU',
    isReference: (property) => property.endsWith('image') || property === 'initrd',
    accepts: (head) => !isProgram(head),
    // Kernels and firmware.
    usesUnlisted: isProgram,
    copied: 'linked_clone',
  },
  needs: ({ number, text }) => ({
    memory: number('ram', 256) + OVERHEAD_MIB,
    load: number('cpus', 1) / 2,
    processors: number('cpus', 1),
    kvm: OWN_PROCESSOR.test(text('platform') || text('qemu_path') || 'x86_64') && !WITHOUT_KVM.test(text('options')),
  }),
  accelerationRoute: '/qemu/capabilities',
  passes: [
    {
      method: 'POST',
      path: 'resize_disk',
      to: 'resize_disk',
      body: DiskResize,
      status: 201,
      limit: 120_000,
      privilege: 'Node.Allocate',
      summary: 'Extend a disk of a node',
      errors: [408],
    },
    diskRoute('POST', 'Create a disk image in the folder of a node', NewDisk),
    diskRoute('PUT', 'Extend a disk image in the folder of a node', LongerDisk),
    diskRoute('DELETE', 'Delete a disk image in the folder of a node'),
  ],
  template: {
    nameFormat: '{name}-{0}',
    symbol: 'qemu_guest',
    category: 'guest',
    members: templateMembers(qemuProperties),
  },
};
