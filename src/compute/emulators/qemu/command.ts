// The command line of a machine. Pure: the same machine gives the same words. Facts of release 2.2.57, except: no
// default devices, control by QMP on a Unix socket, the serial port on another one, and the sandbox.

import { hostInUrl } from '../../../api/host-in-url.ts';
import { adapterMac } from '../../../api/mac.ts';
import { adapterSlots } from './adapter-slots.ts';
import type { Disk } from './disks.ts';
import type { KeptAdapter } from './kept.ts';
import type { HiddenSettings, Images, Settings } from './settings.ts';
import { AGENT_SOCKET, QMP_SOCKET, SERIAL_DEVICE, SERIAL_SOCKET } from './sockets.ts';
import { escaped } from './split-options.ts';

/**
 * Virtio adapters that may have their own interrupt vectors, three each, per processor. An x86 processor has some 200
 * vectors. A guest without a free one cannot use any more devices.
 */
const VECTORED_ADAPTERS = 60;
/** The descriptor of a program's first TAP. */
const FIRST_TAP = 3;
/** The guest neither gives nor gets frames without a checksum, or longer than the MTU. */
const NO_OFFLOAD = ['csum', 'gso', 'guest_csum', 'guest_tso4', 'guest_tso6', 'guest_ecn', 'guest_ufo']
  .map((feature) => `,${feature}=off`)
  .join('');
/** A machine needs neither child processes nor rights. */
const SANDBOX = 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny';

export interface MachineCommand {
  emulator: string;
  platform: string;
  name: string;
  nodeId: string;
  settings: Settings;
  hidden: HiddenSettings;
  images: Images;
  disks: readonly Disk[];
  /** Runs with KVM. */
  accelerated: boolean;
  console: { type: string; host: string; port: number | null };
  /** The transport of each adapter. TAPs are descriptors from 3 on, in this order. */
  adapters: readonly KeptAdapter[];
  /** The kernel serves virtio adapters that have a TAP (vhost-net). */
  vhost: boolean;
  /** UEFI firmware: its code, and the node's own variables. */
  uefi?: { code: string; variables: string };
  /** Socket of the TPM. */
  tpm?: string;
  /** Name of a saved state to load. With UEFI variables it cannot be loaded from the command line. */
  savedState?: string;
  /** The user's words. */
  options: readonly string[];
}

/** The words after the program. */
export function machineWords(machine: MachineCommand): string[] {
  const { settings, images, platform, options } = machine;
  const isPc = platform === 'x86_64' || platform === 'i386';
  const has = (word: string): boolean => options.includes(word) || options.includes(`-${word}`);
  return [
    ...['-name', nameOf(machine.name), '-m', `${settings.ram}M`, '-smp', `cpus=${settings.cpus},sockets=1`],
    ...(machine.accelerated ? ['-enable-kvm', ...(platform === 'x86_64' ? ['-machine', 'smm=off'] : [])] : []),
    ...['-boot', `order=${settings.boot_priority}`],
    ...[
      '-sandbox',
      SANDBOX,
      '-S',
      '-no-user-config',
      ...(isPc ? ['-nodefaults'] : ['-monitor', 'none', '-parallel', 'none']),
    ],
    ...firmwareWords(machine),
    ...cdWords(machine, isPc),
    ...machine.disks.flatMap((disk) => diskWords(disk, settings)),
    ...(images.initrd.path === '' ? [] : ['-initrd', images.initrd.path]),
    ...(images.kernel_image.path === '' ? [] : ['-kernel', images.kernel_image.path]),
    ...(settings.kernel_command_line === '' ? [] : ['-append', settings.kernel_command_line]),
    ...(has('-uuid') ? [] : ['-uuid', machine.nodeId]),
    ...consoleWords(machine, isPc && !has('-vga')),
    ...['-qmp', `unix:${QMP_SOCKET},server=on,wait=off`],
    ...['-net', 'none', ...adapterWords(machine)],
    ...(machine.savedState === undefined || machine.uefi ? [] : ['-loadvm', machine.savedState]),
    ...(drawsItself(machine, options) ? ['-display', 'none'] : []),
    ...tpmWords(machine),
    ...guestAgentWords(settings),
    ...options,
    ...(machine.console.type === 'vnc' ? ['-machine', 'usb=on', '-device', 'usb-tablet'] : []),
  ];
}

/** QEMU takes a word with `=` for a property, except as the value of a property. */
function nameOf(name: string): string {
  return `${name.includes('=') ? 'guest=' : ''}${escaped(name)}`;
}

function drawsItself({ console }: MachineCommand, options: readonly string[]): boolean {
  if (console.type !== 'telnet' && console.type !== 'none') return false;
  return !options.some((word) => ['-display', '-nographic', '-curses', '-vnc'].includes(word.replace(/^--/, '-')));
}

function firmwareWords({ images, uefi }: MachineCommand): string[] {
  if (uefi) {
    const flash = 'if=pflash,format=raw';
    return [
      ...['-drive', `${flash},readonly=on,file=${escaped(uefi.code)}`],
      ...['-drive', `${flash},file=${escaped(uefi.variables)}`],
    ];
  }
  return images.bios_image.path === '' ? [] : ['-bios', images.bios_image.path];
}

/** A PC has the drive even without a CD, so that one can be inserted while it runs. */
function cdWords({ images, disks, options }: MachineCommand, isPc: boolean): string[] {
  if (images.cdrom_image.path !== '') return ['-cdrom', images.cdrom_image.path];
  const isTaken = disks.some(({ index }) => index === 2);
  const hasNoIde = options.some((word) => word.includes('microvm'));
  return isPc && !isTaken && !hasNoIde ? ['-drive', 'if=ide,index=2,media=cdrom'] : [];
}

function diskWords({ drive, index, path, format }: Disk, settings: Settings): string[] {
  const kind = settings[`${drive}_disk_interface`];
  const cache = settings[`${drive}_disk_cache`];
  const more = `${format === undefined ? '' : `,format=${format}`}${cache ? `,cache=${cache}` : ''}`;
  const file = `file=${escaped(path)}${more}`;
  const apart = `${file},if=none,id=drive${index},index=${index},media=disk`;
  switch (kind) {
    case 'sata':
      return [
        ...['-device', `ahci,id=ahci${index}`, '-drive', apart],
        ...['-device', `ide-hd,drive=drive${index},bus=ahci${index}.0,id=drive${index}`],
      ];
    case 'nvme':
      return ['-drive', apart, '-device', `nvme,drive=drive${index},serial=${index}`];
    case 'scsi':
      return [
        ...['-device', `virtio-scsi-pci,id=scsi${index}`, '-drive', apart],
        ...['-device', `scsi-hd,drive=drive${index}`],
      ];
    default:
      return ['-drive', `${file},if=${escaped(kind)},index=${index},media=disk,id=drive${index}`];
  }
}

/** The QEMU object with which the user's options may give a password for the display. */
const CONSOLE_SECRET = 'console';

/** The addition to `-vnc` for the password; empty without such an object. */
function passwordWord(options: readonly string[]): string {
  const hasSecret = options.some((word, index) => {
    const [kind, ...members] = (options[index + 1] ?? '').split(',');
    return /^--?object$/.test(word) && kind === 'secret' && members.includes(`id=${CONSOLE_SECRET}`);
  });
  return hasSecret ? `,password-secret=${CONSOLE_SECRET}` : '';
}

function consoleWords({ console: { type, host, port }, options }: MachineCommand, needsDisplay: boolean): string[] {
  const address = hostInUrl(host);
  const display = needsDisplay ? ['-vga', 'std'] : [];
  switch (type) {
    case 'telnet':
      return [
        ...['-chardev', `socket,id=${SERIAL_DEVICE},path=${SERIAL_SOCKET},server=on,wait=off`],
        ...['-serial', `chardev:${SERIAL_DEVICE}`, ...display],
      ];
    case 'vnc':
      return ['-vnc', `${address}:${(port ?? 0) - 5900}${passwordWord(options)}`, ...display];
    case 'spice':
    case 'spice+agent':
      return [
        ...['-spice', `addr=${host},port=${port ?? 0},disable-ticketing=on`],
        ...(needsDisplay ? ['-vga', 'qxl'] : []),
        ...(type === 'spice' ? [] : AGENT),
      ];
    default:
      return display;
  }
}

const AGENT = [
  ...['-device', 'virtio-serial', '-chardev', 'spicevmc,id=vdagent,debug=0,name=vdagent'],
  ...['-device', 'virtserialport,chardev=vdagent,name=com.redhat.spice.0'],
  ...['-chardev', 'spiceport,name=org.spice-space.webdav.0,id=charchannel0'],
  ...['-device', 'virtserialport,chardev=charchannel0,id=channel0,name=org.spice-space.webdav.0'],
];

function adapterWords(machine: MachineCommand): string[] {
  const { settings, hidden, disks, adapters, vhost, console, options, savedState } = machine;
  const { bridges, slots } = adapterSlots(adapters.length, {
    drives: disks.filter(({ drive }) => !['ide', 'none'].includes(settings[`${drive}_disk_interface`])).length,
    channels: Number(console.type === 'spice+agent') + Number(settings.guest_agent === true),
    usb: console.type === 'vnc' || options.some((word) => /^--?usb|usb=on/.test(word)),
    options,
  });
  const words = Array.from({ length: bridges }, (_none, index) => bridgeWords(index + 1)).flat();
  for (const [number, adapter] of adapters.entries()) {
    const custom = hidden.custom_adapters.find(({ adapter_number: at }) => at === number);
    const type = custom?.adapter_type ?? settings.adapter_type;
    const at = slots[number]!;
    const place =
      at.bridge === undefined ? '' : `,bus=pci-bridge${at.bridge},addr=0x${at.slot.toString(16).padStart(2, '0')}`;
    const speed = type === 'virtio-net-pci' ? ',speed=10000,duplex=full' : '';
    const link = type.startsWith('virtio-net') ? virtioWords(settings, savedState === undefined) : '';
    // An adapter without its own vectors shares an interrupt line.
    const vectors = type.startsWith('virtio-net') && number >= settings.cpus * VECTORED_ADAPTERS ? ',vectors=0' : '';
    words.push(
      '-device',
      `${escaped(type)},mac=${adapterMac(settings.mac_address, number, hidden.custom_adapters)}${speed}${link}${vectors}${place},netdev=gns3-${number}`,
    );
    words.push('-netdev', backend(number, adapter, vhost && type.startsWith('virtio')));
  }
  return words;
}

/**
 * What a virtio adapter offers its guest, unless it is all that QEMU has. Packet sockets cannot pass on the UDP datagrams
 * that old guests would leave uncut; a state that was saved by one of them needs the offer.
 */
function virtioWords({ mtu, offload }: Settings, isFresh: boolean): string {
  const largest = mtu === undefined ? '' : `,host_mtu=${mtu}`;
  if (offload === false) return `${largest}${NO_OFFLOAD}`;
  return isFresh ? `${largest},host_ufo=off` : largest;
}

function backend(number: number, adapter: KeptAdapter, vhost: boolean): string {
  const id = `id=gns3-${number}`;
  if ('tap' in adapter) return `tap,${id},fd=${FIRST_TAP + number}${vhost ? ',vhost=on' : ''}`;
  return `socket,${id},udp=127.0.0.1:${adapter.cable_port},localaddr=127.0.0.1:${adapter.program_port}`;
}

function bridgeWords(number: number): string[] {
  return [
    ...['-device', `i82801b11-bridge,id=dmi_pci_bridge${number}`],
    '-device',
    `pci-bridge,id=pci-bridge${number},bus=dmi_pci_bridge${number},chassis_nr=0x1,addr=0x${number.toString(16)},shpc=off`,
  ];
}

/** After the adapters: guests name interfaces by their slots. */
function guestAgentWords({ guest_agent: isWanted }: Settings): string[] {
  if (isWanted !== true) return [];
  return [
    ...['-device', 'virtio-serial,id=labwire-agent'],
    ...['-chardev', `socket,id=labwire-agent,path=${AGENT_SOCKET},server=on,wait=off`],
    ...['-device', 'virtserialport,bus=labwire-agent.0,chardev=labwire-agent,name=org.qemu.guest_agent.0'],
  ];
}

function tpmWords({ tpm }: MachineCommand): string[] {
  if (tpm === undefined) return [];
  return [
    ...['-chardev', `socket,id=chrtpm,path=${escaped(tpm)}`, '-tpmdev', 'emulator,id=tpm0,chardev=chrtpm'],
    ...['-device', 'tpm-tis,tpmdev=tpm0'],
  ];
}
