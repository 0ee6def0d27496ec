import * as v from 'valibot';
import { ConsolePort, Integer, Text } from '../../../store/vocabulary.ts';
import { NodeIdOrNumber } from '../../nodes/schema.ts';

const ConsoleType = v.picklist(['telnet', 'none']);
const Platform = v.pipe(v.string(), v.regex(/^c[0-9]{4}$/, 'must be a platform such as c3745'));
const MacAddress = v.pipe(
  v.string(),
  v.regex(/^([0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}$/, 'must be a MAC address hhhh.hhhh.hhhh'),
);
const Card = v.optional(v.nullable(v.string()));

/** What a router has, as creation and change take it. */
const ROUTER = {
  usage: v.optional(v.string()),
  chassis: v.optional(v.pipe(v.string(), v.regex(/^[0-9]{4}(XM)?$/, 'must be a chassis such as 3640'))),
  image_md5sum: v.optional(v.nullable(Text)),
  nvram: v.optional(Integer),
  mmap: v.optional(v.boolean()),
  sparsemem: v.optional(v.boolean()),
  clock_divisor: v.optional(Integer),
  idlepc: v.optional(v.pipe(v.string(), v.regex(/^(0x[0-9a-fA-F]+)?$/, 'must be an idle value such as 0x60608040'))),
  idlemax: v.optional(Integer),
  idlesleep: v.optional(Integer),
  exec_area: v.optional(Integer),
  disk0: v.optional(Integer),
  disk1: v.optional(Integer),
  auto_delete_disks: v.optional(v.boolean()),
  console: v.optional(v.nullable(ConsolePort)),
  mac_addr: v.optional(v.nullable(MacAddress)),
  system_id: v.optional(Text),
  slot0: Card,
  slot1: Card,
  slot2: Card,
  slot3: Card,
  slot4: Card,
  slot5: Card,
  slot6: Card,
  wic0: Card,
  wic1: Card,
  wic2: Card,
  npe: v.optional(v.picklist(['npe-100', 'npe-150', 'npe-175', 'npe-200', 'npe-225', 'npe-300', 'npe-400', 'npe-g2'])),
  midplane: v.optional(v.picklist(['std', 'vxr'])),
  sensors: v.optional(v.array(Integer)),
  power_supplies: v.optional(v.array(Integer)),
  iomem: v.optional(v.pipe(Integer, v.minValue(0), v.maxValue(100))),
};

export const DynamipsCreate = v.strictObject({
  name: Text,
  node_id: v.optional(NodeIdOrNumber),
  dynamips_id: v.optional(v.nullable(Integer)),
  platform: Platform,
  image: Text,
  ram: Integer,
  console_type: v.optional(ConsoleType, 'telnet'),
  aux: v.optional(v.nullable(ConsolePort)),
  startup_config_content: v.optional(v.string()),
  private_config_content: v.optional(v.string()),
  ...ROUTER,
});
export type DynamipsCreate = v.InferOutput<typeof DynamipsCreate>;

export const DynamipsUpdate = v.strictObject({
  name: v.optional(Text),
  /** Both are taken, as clients send what they were told, and change nothing. */
  dynamips_id: v.optional(Integer),
  platform: v.optional(Platform),
  image: v.optional(Text),
  ram: v.optional(Integer),
  console_type: v.optional(ConsoleType),
  aux: v.optional(ConsolePort),
  ...ROUTER,
});
export type DynamipsUpdate = v.InferOutput<typeof DynamipsUpdate>;
