// Texts for the settings that only nodes of QEMU have; loaded only for the API document.
import { type GroupedWords, words } from './words.ts';

const drive = (letter: string) => ({
  [`hd${letter}_disk_image`]: words(`Disk ${letter.toUpperCase()}`, 'File of the disk image.', { images: true }),
  [`hd${letter}_disk_interface`]: words(
    `Interface of disk ${letter.toUpperCase()}`,
    'What the guest sees the disk at.',
  ),
  [`hd${letter}_disk_cache`]: words(
    `Cache of disk ${letter.toUpperCase()}`,
    'writeback, unless set, keeps what the guest has flushed; writethrough and directsync keep every write, but are slow.',
  ),
  [`hd${letter}_disk_image_md5sum`]: words(`Checksum of disk ${letter.toUpperCase()}`, 'MD5.'),
});

export const qemuWords: GroupedWords = {
  Machine: {
    platform: words('Platform', 'Architecture of the guest.'),
    cpus: words('Processors', 'Virtual processors.'),
    qemu_path: words('Emulator', 'Program that runs it; by its platform unless given.'),
  },
  'Disks and start': {
    ...drive('a'),
    ...drive('b'),
    ...drive('c'),
    ...drive('d'),
    cdrom_image: words('CD-ROM', 'File of the disc.', { images: true }),
    cdrom_image_md5sum: words('Checksum of the CD-ROM', 'MD5.'),
    boot_priority: words('Boot order', 'c is the disk, d the CD-ROM, n the network.'),
    uefi: words('UEFI', 'Start by UEFI firmware.'),
    bios_image: words('Firmware', 'File of the BIOS; the emulator has one of its own.', { images: true }),
    bios_image_md5sum: words('Checksum of the firmware', 'MD5.'),
    kernel_image: words('Kernel', 'File of a kernel to start without a boot loader.', { images: true }),
    kernel_image_md5sum: words('Checksum of the kernel', 'MD5.'),
    kernel_command_line: words('Kernel command line', 'Words that the kernel is given.'),
    initrd: words('Initial RAM disk', 'File that goes with the kernel.', { images: true }),
    initrd_md5sum: words('Checksum of the RAM disk', 'MD5.'),
    create_config_disk: words('Configuration disk', 'Disk D is made by the server and holds configurations.'),
    tpm: words('TPM', 'A trusted platform module; needs swtpm on the host.'),
    guest_agent: words(
      'Guest agent',
      'A channel to the QEMU guest agent, which freezes file systems while a copy of the disks begins.',
    ),
  },
  Network: {
    mtu: words('MTU', 'Longest packet of its virtio adapters; 1500 unless set.', { unit: 'bytes' }),
    offload: words(
      'Checksum offload',
      'false: frames come to and from its virtio adapters with complete checksums, and none is longer than the MTU.',
    ),
    replicate_network_connection_state: words(
      'Unplug unused ports',
      'The guest sees a port without a link as unplugged.',
    ),
    legacy_networking: words('Legacy networking', 'No QEMU of today has it.'),
  },
  More: {
    cpu_throttling: words('Processor limit', 'Share of one processor that it may take; 0 for no limit.', { unit: '%' }),
    process_priority: words('Priority', 'Of its process on the host.'),
    options: words('More options', 'Words for the command line of the emulator.'),
  },
};
