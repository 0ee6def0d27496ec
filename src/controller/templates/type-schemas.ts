// The members and defaults of each template type (as in release 2.2.57).
import * as v from 'valibot';
import { type Schema, validated } from '../../http/validation.ts';
import { CustomAdapter, Integer, Text } from '../../store/vocabulary.ts';
import { DYNAMIPS_PLATFORMS, Platform } from './dynamips-schemas.ts';
import { commonMembers, consoleMembers, flag, integer, text } from './members.ts';

const between = (lowest: number, highest: number) => v.pipe(Integer, v.minValue(lowest), v.maxValue(highest));

/** An array of which only the first element is checked, as the release does: the compute has the last word on the rest. */
function positional(first: Schema): v.GenericSchema<unknown[], unknown[]> {
  return v.lazy((value) => (Array.isArray(value) && value.length === 0 ? v.tuple([]) : v.looseTuple([first])));
}

const PortNumber = v.pipe(Integer, v.minValue(0));
const port = { name: Text, port_number: PortNumber };
const UdpPort = between(1, 65535);

const CloudPort = v.variant('type', [
  v.strictObject({ ...port, type: v.literal('ethernet'), interface: Text }),
  v.strictObject({ ...port, type: v.literal('tap'), interface: Text }),
  v.strictObject({ ...port, type: v.literal('udp'), lport: UdpPort, rhost: Text, rport: UdpPort }),
]);

const SwitchPort = v.strictObject({
  ...port,
  type: v.picklist(['access', 'dot1q', 'qinq']),
  vlan: v.optional(v.pipe(Integer, v.minValue(1))),
  ethertype: v.optional(v.picklist(['', '0x8100', '0x88A8', '0x9100', '0x9200'])),
});

/** The eight ports that hubs and switches have unless told otherwise. */
function eightPorts<More extends object>(more: More) {
  return Array.from({ length: 8 }, (_, index) => ({ port_number: index, name: `Ethernet${index}`, ...more }));
}

const hiddenConsoleMembers = { ...consoleMembers, console_type: v.optional(v.picklist(['telnet', 'none']), 'none') };

const portNameMembers = {
  first_port_name: text(),
  port_name_format: text('Ethernet{0}'),
  port_segment_size: integer(0),
};

const customAdapters = v.optional(v.array(CustomAdapter), []);
const onClose = v.optional(v.picklist(['power_off', 'shutdown_signal', 'save_vm_state']), 'power_off');
const macAddress = v.optional(
  v.nullable(v.pipe(v.string(), v.regex(/^(([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2})?$/, 'a MAC address xx:xx:xx:xx:xx:xx'))),
  '',
);

const diskInterface = v.optional(
  v.picklist(['ide', 'sata', 'nvme', 'scsi', 'sd', 'mtd', 'floppy', 'pflash', 'virtio', 'none']),
  'none',
);

const cloud = v.strictObject({
  ...commonMembers('Cloud{0}', ':/symbols/cloud.svg', 'guest'),
  ports_mapping: v.optional(positional(CloudPort), []),
  remote_console_host: v.optional(Text, '127.0.0.1'),
  remote_console_port: v.optional(between(1, 65535), 23),
  remote_console_type: v.optional(v.picklist(['telnet', 'vnc', 'spice', 'http', 'https', 'none']), 'none'),
  remote_console_http_path: v.optional(Text, '/'),
});

const ethernetHub = v.strictObject({
  ...commonMembers('Hub{0}', ':/symbols/hub.svg', 'switch'),
  ports_mapping: v.optional(positional(v.strictObject(port)), eightPorts({})),
});

const ethernetSwitch = v.strictObject({
  ...commonMembers('Switch{0}', ':/symbols/ethernet_switch.svg', 'switch'),
  ports_mapping: v.optional(positional(SwitchPort), eightPorts({ type: 'access', vlan: 1, ethertype: '' })),
  console_type: hiddenConsoleMembers.console_type,
});

const vpcs = v.strictObject({
  ...commonMembers('PC{0}', ':/symbols/vpcs_guest.svg', 'guest'),
  ...consoleMembers,
  base_script_file: v.optional(Text, 'vpcs_base_config.txt'),
});

const traceng = v.strictObject({
  ...commonMembers('TraceNG{0}', ':/symbols/traceng.svg', 'guest'),
  ip_address: v.optional(Text),
  default_destination: v.optional(Text),
  console_type: v.optional(v.picklist(['none']), 'none'),
});

const docker = v.strictObject({
  ...commonMembers('{name}-{0}', ':/symbols/docker_guest.svg', 'guest'),
  ...consoleMembers,
  image: Text,
  usage: text(),
  adapters: v.optional(between(0, 99), 1),
  mac_address: macAddress,
  start_command: text(),
  environment: text(),
  console_type: v.optional(v.picklist(['telnet', 'vnc', 'http', 'https', 'none']), 'telnet'),
  console_http_port: v.optional(between(1, 65535), 80),
  console_http_path: v.optional(Text, '/'),
  console_resolution: v.optional(
    v.pipe(v.string(), v.regex(/^[0-9]+x[0-9]+$/, 'width x height, such as 1024x768')),
    '1024x768',
  ),
  extra_hosts: text(),
  extra_volumes: v.optional(v.array(v.unknown()), []),
  custom_adapters: customAdapters,
});

const qemu = v.strictObject({
  ...commonMembers('{name}-{0}', ':/symbols/qemu_guest.svg', 'guest'),
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
  process_priority: v.optional(v.picklist(['realtime', 'very high', 'high', 'normal', 'low', 'very low']), 'normal'),
  options: text(),
  custom_adapters: customAdapters,
});

const iou = v.strictObject({
  ...commonMembers('IOU{0}', ':/symbols/multilayer_switch.svg', 'router'),
  ...consoleMembers,
  path: Text,
  usage: text(),
  ethernet_adapters: integer(2),
  serial_adapters: integer(2),
  ram: integer(1024),
  nvram: integer(256),
  use_default_iou_values: flag(false),
  startup_config: text('iou_l3_base_startup-config.txt'),
  private_config: text(),
  l1_keepalives: flag(false),
});

const virtualbox = v.strictObject({
  ...commonMembers('{name}-{0}', ':/symbols/vbox_guest.svg', 'guest'),
  ...hiddenConsoleMembers,
  ...portNameMembers,
  vmname: Text,
  usage: text(),
  ram: v.optional(between(0, 65535), 256),
  linked_clone: flag(false),
  adapters: v.optional(between(0, 36), 1),
  use_any_adapter: flag(false),
  adapter_type: v.optional(
    v.picklist([
      'PCnet-PCI II (Am79C970A)',
      'PCNet-FAST III (Am79C973)',
      'Intel PRO/1000 MT Desktop (82540EM)',
      'Intel PRO/1000 T Server (82543GC)',
      'Intel PRO/1000 MT Server (82545EM)',
      'Paravirtualized Network (virtio-net)',
    ]),
    'Intel PRO/1000 MT Desktop (82540EM)',
  ),
  headless: flag(false),
  on_close: onClose,
  custom_adapters: customAdapters,
});

const vmware = v.strictObject({
  ...commonMembers('{name}-{0}', ':/symbols/vmware_guest.svg', 'guest'),
  ...hiddenConsoleMembers,
  ...portNameMembers,
  vmx_path: Text,
  usage: text(),
  linked_clone: flag(false),
  adapters: v.optional(between(0, 10), 1),
  adapter_type: v.optional(
    v.picklist(['default', 'e1000', 'e1000e', 'flexible', 'vlance', 'vmxnet', 'vmxnet2', 'vmxnet3']),
    'e1000',
  ),
  use_any_adapter: flag(false),
  headless: flag(false),
  on_close: onClose,
  custom_adapters: customAdapters,
});

const TYPES: Record<string, TypeSchema> = {
  cloud,
  ethernet_hub: ethernetHub,
  ethernet_switch: ethernetSwitch,
  vpcs,
  traceng,
  docker,
  qemu,
  iou,
  virtualbox,
  vmware,
};

/** All members of a type; others are refused, missing ones get their defaults. */
export type TypeSchema = v.GenericSchema<unknown, Record<string, unknown>> & { entries: v.ObjectEntries };

/**
 * The schema of the type that these settings name, and, of a router, of its platform; undefined for types that have no
 * settings of their own to keep.
 * @throws Failure `invalid` for a router without a known platform
 */
export function typeSchema(settings: { template_type: string; platform?: unknown }): TypeSchema | undefined {
  if (settings.template_type === 'dynamips') return DYNAMIPS_PLATFORMS[validated(Platform, settings).platform];
  return TYPES[settings.template_type];
}

/** The same, but every member may be missing, and members that the type does not have pass. */
export function partialTypeSchema(settings: { template_type: string; platform?: unknown }): Schema {
  return v.looseObject(v.partial(v.object(typeSchema(settings)?.entries ?? {})).entries);
}
