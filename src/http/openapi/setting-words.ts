// Texts for settings of nodes and templates, in the OpenAPI document and the forms made from it; shared by all kinds that have the setting.
// Loaded only for the document.

import { effectOf, READ_ONLY_PROPERTIES } from '../../api/kinds/kinds.ts';
import type { Json } from '../../events/json.ts';

export interface SettingWords {
  /** Label in a form. */
  title: string;
  description?: string;
  unit?: string;
  /** Multi-line text. */
  lines?: true;
  /** Names an image of its kind. */
  images?: true;
  /** Nodes with the default omit the member; a form shows it anyway. */
  absent?: true;
  /** Hidden input. */
  secret?: true;
}

const words = (title: string, description?: string, more: Omit<SettingWords, 'title' | 'description'> = {}) => ({
  title,
  ...(description !== undefined && { description }),
  ...more,
});

const slot = (number: number) => words(`Slot ${number}`, 'Card in this slot; empty for none.');
const wic = (number: number) => words(`WIC ${number}`, 'Interface card on the main board; empty for none.');
const drive = (letter: string) => ({
  [`hd${letter}_disk_image`]: words(`Disk ${letter.toUpperCase()}`, 'File of the disk image.', { images: true }),
  [`hd${letter}_disk_interface`]: words(
    `Interface of disk ${letter.toUpperCase()}`,
    'What the guest sees the disk at.',
  ),
  [`hd${letter}_disk_cache`]: words(
    `Cache of disk ${letter.toUpperCase()}`,
    'writeback, unless set, keeps what the guest has flushed; writethrough and directsync keep every write, but are slow.',
    { absent: true },
  ),
  [`hd${letter}_disk_image_md5sum`]: words(`Checksum of disk ${letter.toUpperCase()}`, 'MD5.'),
});

/** By form group and name, in the form's order; those without a group first. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, SettingWords>>>> = {
  '': {
    template_type: words('Type', 'Kind of its nodes; it cannot be changed later.'),
    name: words('Name'),
    symbol: words('Symbol', 'Its picture.'),
    category: words('Category', 'Where lists show it.'),
    compute_id: words('Host', 'Where its nodes are made; it cannot be changed later.'),
    default_name_format: words('Names of nodes', '{name} is the name of the template, {0} a number.'),
    usage: words('Notes', 'What people should know to use it: users, passwords, first steps.', { lines: true }),
    node_id: words('Id of the node'),
    project_id: words('Id of the project'),
    template_id: words('Id of the template'),
    builtin: words('Built in'),
    status: words('State'),
    node_directory: words('Directory', 'Where its files are.'),
    command_line: words('Command line'),
    halt_reason: words('Halted because', 'Absent unless QEMU has halted the node.'),
    locked: words('Locked', 'It stays where it is on the map.'),
    start_order: words('Start order', 'When all are started: nodes with a lower number come first.'),
    start_delay: words('Delay', 'Time between the start of the nodes before and its own.', { unit: 's' }),
  },
  Host: {
    protocol: words('Protocol', 'Certificates are not checked with https.'),
    host: words('Address', 'Name or IP address, IPv6 without brackets.'),
    port: words('Port', 'Where its server listens, 3080 as a rule.'),
    user: words('User', 'If its server asks for one.'),
    password: words('Password', undefined, { secret: true }),
  },
  Machine: {
    platform: words('Platform', 'Architecture of the guest.'),
    chassis: words('Chassis'),
    npe: words('Processor board', 'NPE of a c7200.'),
    midplane: words('Midplane', 'Of a c7200.'),
    image: words('Image', 'Name and tag of the image; one that is missing is pulled.', { images: true }),
    path: words('Image', 'File of the IOU image.', { images: true }),
    vmname: words('Machine', 'Its name in VirtualBox.'),
    vmx_path: words('Machine', 'Path of its .vmx file.'),
    application_id: words('Number', 'From 1 to 511, each once on a host.'),
    dynamips_id: words('Number', 'Of the router in the project.'),
    image_md5sum: words('Checksum of the image', 'MD5.'),
    md5sum: words('Checksum of the image', 'MD5.'),
    container_id: words('Id of the container'),
    use_default_iou_values: words('Sizes of the image', 'Memory and NVRAM as the image has them.'),
    ram: words('Memory', undefined, { unit: 'MiB' }),
    nvram: words('NVRAM', 'Memory that keeps the configuration.', { unit: 'KiB' }),
    iomem: words('I/O memory', 'Part of the memory that is for packets.', { unit: '%' }),
    cpus: words('Processors', 'Virtual processors.'),
    qemu_path: words('Emulator', 'Program that runs it; by its platform unless given.'),
    linked_clone: words(
      'Disks of its own',
      'On: each node has files of its own. Off: nodes write to the image itself.',
    ),
    startup_config: words('Start-up configuration', 'File among the configurations that new nodes begin with.'),
    private_config: words('Private configuration', 'File among the configurations that new nodes begin with.'),
    startup_config_content: words('Start-up configuration', 'Text that the node begins with.', { lines: true }),
    private_config_content: words('Private configuration', 'Text that the node begins with.', { lines: true }),
    base_script_file: words('Start-up script', 'File among the configurations that new PCs begin with.'),
    startup_script: words('Start-up script', 'Commands that the PC runs when it starts.', { lines: true }),
    start_command: words('Start command', 'In place of the command of the image.'),
    environment: words('Environment', 'One variable a line: NAME=value.', { lines: true }),
    extra_volumes: words('Volumes', 'Directories of the container that are kept with the node, one a line.'),
    ip_address: words('Address', 'IPv4, such as 10.0.0.1.'),
    default_destination: words('Destination', 'Address that is traced.'),
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
    disk0: words('Disk 0', 'Size of the PCMCIA disk; 0 for none.', { unit: 'MiB' }),
    disk1: words('Disk 1', 'Size of the PCMCIA disk; 0 for none.', { unit: 'MiB' }),
    auto_delete_disks: words('Forget disks and NVRAM', 'They are deleted when the router stops.'),
  },
  Cards: {
    ...Object.fromEntries([0, 1, 2, 3, 4, 5, 6].map((number) => [`slot${number}`, slot(number)])),
    ...Object.fromEntries([0, 1, 2].map((number) => [`wic${number}`, wic(number)])),
  },
  Network: {
    adapters: words('Adapters', 'Network adapters.'),
    ethernet_adapters: words('Ethernet adapters', 'Of four ports each.'),
    serial_adapters: words('Serial adapters', 'Of four ports each.'),
    adapter_type: words('Type of adapters', 'Model that the guest sees.'),
    mac_address: words('MAC address', 'Of the first adapter; the others count on. Chosen by the server unless given.'),
    mac_addr: words('Base MAC address', 'hhhh.hhhh.hhhh; chosen by the server unless given.'),
    replicate_network_connection_state: words('Cables follow links', 'The guest sees a cable only where a link is.'),
    legacy_networking: words('Legacy networking', 'No QEMU of today has it.'),
    use_any_adapter: words('Take over adapters', 'Also adapters that something else on the host uses.'),
    l1_keepalives: words('Layer 1 keepalives', 'Ports go down when the other end does. Not all images can do it.'),
    extra_hosts: words('Hosts', 'Lines for /etc/hosts, name:address.', { lines: true }),
    ports_mapping: words('Ports'),
    port_number: words('Number'),
    interfaces: words('Interfaces of the host'),
    special: words('Special'),
    type: words('Type'),
    vlan: words('VLAN', 'Of an access port; the native one of a trunk; the outer one of a tunnel.'),
    ethertype: words('Ethertype', 'Of the outer tag of a tunnel (qinq).'),
    interface: words('Interface', 'Of the host.'),
    lport: words('Own port', 'UDP port on this host.'),
    rhost: words('Other host', 'Name or address of the other end of the tunnel.'),
    rport: words('Other port', 'UDP port of the other end.'),
    mappings: words('Circuits', 'Virtual circuits, both directions each.'),
    first_port_name: words('Name of the first port', 'Such as mgmt0; the others follow the format.'),
    port_name_format: words('Names of ports', '{0} or {port0} counts from 0, {port1} from 1, {segment0} the segments.'),
    port_segment_size: words('Ports a segment', 'After so many the segment in the names goes up; 0 for none.'),
    custom_adapters: words('Adapters that differ', 'Those with a name, type or MAC address of their own.'),
    adapter_number: words('Adapter'),
    port_name: words('Name of the port'),
  },
  Console: {
    console_type: words('Console type', 'How the console is reached.'),
    console: words('Console port', 'TCP port of the console; the server chooses one unless given.'),
    aux: words('Auxiliary port', 'TCP port of the second console.'),
    console_auto_start: words('Open the console at start'),
    console_resolution: words('Screen', 'Width and height of a VNC console, such as 1024x768.'),
    console_http_port: words('Web port', 'Port in the container that an http console leads to.'),
    console_http_path: words('Web path', 'Path that an http console opens.'),
    remote_console_type: words('Console type', 'Of what is behind the cloud.'),
    remote_console_host: words('Console host', 'Where the console of what is behind the cloud is.'),
    remote_console_port: words('Console port'),
    remote_console_http_path: words('Console path', 'Path of a web console.'),
  },
  More: {
    headless: words('Without a window', 'Its program shows no window on the host.'),
    on_close: words('When it is stopped', 'Switch it off, ask the guest to shut down, or keep its state.'),
    cpu_throttling: words('Processor limit', 'Share of one processor that it may take; 0 for no limit.', { unit: '%' }),
    process_priority: words('Priority', 'Of its process on the host.'),
    options: words('More options', 'Words for the command line of the emulator.'),
    idlepc: words('Idle value', 'Address at which the router idles; without one it takes a whole processor.'),
    idlemax: words('Idle count', 'Times that it idles before it sleeps.'),
    idlesleep: words('Idle sleep', undefined, { unit: 'ms' }),
    exec_area: words('Translation cache', undefined, { unit: 'MiB' }),
    mmap: words('Memory as a file', 'Routers of one image share what they have not written.'),
    sparsemem: words('Sparse memory', 'Memory is taken from the host when it is used.'),
    clock_divisor: words('Clock divisor', 'Slows the clock of the router.'),
    system_id: words('Serial number', 'Of the chassis.'),
    sensors: words('Temperatures', 'Of the four sensors of a c7200.'),
    power_supplies: words('Power supplies', 'Of a c7200: 1 for on, 0 for off.'),
  },
};

const GROUP_OF = new Map(
  Object.entries(GROUPS).flatMap(([group, settings]) => Object.keys(settings).map((name) => [name, group])),
);
const SETTINGS: Readonly<Record<string, SettingWords>> = Object.assign({}, ...Object.values(GROUPS));
const ORDER = Object.keys(SETTINGS);

/** Kinds where a name has another meaning. */
const OF_KIND: Readonly<Record<string, Readonly<Record<string, SettingWords>>>> = {
  dynamips: {
    image: words('Image', 'File of the IOS image.', { images: true }),
    platform: words('Series', 'Such as c7200.'),
  },
  virtualbox: { ram: words('Memory', "0 leaves the machine's own.", { unit: 'MiB' }) },
};

/** The text for a setting of a kind of node. */
export function settingWords(kind: string | undefined, name: string): SettingWords | undefined {
  return OF_KIND[kind ?? '']?.[name] ?? SETTINGS[name];
}

/** Clients may send these back; they are ignored. */
const READ_ONLY: ReadonlySet<string> = new Set([...READ_ONLY_PROPERTIES, 'template_id', 'builtin', 'halt_reason']);

/** Bodies that contain such settings. */
const BODIES =
  /^\/v2\/(compute\/projects\/\{project_id\}\/\w+\/nodes|projects\/\{project_id\}\/nodes|templates|computes)(\/|$)/;
const KIND = /^\/v2\/compute\/projects\/\{project_id\}\/(\w+)\/nodes/;

/** The route's body schema with texts for its settings. */
export function describedBody(schema: Node, pattern: string): Node {
  if (!BODIES.test(pattern)) return schema;
  const type = KIND.exec(pattern)?.[1];
  // A template's type gives the kind; its settings apply to nodes created later.
  return type === undefined ? described(schema, kindOfTemplate(schema)) : described(schema, type, true);
}

type Node = { [member: string]: Json };

function kindOfTemplate({ properties }: Node): string | undefined {
  const type = isNode(properties) ? properties['template_type'] : undefined;
  return isNode(type) && typeof type['const'] === 'string' ? type['const'] : undefined;
}

/** Adds texts to the schema, also within lists. `kind` is the type of the node, if `ofNode`, or of the template. */
function described(schema: Node, kind: string | undefined, ofNode = false): Node {
  const result: Node = { ...schema };
  for (const member of ['oneOf', 'anyOf', 'prefixItems'] as const) {
    const forms = schema[member];
    if (Array.isArray(forms)) result[member] = forms.map((form) => (isNode(form) ? described(form, kind) : form));
  }
  if (isNode(schema['items'])) result['items'] = described(schema['items'], undefined);
  if (!isNode(schema['properties'])) return result;
  result['properties'] = Object.fromEntries(
    Object.entries(schema['properties']).map(([name, property]) => [
      name,
      setting(name, property as Node, kind, ofNode),
    ]),
  );
  return result;
}

function setting(name: string, property: Node, kind: string | undefined, ofNode: boolean): Node {
  const found = settingWords(kind, name);
  const inner = described(property, undefined);
  if (!found) return inner;
  const { title, description, unit, lines, images, absent, secret } = found;
  const effect = ofNode ? effectOf(kind!, name) : undefined;
  return {
    ...inner,
    title,
    ...(description !== undefined && { description }),
    'x-order': ORDER.indexOf(name),
    ...(GROUP_OF.get(name) && { 'x-group': GROUP_OF.get(name)! }),
    ...(READ_ONLY.has(name) && { readOnly: true }),
    ...(absent && { 'x-absent': true }),
    ...(unit !== undefined && { 'x-unit': unit }),
    ...(lines && { 'x-lines': true }),
    ...(secret && { 'x-secret': true }),
    ...(images && kind !== undefined && { 'x-images': kind }),
    ...(effect && effect !== 'live' && { 'x-effect': effect }),
  };
}

function isNode(value: Json | undefined): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
