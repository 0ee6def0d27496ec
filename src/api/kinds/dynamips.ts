// Routers emulated by Dynamips. Their template members depend on the platform.
import * as v from 'valibot';
import { ConsolePort, Integer, Text } from '../vocabulary.ts';
import { isRouterProgram } from './image-heads.ts';
import type { NodeKindFacts, PassedRoute } from './kind.ts';
import {
  atCreation,
  consoleTypes,
  createBody,
  type Effect,
  NodeIdOrNumber,
  ofTemplate,
  p,
  required,
  templateMembers,
  updateBody,
  usage,
} from './property.ts';
import { routerPorts } from './router-ports.ts';
import { between, flag, integer, text } from './template-members.ts';

// biome-ignore format: one list
const slot = v.optional(v.picklist(['C7200-IO-2FE', 'C7200-IO-FE', 'C7200-IO-GE-E', 'NM-16ESW', 'NM-1E', 'NM-1FE-TX', 'NM-4E', 'NM-4T', 'PA-2FE-TX', 'PA-4E', 'PA-4T+', 'PA-8E', 'PA-8T', 'PA-A1', 'PA-FE-TX', 'PA-GE', 'PA-POS-OC3', 'C2600-MB-2FE', 'C2600-MB-1E', 'C1700-MB-1FE', 'C2600-MB-2E', 'C2600-MB-1FE', 'C1700-MB-WIC1', 'GT96100-FE', 'Leopard-2FE', '']));
const wic = v.optional(v.picklist(['WIC-1ENET', 'WIC-1T', 'WIC-2T', '']));

const NPE = v.picklist(['npe-100', 'npe-150', 'npe-175', 'npe-200', 'npe-225', 'npe-300', 'npe-400', 'npe-g2']);
const MIDPLANE = v.picklist(['std', 'vxr']);
const Platform = v.pipe(v.string(), v.regex(/^c[0-9]{4}$/, 'must be a platform such as c3745'));
const MAC_ADDRESS = /^([0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}$/;
const slotRow = p(v.nullable(v.string()), { template: slot });
const wicRow = p(v.nullable(v.string()), { template: wic });
const number = (usual: number, effect: Effect = 'start') =>
  p(Integer, { node: usual, template: integer(usual), effect });
const switchRow = (usual: boolean, effect: Effect = 'start') =>
  p(v.boolean(), { node: usual, template: flag(usual), effect });

/** Router settings in responses that have the same default on all platforms. */
export const routerSettings = {
  ...usage,
  mmap: switchRow(true),
  /** Empty: never set; `0x0`: removed again. */
  idlepc: p(v.pipe(v.string(), v.regex(/^(0x[0-9a-fA-F]+)?$/, 'must be an idle value such as 0x60608040')), {
    node: '',
    template: v.optional(
      v.pipe(v.string(), v.regex(/^(0x[0-9a-fA-F]+)?$/, 'a hexadecimal number such as 0x60606040')),
      '',
    ),
    effect: 'live',
  }),
  idlemax: number(500, 'live'),
  /** Milliseconds. */
  idlesleep: number(30, 'live'),
  /** MiB */
  exec_area: number(64),
  /** MiB */
  disk1: number(0),
  auto_delete_disks: switchRow(false, 'live'),
  system_id: p(Text, { node: 'FTX0945W0MY', template: v.optional(Text, 'FTX0945W0MY') }),
};

/** Settings with platform-dependent defaults, here or in the emulator's tables. */
export const platformSettings = {
  nvram: p(Integer),
  sparsemem: p(v.boolean()),
  clock_divisor: p(Integer),
  disk0: p(Integer, { template: integer(0) }),
  mac_addr: p(v.nullable(v.pipe(v.string(), v.regex(MAC_ADDRESS, 'must be a MAC address hhhh.hhhh.hhhh'))), {
    template: v.optional(
      v.pipe(v.string(), v.regex(/^(([0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4})?$/, 'a MAC address xxxx.xxxx.xxxx')),
      '',
    ),
  }),
  npe: p(NPE),
  midplane: p(MIDPLANE),
  sensors: p(v.array(Integer)),
  power_supplies: p(v.array(Integer)),
  iomem: p(between(0, 100)),
};

const dynamipsProperties = {
  name: required(Text, { effect: 'live' }),
  node_id: atCreation(NodeIdOrNumber, { readOnly: true }),
  /** Updates accept both because clients send them back, but ignore them. */
  dynamips_id: p(v.nullable(Integer), { update: Integer, readOnly: true }),
  platform: required(Platform, { template: Text }),
  image: required(Text, { template: Text }),
  image_md5sum: p(v.nullable(Text), { readOnly: true }),
  ram: required(Integer),
  chassis: p(v.pipe(v.string(), v.regex(/^[0-9]{4}(XM)?$/, 'must be a chassis such as 3640'))),
  console_type: consoleTypes(['telnet', 'none'], { node: 'telnet' }),
  console: p(v.nullable(ConsolePort), { effect: 'live' }),
  aux: p(v.nullable(ConsolePort), { update: ConsolePort, effect: 'live', ofHost: true }),
  console_auto_start: ofTemplate(flag(false)),
  startup_config: ofTemplate(text('ios_base_startup-config.txt')),
  private_config: ofTemplate(text()),
  startup_config_content: atCreation(v.string()),
  private_config_content: atCreation(v.string()),
  ...routerSettings,
  ...platformSettings,
  slot0: slotRow,
  slot1: slotRow,
  slot2: slotRow,
  slot3: slotRow,
  slot4: slotRow,
  slot5: slotRow,
  slot6: slotRow,
  wic0: wicRow,
  wic1: wicRow,
  wic2: wicRow,
};

export const DynamipsCreate = createBody(dynamipsProperties);
export type DynamipsCreate = v.InferOutput<typeof DynamipsCreate>;
export const DynamipsUpdate = updateBody(dynamipsProperties);
export type DynamipsUpdate = v.InferOutput<typeof DynamipsUpdate>;

/** Memory sizes in MiB, `nvram` in KiB, `iomem` in percent of `ram`. */
const memory = (ram: number, nvram: number, sparsemem = true) => ({
  ram: integer(ram),
  nvram: integer(nvram),
  sparsemem: flag(sparsemem),
});
const iomem = (percent: number) => v.optional(between(0, 100), percent);

const routerMembers = templateMembers(dynamipsProperties);

/** A platform of several chassis has no preferred one: it must be said. */
const PLATFORMS = {
  c7200: {
    ...routerMembers,
    ...memory(512, 512),
    npe: v.optional(NPE, 'npe-400'),
    midplane: v.optional(MIDPLANE, 'vxr'),
  },
  c3745: { ...routerMembers, ...memory(256, 256), iomem: iomem(5) },
  c3725: { ...routerMembers, ...memory(128, 256), iomem: iomem(5) },
  c3600: {
    ...routerMembers,
    ...memory(192, 128),
    iomem: iomem(5),
    chassis: v.picklist(['3620', '3640', '3660']),
  },
  c2691: { ...routerMembers, ...memory(192, 256), iomem: iomem(5) },
  c2600: {
    ...routerMembers,
    ...memory(160, 128),
    iomem: iomem(15),
    chassis: v.picklist(['2610', '2620', '2610XM', '2620XM', '2650XM', '2621', '2611XM', '2621XM', '2651XM']),
  },
  c1700: {
    ...routerMembers,
    ...memory(160, 128, false),
    iomem: iomem(15),
    chassis: v.picklist(['1720', '1721', '1750', '1751', '1760']),
  },
};

/** A search for the value at which a router idles runs the router for a while. */
function idlePcRoute(action: 'auto_idlepc' | 'idlepc_proposals', summary: string): PassedRoute {
  // They drive the router, so that Node.Audit is not enough.
  const privilege = 'Node.Modify';
  return {
    method: 'GET',
    path: `dynamips/${action}`,
    to: action,
    limit: 240_000,
    privilege,
    summary,
    errors: [408, 409],
  };
}

export const dynamips: NodeKindFacts = {
  type: 'dynamips',
  properties: dynamipsProperties,
  effect: 'start',
  ports: routerPorts,
  fixedNameWhileRunning: true,
  ownNumbers: ['dynamips_id'],
  configurations: {
    startup: ({ dynamips_id: id }) => `configs/i${id}_startup-config.cfg`,
    secret: ({ dynamips_id: id }) => `configs/i${id}_private-config.cfg`,
    mark: { ending: '-config.cfg', line: '!\n' },
  },
  required: { image: "the name of a router's image" },
  images: { folder: 'IOS', isReference: (property) => property.endsWith('image'), accepts: isRouterProgram },
  passes: [
    idlePcRoute('auto_idlepc', 'Search an idle value for a node'),
    idlePcRoute('idlepc_proposals', 'List idle values that may suit a node'),
  ],
  needs: ({ number }) => ({ memory: number('ram', 128), load: 0.5 }),
  template: {
    nameFormat: 'R{0}',
    symbol: 'router',
    category: 'router',
    variants: { by: 'platform', members: PLATFORMS },
  },
};
