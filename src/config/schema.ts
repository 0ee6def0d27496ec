// All configuration keys: section, type and default. Values are text from a file, variable or flag. Keys and defaults follow release
// 2.2.57's gns3_server.conf where it has them.
import * as v from 'valibot';
import { releasesOf } from '../api/releases.ts';
import { isNetwork } from '../host/network/address-lists.ts';
import { parseSubnet } from '../host/network/ipv4.ts';

const flag = v.pipe(
  v.string(),
  v.toLowerCase(),
  v.picklist(['true', 'yes', 'on', '1', 'false', 'no', 'off', '0'], 'use true or false'),
  v.transform((text) => ['true', 'yes', 'on', '1'].includes(text)),
);

/** Left to where the server listens. */
const automatic = v.pipe(v.string(), v.toLowerCase(), v.literal('automatic', 'use automatic, true or false'));

const whole = (lowest: number, highest: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,9}$/, `use a whole number from ${lowest} to ${highest}`),
    v.transform(Number),
    v.minValue(lowest, `use a whole number from ${lowest} to ${highest}`),
    v.maxValue(highest, `use a whole number from ${lowest} to ${highest}`),
  );

const port = whole(1, 65535);
const text = v.string();
/** A variable from a missing secret may hold only a blank or a line break. */
const unlessBlank = v.pipe(
  text,
  v.transform((value) => (value.trim() === '' ? '' : value)),
);
const list = (separator: string) =>
  v.pipe(
    v.string(),
    v.transform((value) =>
      value
        .split(separator)
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    ),
  );

const NAT_SUBNET_FIX = 'use a network of 6 addresses or more, such as 192.168.122.0/24, or leave it empty';

function isNatSubnet(value: string): boolean {
  const prefix = parseSubnet(value)?.prefix ?? 0;
  return value === '' || (prefix >= 8 && prefix <= 29);
}

/** Empty: no cluster. */
const CLUSTER_NAME = /^([a-z][a-z0-9-]{0,29})?$/;

/** `[Server]`; an empty path means its default below the state directory. */
const Server = v.strictObject({
  host: v.optional(v.pipe(text, v.nonEmpty('name an address to listen on')), '127.0.0.1'),
  port: v.optional(whole(0, 65535), '3080'),
  socket_path: v.optional(v.pipe(text, v.regex(/^(\/.+|off|)$/, 'name an absolute path, or off')), ''),
  /** `https` is another way to say `ssl`. */
  protocol: v.optional(v.picklist(['http', 'https'], 'use http or https'), 'http'),
  ssl: v.optional(flag, 'false'),
  certfile: v.optional(text, ''),
  certkey: v.optional(text, ''),
  local: v.optional(flag, 'false'),
  allow_remote_console: v.optional(flag, 'false'),
  auth: v.optional(v.union([automatic, flag], 'use automatic, true or false'), 'automatic'),
  user: v.optional(unlessBlank, ''),
  password: v.optional(unlessBlank, ''),
  insecure: v.optional(flag, 'false'),
  allowed_hosts: v.optional(list(','), ''),
  allowed_origins: v.optional(list(','), ''),
  trusted_proxies: v.optional(
    v.pipe(list(','), v.everyItem(isNetwork, 'use addresses or networks, such as 127.0.0.1 or 10.0.0.0/8')),
    '',
  ),
  images_path: v.optional(text, ''),
  additional_images_path: v.optional(list(';'), ''),
  projects_path: v.optional(text, ''),
  appliances_path: v.optional(text, ''),
  symbols_path: v.optional(text, ''),
  configs_path: v.optional(text, ''),
  resources_path: v.optional(text, ''),
  console_start_port_range: v.optional(port, '5000'),
  console_end_port_range: v.optional(port, '10000'),
  vnc_console_start_port_range: v.optional(whole(5900, 65535), '5900'),
  vnc_console_end_port_range: v.optional(whole(5900, 65535), '10000'),
  udp_start_port_range: v.optional(port, '20000'),
  udp_end_port_range: v.optional(port, '30000'),
  fabric_threads: v.optional(whole(1, 16)),
  native_frame_loop: v.optional(v.picklist(['automatic', 'off'], 'use automatic or off'), 'automatic'),
  kernel_links: v.optional(v.picklist(['automatic', 'off'], 'use automatic or off'), 'automatic'),
  vxlan_port: v.optional(whole(0, 65535), '14789'),
  ubridge_path: v.optional(text, 'ubridge'),
  nodes_on_stop: v.optional(v.picklist(['stop', 'keep'], 'use stop or keep'), 'stop'),
  monitor_host: v.optional(text, '127.0.0.1'),
  allowed_interfaces: v.optional(list(','), ''),
  default_nat_interface: v.optional(text, 'virbr0'),
  nat_network: v.optional(v.picklist(['automatic', 'off'], 'use automatic or off'), 'automatic'),
  nat_subnet: v.optional(v.pipe(text, v.check(isNatSubnet, NAT_SUBNET_FIX)), ''),
  enable_builtin_templates: v.optional(flag, 'true'),
  install_builtin_appliances: v.optional(flag, 'true'),
  hardware_virtualization_check: v.optional(flag, 'true'),
  report_errors: v.optional(flag, 'true'),
  record: v.optional(text, ''),
  debug: v.optional(flag, 'false'),
  quiet: v.optional(flag, 'false'),
  log: v.optional(text, ''),
  shell: v.optional(flag, 'false'),
  auto_close_grace: v.optional(whole(1, 86_400), '30'),
  version: v.optional(
    v.pipe(
      text,
      v.rawTransform(({ dataset, addIssue, NEVER }) => {
        const releases = releasesOf(dataset.value);
        if (releases !== undefined) return releases;
        addIssue({ message: 'use a release such as 2.2.57 or 3.0.6, or one of each with a comma between' });
        return NEVER;
      }),
    ),
    '',
  ),
});

const Vpcs = v.strictObject({
  engine: v.optional(v.picklist(['automatic', 'vpcs', 'built-in'], 'use automatic, vpcs or built-in'), 'automatic'),
  vpcs_path: v.optional(text, 'vpcs'),
});
const TraceNg = v.strictObject({ traceng_path: v.optional(text, 'traceng') });
const Dynamips = v.strictObject({
  dynamips_path: v.optional(text, 'dynamips'),
  mmap_support: v.optional(flag, 'true'),
  sparse_memory_support: v.optional(flag, 'true'),
  ghost_ios_support: v.optional(flag, 'true'),
  allocate_aux_console_ports: v.optional(flag, 'false'),
});
const Iou = v.strictObject({ iourc_path: v.optional(text, ''), license_check: v.optional(flag, 'true') });
const Docker = v.strictObject({
  socket_path: v.optional(
    v.pipe(text, v.startsWith('/', 'name the socket by its absolute path')),
    '/var/run/docker.sock',
  ),
  privileged: v.optional(v.picklist(['automatic', 'always', 'never'], 'use automatic, always or never'), 'automatic'),
});
const Qemu = v.strictObject({
  enable_hardware_acceleration: v.optional(flag, 'true'),
  require_hardware_acceleration: v.optional(flag, 'true'),
  enable_kvm: v.optional(flag),
  require_kvm: v.optional(flag),
  monitor: v.optional(flag, 'true'),
  allow_unsafe_options: v.optional(flag, 'false'),
  frames: v.optional(v.picklist(['automatic', 'tap', 'udp'], 'use automatic, tap or udp'), 'automatic'),
});
const VirtualBox = v.strictObject({ vboxmanage_path: v.optional(text, '') });
const VMware = v.strictObject({
  vmrun_path: v.optional(text, ''),
  vmnet_start_range: v.optional(whole(0, 255), '2'),
  vmnet_end_range: v.optional(whole(0, 255), '255'),
  block_host_traffic: v.optional(flag, 'false'),
});

/** The only cluster in which this host may take part; empty for the one that it joined, if any. */
const Cluster = v.strictObject({
  name: v.optional(
    v.pipe(text, v.regex(CLUSTER_NAME, 'use lower-case letters, digits and "-", 30 at most, beginning with a letter')),
    '',
  ),
  /** 0: never. */
  failover_seconds: v.optional(whole(0, 86_400), '15'),
  checkpoint_seconds: v.optional(whole(1, 86_400), '60'),
  /** Hosts that are to have each image of a node. */
  image_copies: v.optional(whole(1, 100), '2'),
});

/** Section name of the file -> its schema. */
export const SECTIONS = {
  Server,
  VPCS: Vpcs,
  TraceNG: TraceNg,
  Dynamips,
  IOU: Iou,
  Docker,
  Qemu,
  VirtualBox,
  VMware,
  Cluster,
} as const;

export type SectionName = keyof typeof SECTIONS;

/** Keys of the release that have no effect here. */
export const WITHOUT_EFFECT: { readonly [Name in SectionName]?: readonly string[] } = {
  Server: ['ubridge_path', 'monitor_host', 'hardware_virtualization_check', 'report_errors', 'shell'],
  TraceNG: ['traceng_path'],
  Dynamips: ['allocate_aux_console_ports'],
  Qemu: ['monitor'],
  VMware: ['block_host_traffic'],
};
export type Sections = { readonly [Name in SectionName]: Readonly<v.InferOutput<(typeof SECTIONS)[Name]>> };

/** The whole configuration: read once, frozen, handed down. Paths are absolute and never empty. */
export interface Config extends Omit<Sections, 'Server'> {
  /** `auth` as it was decided. */
  readonly Server: Readonly<Omit<Sections['Server'], 'auth'>> & { readonly auth: boolean };
  /** The directory below which everything lives that no other key places elsewhere. */
  readonly state: string;
  /** Directory of the configuration file in use, or the state directory. */
  readonly directory: string;
}
