// QEMU machines.
import * as v from 'valibot';
import { Integer } from '../vocabulary.ts';
import { isProgram } from './image-heads.ts';
import type { NodeKindFacts } from './kind.ts';
import { adapterPorts } from './ports.ts';
import {
  between,
  consoleMembers,
  customAdapters,
  flag,
  integer,
  macAddress,
  onClose,
  portNameMembers,
  text,
} from './template-members.ts';

/** Drives of a machine, in the order of their numbers. */
export const DRIVES = ['hda', 'hdb', 'hdc', 'hdd'] as const;

/**
 * When a guest's writes reach the host's disk (QEMU's `cache=`). Empty is QEMU's default, writeback. A mode that was never set is in no
 * answer and in no file, since release 2.2.57 rejects these members.
 */
const DISK_CACHES = ['writeback', 'writethrough', 'none', 'directsync', 'unsafe', ''] as const;
export type DiskCache = (typeof DISK_CACHES)[number];
export const diskCache = v.optional(v.picklist(DISK_CACHES));

/** `extend` is MiB to add. */
export const DiskResize = v.strictObject({ drive_name: v.picklist(DRIVES), extend: Integer });
export type DiskResize = v.InferOutput<typeof DiskResize>;

const diskInterface = v.optional(
  v.picklist(['ide', 'sata', 'nvme', 'scsi', 'sd', 'mtd', 'floppy', 'pflash', 'virtio', 'none']),
  'none',
);

export const qemu: NodeKindFacts = {
  type: 'qemu',
  addedByRelease3: ['maxcpus', ...DRIVES.map((drive) => `${drive}_disk_image_backed`)],
  ports: (source) => adapterPorts(source),
  whileRunning: 'state',
  images: {
    folder: 'QEMU',
    isReference: (property) => property.endsWith('image'),
    accepts: (head) => !isProgram(head),
    copied: 'linked_clone',
  },
  passes: [
    {
      method: 'POST',
      path: 'resize_disk',
      to: 'resize_disk',
      body: DiskResize,
      status: 201,
      limit: 120_000,
      summary: 'Extend a disk of a node',
      errors: [408],
    },
  ],
  template: {
    nameFormat: '{name}-{0}',
    symbol: 'qemu_guest',
    category: 'guest',
    members: {
      ...consoleMembers,
      ...portNameMembers,
      qemu_path: text(),
      // biome-ignore format: one list
      platform: v.optional(v.picklist(['aarch64', 'alpha', 'arm', 'cris', 'i386', 'lm32', 'm68k', 'microblaze', 'microblazeel', 'mips', 'mips64', 'mips64el', 'mipsel', 'moxie', 'or32', 'ppc', 'ppc64', 'ppcemb', 's390x', 'sh4', 'sh4eb', 'sparc', 'sparc64', 'tricore', 'unicore32', 'x86_64', 'xtensa', 'xtensaeb', '']), ''),
      usage: text(),
      linked_clone: flag(true),
      ram: integer(256),
      cpus: v.optional(between(1, 255), 1),
      adapters: v.optional(between(0, 275), 1),
      // biome-ignore format: one list
      adapter_type: v.optional(v.picklist(['e1000', 'e1000-82544gc', 'e1000-82545em', 'e1000e', 'i82550', 'i82551', 'i82557a', 'i82557b', 'i82557c', 'i82558a', 'i82558b', 'i82559a', 'i82559b', 'i82559c', 'i82559er', 'i82562', 'i82801', 'igb', 'ne2k_pci', 'pcnet', 'rocker', 'rtl8139', 'virtio', 'virtio-net-pci', 'vmxnet3']), 'e1000'),
      mac_address: macAddress,
      console_type: v.optional(v.picklist(['telnet', 'vnc', 'spice', 'spice+agent', 'none']), 'telnet'),
      boot_priority: v.optional(v.picklist(['c', 'd', 'n', 'cn', 'cd', 'dn', 'dc', 'nc', 'nd']), 'c'),
      hda_disk_image: text(),
      hdb_disk_image: text(),
      hdc_disk_image: text(),
      hdd_disk_image: text(),
      hda_disk_interface: diskInterface,
      hdb_disk_interface: diskInterface,
      hdc_disk_interface: diskInterface,
      hdd_disk_interface: diskInterface,
      hda_disk_cache: diskCache,
      hdb_disk_cache: diskCache,
      hdc_disk_cache: diskCache,
      hdd_disk_cache: diskCache,
      cdrom_image: text(),
      initrd: text(),
      kernel_image: text(),
      bios_image: text(),
      kernel_command_line: text(),
      legacy_networking: flag(false),
      replicate_network_connection_state: flag(true),
      tpm: flag(false),
      uefi: flag(false),
      create_config_disk: flag(false),
      on_close: onClose,
      cpu_throttling: v.optional(between(0, 800), 0),
      process_priority: v.optional(
        v.picklist(['realtime', 'very high', 'high', 'normal', 'low', 'very low']),
        'normal',
      ),
      options: text(),
      custom_adapters: customAdapters,
    },
  },
};
