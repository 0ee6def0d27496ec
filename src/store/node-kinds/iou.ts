// IOS on Linux (IOU).
import { Text } from '../vocabulary.ts';
import { isLinuxProgram } from './image-heads.ts';
import type { NodeKindFacts } from './kind.ts';
import { adapterPorts } from './ports.ts';
import { consoleMembers, flag, integer, text } from './template-members.ts';

const PORTS_PER_ADAPTER = 4;

export const iou: NodeKindFacts = {
  type: 'iou',
  ports: (source) => adapterPorts(source, PORTS_PER_ADAPTER),
  portNames: { format: 'Ethernet{segment0}/{port0}', segmentSize: PORTS_PER_ADAPTER },
  ownNumbers: ['application_id'],
  hostNumber: { property: 'application_id', least: 1, most: 511 },
  startSettings: 'iou_license',
  images: {
    folder: 'IOU',
    isReference: (property) => property === 'path',
    accepts: isLinuxProgram,
    // For these images the governing document wants the 404 of everything that is missing.
    missing: 'not-found',
  },
  template: {
    nameFormat: 'IOU{0}',
    symbol: 'multilayer_switch',
    category: 'router',
    // Old clients repeat the path of the image under this name.
    ignored: ['image'],
    members: {
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
    },
  },
};
