// IOS on Linux (IOU).
import * as v from 'valibot';
import { ConsolePort, Integer, Text } from '../vocabulary.ts';
import { isLinuxProgram } from './image-heads.ts';
import type { NodeKindFacts } from './kind.ts';
import { adapterPorts } from './ports.ts';
import {
  atCreation,
  consoleTypes,
  createBody,
  identity,
  ofTemplate,
  p,
  required,
  sentBack,
  templateMembers,
  updateBody,
  usage,
} from './property.ts';
import { between, flag, integer, text } from './template-members.ts';

const PORTS_PER_ADAPTER = 4;

/** Each has four ports; IOU supports 16 adapters of both kinds together. */
const adapters = p(between(0, 16), { node: 2, template: integer(2) });
const size = (usual: number) => p(v.nullable(Integer), { update: Integer, node: usual, template: integer(usual) });
const configuration = atCreation(v.nullable(v.string()));

/** A node's settings in responses. */
export const iouSettings = {
  ...usage,
  ethernet_adapters: adapters,
  serial_adapters: adapters,
  /** MiB */
  ram: size(1024),
  /** KiB */
  nvram: size(256),
  l1_keepalives: p(v.nullable(v.boolean()), { update: v.boolean(), node: false, template: flag(false) }),
  use_default_iou_values: p(v.nullable(v.boolean()), { node: false, template: flag(false) }),
};

const iouProperties = {
  ...identity,
  node_directory: sentBack(v.string()),
  command_line: sentBack(v.string()),
  path: required(v.string(), { template: Text }),
  application_id: required(v.nullable(Integer), { update: Integer }),
  console_type: consoleTypes(['telnet', 'none'], { node: 'telnet' }),
  console: p(v.nullable(ConsolePort), { effect: 'live' }),
  console_auto_start: ofTemplate(flag(false)),
  md5sum: p(v.nullable(v.string()), { readOnly: true }),
  ...iouSettings,
  startup_config: ofTemplate(text('iou_l3_base_startup-config.txt')),
  private_config: ofTemplate(text()),
  startup_config_content: configuration,
  private_config_content: configuration,
};

export const IouCreate = createBody(iouProperties);
export type IouCreate = v.InferOutput<typeof IouCreate>;
export const IouUpdate = updateBody(iouProperties);
export type IouUpdate = v.InferOutput<typeof IouUpdate>;

/** The licence sent with a start; unknown members are accepted. */
export const IouStart = v.looseObject({
  iourc_content: v.optional(v.nullable(v.string())),
  license_check: v.optional(v.boolean()),
});
export type IouStart = v.InferOutput<typeof IouStart>;

export const iou: NodeKindFacts = {
  type: 'iou',
  properties: iouProperties,
  effect: 'start',
  ports: (source) => adapterPorts(source, PORTS_PER_ADAPTER),
  portNames: { format: 'Ethernet{segment0}/{port0}', segmentSize: PORTS_PER_ADAPTER },
  ownNumbers: ['application_id'],
  hostNumber: { property: 'application_id', least: 1, most: 511 },
  startSettings: 'iou_license',
  linksToImage: true,
  configurations: { startup: () => 'startup-config.cfg', secret: () => 'private-config.cfg' },
  images: {
    folder: 'IOU',
    isReference: (property) => property === 'path',
    accepts: isLinuxProgram,
    // For these images the reference document requires 404 for anything missing.
    missing: 'not-found',
  },
  needs: ({ number }) => ({ memory: number('ram', 256), load: 0.25 }),
  template: {
    nameFormat: 'IOU{0}',
    symbol: 'multilayer_switch',
    category: 'router',
    // Old clients repeat the path of the image under this name.
    ignored: ['image'],
    members: templateMembers(iouProperties),
  },
};
