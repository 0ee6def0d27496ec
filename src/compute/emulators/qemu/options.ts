// The user's options: fills in placeholders, splits words, and rejects everything that could read or write a file of
// the host, open a socket or start a program. Options not known to be harmless are refused.
import type { Failure } from '../../../failures.ts';
import { refusal } from './refusal.ts';
import { properties, splitWords } from './split-options.ts';

/** Options without a value that are harmless. */
const PLAIN = new Set(
  `-nographic -no-reboot -no-shutdown -no-hpet -no-acpi -no-fd-bootchk -no-user-config -nodefaults -usb -enable-kvm
   -win2k-hack -only-migratable -no-quit`
    .trim()
    .split(/\s+/),
);

/** Options with a list of properties, none of which may be one of those below. */
const LISTS = new Set(
  `-machine -M -cpu -smp -m -boot -vga -rtc -uuid -name -smbios -fw_cfg -icount -accel -overcommit -numa -usbdevice -g -k
   -watchdog -watchdog-action -action -global -device -object -append -no-fd -display -net -serial -parallel -monitor -chardev
   -audiodev -soundhw -balloon -vcpu -realtime -clock -acpitable-sig`
    .trim()
    .split(/\s+/),
);

/** Properties, in any option, that give access to the host: its files, sockets, programs, devices. */
const LEADS_OUT =
  /^(?:x-)?(?:.*file(?:name)?|.*path|.*dir|romfile|.*host(?:dev|addr|bus|port)?|sysfsdev|evdev|socket|fd|fds|vhost.*|chroot|script|downscript|helper|splash|kernel|initrd|dtb|dumpdtb|firmware|pflash\d*|drive|fsdev|netdev|chardev|data|mem-path|secret|tls-.*|rr.*|tpmdev|audiodev|logappend|property|memdev|unix|addr6?|to|dev|server|display|device|rendernode|gl|hidraw|vendorid|productid|wwpn|guest-cid|db|cert\d)$/;

/**
 * Properties that select the object's type. The first word of a list stands for one of them, and QEMU uses the last.
 */
const CHOOSES = /^(?:driver|qom-type|type|backend)$/;

/** Options whose whole value is text or flags. */
const FREE = new Set(['-append', '-name', '-cpu']);

/** Options that are harmless with one of these values. */
const WORDS: Readonly<Record<string, RegExp>> = {
  '-serial': /^(?:none|null|vc)$/,
  '-parallel': /^(?:none|null|vc)$/,
  // A monitor on the display could start programs.
  '-monitor': /^(?:none|null)$/,
  '-display': /^none$/,
  '-net': /^none$/,
  '-k': /^[a-z]{2}(?:-[a-z]{2})?$/,
  '-usbdevice': /^(?:tablet|mouse|keyboard)$/,
  '-chardev': /^(?:null|ringbuf),id=[\w.-]+(?:,size=\d+)?$/,
  // A secret given as text, for the display's password (see command.ts), not one read from a file.
  '-object':
    /^(?:(?:iothread|rng-builtin|memory-backend-ram|throttle-group)(?:,[\w.-]+=[\w.-]+)*|secret,id=console,data=[^,]{1,8})$/,
  '-audiodev': /^none,id=[\w.-]+$/,
  '-append': /^[\s\S]*$/,
  '-cpu': /^[\w.+-]+(?:,[+-]?[\w.-]+(?:=[\w.-]*)?)*$/,
  '-name': /^[\s\S]*$/,
};

/** Devices that only affect the guest. */
const DEVICES =
  /^(?:e1000.*|rtl8139|ne2k_.*|pcnet|i8255\w+|vmxnet3|virtio-(?:net|blk|scsi|rng|balloon|serial|gpu|vga|tablet|mouse|keyboard|crypto|iommu)(?:-.*)?|virtserialport|virtconsole|scsi-(?:hd|cd|block-none)|ide-(?:hd|cd)|nvme(?:-ns)?|ahci|ich9-ahci|lsi\w*|megasas.*|mptsas\w*|pvscsi|am53c974|usb-(?:tablet|mouse|kbd|hub|storage|wacom-tablet|ehci|audio)|.*-usb-.*hci\w*|nec-usb-xhci|qemu-xhci|piix\d-usb-uhci|ich9-usb-\w+|VGA|cirrus-vga|qxl(?:-vga)?|vmware-svga|bochs-display|secondary-vga|ati-vga|ramfb|pci-bridge|pcie-.*|i82801b11-bridge|ioh3420|x3130-upstream|xio3130-downstream|pxb.*|isa-(?:serial|debug-exit|parallel)|pci-serial.*|i6300esb|ib700|pvpanic.*|intel-iommu|amd-iommu|vmgenid|vmcoreinfo|hyperv-.*|edu|sga|kvm.*|.*-(?:x86_64|i386)-cpu)$/;

export interface Placeholders {
  name: string;
  nodeId: string;
  projectId: string;
  projectPath: string;
  /** The console's port, or the lowest free number from 3 on. */
  guestCid: number;
  console: number | null;
}

/**
 * The words of the options, ready for the command line.
 * @throws Failure `conflict` (`QemuError`) for an open quote and for harmful options, unless `unsafe`
 */
export function optionWords(options: string, given: Placeholders, unsafe: boolean): string[] {
  const words = splitWords(filledIn(options, given));
  if (unsafe) return words;
  withoutTerminal(words);
  judge(words);
  return words;
}

/**
 * Templates made for an interactive QEMU connect the guest's second serial port to its terminal. There is none here:
 * the port stays unconnected.
 */
function withoutTerminal(words: string[]): void {
  for (const [at, word] of words.entries()) {
    if (/^--?serial$/.test(words[at - 1] ?? '') && /^(?:mon:)?stdio$/.test(word)) words[at] = 'null';
  }
}

/** In double quotes, so that a name with blanks stays one word, with commas escaped for QEMU. */
function inQuotes(value: string): string {
  return `"${value.replace(/(["\\$`])/g, '\\$1').replaceAll(',', ',,')}"`;
}

function filledIn(options: string, given: Placeholders): string {
  const values: Record<string, string> = {
    'vm-name': inQuotes(given.name),
    'vm-id': given.nodeId,
    'project-id': given.projectId,
    'project-path': inQuotes(given.projectPath),
    'guest-cid': `${given.guestCid}`,
    ...(given.console === null ? {} : { 'console-port': `${given.console}` }),
  };
  return options.replace(/%([a-z-]+)%/g, (whole, name: string) => values[name] ?? whole);
}

function judge(words: readonly string[]): void {
  for (let at = 0; at < words.length; at += 1) {
    const option = words[at]!.replace(/^--(?=\w)/, '-');
    if (PLAIN.has(option)) continue;
    if (!LISTS.has(option)) throw unsafe(words[at]!);
    at += 1;
    const value = words[at];
    if (value === undefined) throw unsafe(`${option} without a value`);
    if (!isHarmless(option, value)) throw unsafe(`${option} ${value}`);
  }
}

function isHarmless(option: string, value: string): boolean {
  const words = WORDS[option];
  const list = properties(value);
  if (!FREE.has(option) && !isPlainList(list)) return false;
  if (words) return words.test(value);
  if (value.startsWith('{')) return false;
  if (option === '-global') return isHarmlessGlobal(list);
  if (
    option === '-device' &&
    !DEVICES.test(list[0]?.name === 'driver' ? (list[0].value ?? '') : (list[0]?.name ?? ''))
  ) {
    return false;
  }
  // A disk already defined on the command line may be attached to a device.
  const isOwnDrive = (name: string, named: string | undefined): boolean =>
    option === '-device' && name === 'drive' && /^drive[0-3]$/.test(named ?? '');
  return list.every(({ name, value: named }) => !LEADS_OUT.test(name) || isOwnDrive(name, named));
}

/** Whether no property occurs twice, and only the first word selects the type. */
function isPlainList(list: ReturnType<typeof properties>): boolean {
  const names = list.map(({ name }) => name);
  return new Set(names).size === names.length && !names.slice(1).some((name) => CHOOSES.test(name));
}

/** `driver.property=value`, whose property is the last word of the name. */
function isHarmlessGlobal(list: ReturnType<typeof properties>): boolean {
  const [first] = list;
  const name = /^[\w.-]+[.]([\w-]+)$/.exec(first?.name ?? '')?.[1];
  return list.length === 1 && first?.value !== undefined && name !== undefined && !LEADS_OUT.test(name);
}

function unsafe(what: string): Failure {
  const message = `options: "${what}" is not allowed, as it could reach files, sockets or programs of this host; leave it out, or set allow_unsafe_options in section [Qemu].`;
  return refusal(message);
}
