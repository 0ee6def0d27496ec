// Registers routers and switches of IOU: the image is a program of this host; Ethernet and serial adapters, a console.

import { IouCreate, IouStart, IouUpdate } from '../../../api/kinds/iou.ts';
import { defineKind, oneConsole } from '../../nodes/kind.ts';
import { iouHost } from './doctor.ts';
import { KEPT } from './kept.ts';
import { IouNode, MODULE, PORT_RULES } from './node.ts';

export const iou = defineKind({
  type: 'iou',
  module: MODULE,
  ...PORT_RULES,
  create: IouCreate,
  update: IouUpdate,
  startAnswersNode: true,
  kept: KEPT,
  doctor: [iouHost],

  make: IouNode.create,
  change: (node: IouNode, body) => node.change(body),
  duplicate: (source, destination) => destination.copyFilesOf(source),
  starting: { body: IouStart, start: (node, body) => node.startWith(body as IouStart) },
  reload: (node) => node.reload(),
  console: oneConsole<IouNode>(),
});
