// The built-in symbols by name, size and theme (as in release 2.2.57). Their pictures are in src/assets/symbols; bin/symbols draws them.

/** In pixels. */
export interface SymbolSize {
  width: number;
  height: number;
}

/** Classic symbols: name -> [width, height]. */
const CLASSIC = {
  PBX: [51, 48],
  PIX_firewall: [66, 45],
  access_point: [72, 32],
  access_server: [51, 48],
  asa: [52, 60],
  atm_bridge: [72, 32],
  atm_switch: [51, 48],
  call_manager: [75, 47],
  cloud: [159, 71],
  computer: [65, 59],
  docker_guest: [65, 59],
  dslam: [50, 53],
  edge_label_switch_router: [66, 45],
  ethernet_switch: [72, 32],
  firewall: [66, 45],
  frame_relay_switch: [51, 48],
  gateway: [66, 56],
  hub: [72, 32],
  ids: [51, 48],
  iosv_l2_virl: [51, 48],
  iosv_virl: [66, 56],
  ip_phone: [40, 25],
  label_switch_router: [66, 56],
  lightweight_ap: [72, 32],
  multilayer_switch: [51, 48],
  nat: [159, 71],
  optical_router: [66, 56],
  printer: [68, 67],
  qemu_guest: [65, 59],
  route_switch_processor: [51, 66],
  'router.awp': [70, 50],
  router: [66, 45],
  router_firewall: [66, 45],
  router_netflow: [66, 45],
  server: [49, 70],
  sip_server: [40, 60],
  traceng: [65, 59],
  vbox_guest: [65, 59],
  vmware_guest: [65, 59],
  voice_access_server: [51, 48],
  voice_router: [66, 45],
  vpcs_guest: [65, 59],
  wlan_controller: [72, 32],
} as const satisfies Record<string, readonly [number, number]>;

export type ClassicName = keyof typeof CLASSIC;

const AFFINITY = [
  'atm',
  'bug',
  'camera',
  'camera_dome',
  'client',
  'client_vm',
  'cloud',
  'coffee',
  'cog',
  'communications',
  'conversation',
  'dna',
  'dna2',
  'docker',
  'dslam',
  'factory',
  'fingerprint',
  'firewall',
  'firewall3',
  'globe',
  'grid',
  'grid2',
  'health',
  'house',
  'hub',
  'inspect',
  'inspect2',
  'interconnect',
  'ip_phone',
  'isdn',
  'laptop',
  'ldap',
  'light_bulb',
  'link',
  'loadbalancer',
  'nas',
  'nat',
  'nat2',
  'office',
  'optical',
  'phone_cloud',
  'phone_old',
  'phone_wireless',
  'pinpoint',
  'printer',
  'rj45',
  'router',
  'router2',
  'router_cloud',
  'satellite',
  'satellite_dish',
  'scull',
  'server',
  'server_cluster',
  'shield',
  'statistics',
  'storage',
  'switch',
  'switch_multilayer',
  'tablet',
  'template',
  'tree',
  'user',
  'virtualbox',
  'vm',
  'vmware',
  'vrf',
  'wifi',
  'wlc',
  'xml',
] as const;

export type AffinityName = (typeof AFFINITY)[number];

const SHAPES = ['circle', 'square'] as const;
const COLOURS = ['blue', 'gray', 'green', 'red'] as const;

export type AffinityShape = (typeof SHAPES)[number];
export type AffinityColour = (typeof COLOURS)[number];

const AFFINITY_SIZE: SymbolSize = { width: 60, height: 60 };

interface BuiltinCommon {
  /** `:/symbols/<folder>/<file>`. */
  readonly id: string;
  readonly file: string;
  readonly theme: string;
  readonly size: SymbolSize;
}

/** The parts of a built-in symbol for drawing it. */
export type BuiltinSymbol = BuiltinCommon &
  (
    | { readonly set: 'classic'; readonly name: ClassicName }
    | {
        readonly set: 'affinity';
        readonly name: AffinityName;
        readonly shape: AffinityShape;
        readonly colour: AffinityColour;
      }
  );

/** Used instead of every missing symbol. */
export const FALLBACK_ID = ':/symbols/classic/computer.svg';

function classic(name: ClassicName): BuiltinSymbol {
  const [width, height] = CLASSIC[name];
  const file = `${name}.svg`;
  return { set: 'classic', name, id: `:/symbols/classic/${file}`, file, theme: 'Classic', size: { width, height } };
}

function affinity(name: AffinityName, shape: AffinityShape, colour: AffinityColour): BuiltinSymbol {
  const file = `${name}.svg`;
  const id = `:/symbols/affinity/${shape}/${colour}/${file}`;
  return { set: 'affinity', name, shape, colour, id, file, theme: `Affinity-${shape}-${colour}`, size: AFFINITY_SIZE };
}

/** Every built-in symbol, sorted by theme. */
export function* builtinSymbols(): Generator<BuiltinSymbol> {
  for (const shape of SHAPES) {
    for (const colour of COLOURS) for (const name of AFFINITY) yield affinity(name, shape, colour);
  }
  for (const name of Object.keys(CLASSIC)) yield classic(name as ClassicName);
}

const ID = new RegExp(`^:/symbols/(?:classic|affinity/(${SHAPES.join('|')})/(${COLOURS.join('|')}))/([^/]+)\\.svg$`);

/** The built-in symbol with exactly this id. */
export function builtinSymbol(id: string): BuiltinSymbol | undefined {
  const [, shape, colour, name = ''] = ID.exec(id) ?? [];
  if (shape === undefined) return Object.hasOwn(CLASSIC, name) ? classic(name as ClassicName) : undefined;
  if (!AFFINITY.includes(name as AffinityName)) return undefined;
  return affinity(name as AffinityName, shape as AffinityShape, colour as AffinityColour);
}

/** The symbols of each device role: in the classic set and in the affinity sets. */
const ROLES: Record<string, [ClassicName, AffinityName]> = {
  cloud: ['cloud', 'cloud'],
  nat: ['nat', 'nat'],
  ethernet_switch: ['ethernet_switch', 'switch'],
  ethernet_hub: ['hub', 'hub'],
  frame_relay_switch: ['frame_relay_switch', 'isdn'],
  atm_switch: ['atm_switch', 'atm'],
  router: ['router', 'router'],
  multilayer_switch: ['multilayer_switch', 'switch_multilayer'],
  firewall: ['firewall', 'firewall3'],
  computer: ['computer', 'client'],
  vpcs_guest: ['vpcs_guest', 'client'],
  qemu_guest: ['qemu_guest', 'client_vm'],
  vbox_guest: ['vbox_guest', 'virtualbox'],
  vmware_guest: ['vmware_guest', 'vmware'],
  docker_guest: ['docker_guest', 'docker'],
};

function theme(idOf: (classic: ClassicName, affinity: AffinityName) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(ROLES).map(([role, names]) => [role, idOf(...names)]));
}

/** Theme -> role -> symbol id. The green sets are not offered as themes. */
export function defaultSymbols(): Record<string, Record<string, string>> {
  const themes: Record<string, Record<string, string>> = { Classic: theme((name) => `:/symbols/classic/${name}.svg`) };
  for (const shape of ['square', 'circle'] as const) {
    for (const colour of ['blue', 'red', 'gray'] as const) {
      themes[`Affinity-${shape}-${colour}`] = theme((_, name) => `:/symbols/affinity/${shape}/${colour}/${name}.svg`);
    }
  }
  return themes;
}
