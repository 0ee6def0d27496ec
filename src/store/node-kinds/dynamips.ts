// Routers that Dynamips emulates. What their templates hold depends on the platform.
import * as v from 'valibot';
import { Integer, Text } from '../vocabulary.ts';
import { isRouterProgram } from './image-heads.ts';
import type { NodeKindFacts, PassedRoute } from './kind.ts';
import { routerPorts } from './router-ports.ts';
import { consoleMembers, flag, integer, text } from './template-members.ts';

// biome-ignore format: one list
const slot = v.optional(v.picklist(['C7200-IO-2FE', 'C7200-IO-FE', 'C7200-IO-GE-E', 'NM-16ESW', 'NM-1E', 'NM-1FE-TX', 'NM-4E', 'NM-4T', 'PA-2FE-TX', 'PA-4E', 'PA-4T+', 'PA-8E', 'PA-8T', 'PA-A1', 'PA-FE-TX', 'PA-GE', 'PA-POS-OC3', 'C2600-MB-2FE', 'C2600-MB-1E', 'C1700-MB-1FE', 'C2600-MB-2E', 'C2600-MB-1FE', 'C1700-MB-WIC1', 'GT96100-FE', 'Leopard-2FE', '']));
const wic = v.optional(v.picklist(['WIC-1ENET', 'WIC-1T', 'WIC-2T', '']));

const routerMembers = {
  ...consoleMembers,
  platform: Text,
  image: Text,
  usage: text(),
  mmap: flag(true),
  exec_area: integer(64),
  mac_addr: v.optional(
    v.pipe(v.string(), v.regex(/^(([0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4})?$/, 'a MAC address xxxx.xxxx.xxxx')),
    '',
  ),
  system_id: v.optional(Text, 'FTX0945W0MY'),
  startup_config: text('ios_base_startup-config.txt'),
  private_config: text(),
  idlepc: v.optional(v.pipe(v.string(), v.regex(/^(0x[0-9a-fA-F]+)?$/, 'a hexadecimal number such as 0x60606040')), ''),
  idlemax: integer(500),
  idlesleep: integer(30),
  disk0: integer(0),
  disk1: integer(0),
  auto_delete_disks: flag(false),
  wic0: wic,
  wic1: wic,
  wic2: wic,
  slot0: slot,
  slot1: slot,
  slot2: slot,
  slot3: slot,
  slot4: slot,
  slot5: slot,
  slot6: slot,
};

/** Memory sizes in MiB, `nvram` in KiB, `iomem` in percent of `ram`. */
const memory = (ram: number, nvram: number, sparsemem = true) => ({
  ram: integer(ram),
  nvram: integer(nvram),
  sparsemem: flag(sparsemem),
});
const iomem = (percent: number) => v.optional(v.pipe(Integer, v.minValue(0), v.maxValue(100)), percent);

/** A platform of several chassis has no preferred one: it must be said. */
const PLATFORMS = {
  c7200: {
    ...routerMembers,
    ...memory(512, 512),
    npe: v.optional(
      v.picklist(['npe-100', 'npe-150', 'npe-175', 'npe-200', 'npe-225', 'npe-300', 'npe-400', 'npe-g2']),
      'npe-400',
    ),
    midplane: v.optional(v.picklist(['std', 'vxr']), 'vxr'),
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
  return { method: 'GET', path: `dynamips/${action}`, to: action, limit: 240_000, summary, errors: [408, 409] };
}

export const dynamips: NodeKindFacts = {
  type: 'dynamips',
  ports: routerPorts,
  fixedNameWhileRunning: true,
  ownNumbers: ['dynamips_id'],
  required: { image: "the name of a router's image" },
  images: { folder: 'IOS', isReference: (property) => property.endsWith('image'), accepts: isRouterProgram },
  passes: [
    idlePcRoute('auto_idlepc', 'Search an idle value for a node'),
    idlePcRoute('idlepc_proposals', 'List idle values that may suit a node'),
  ],
  template: {
    nameFormat: 'R{0}',
    symbol: 'router',
    category: 'router',
    variants: { by: 'platform', members: PLATFORMS },
  },
};
