// Registers QEMU machines: adapters, disks, a console of several types, suspension.

import { QemuCreate, QemuUpdate } from '../../../api/kinds/qemu.ts';
import { defineKind, oneConsole } from '../../nodes/kind.ts';
import { extras, frames, kvm, programs, unavailableReason } from './doctor.ts';
import { KEPT } from './kept.ts';
import { MODULE, PORT_RULES, QemuNode } from './node.ts';
import { QemuHost } from './qemu-host.ts';
import { machineRoutes, qemuRoutes } from './routes.ts';
import { IMAGE_KIND } from './settings.ts';

export const qemu = defineKind({
  type: 'qemu',
  module: MODULE,
  ...PORT_RULES,
  create: QemuCreate,
  update: QemuUpdate,
  startAnswersNode: true,
  kept: KEPT,
  doctor: [programs, frames, kvm, ...extras],
  unavailableReason,

  host: () => new QemuHost(),
  make: QemuNode.create,
  change: (node: QemuNode, body) => node.change(body),
  duplicate: (source, destination) => destination.copyFilesOf(source),
  reload: (node) => node.reload(),
  liveAddresses: (node) => node.liveAddresses(),
  resume: (node) => node.resume(),
  runningState: {
    keep: (node) => node.keepState(),
    drop: (node) => node.dropState(),
    start: (node) => node.startKept(),
  },
  console: {
    ...oneConsole<QemuNode>(),
    connectDisplay: (node) => node.connectDisplay(),
  },
  routes: machineRoutes,
  hostRoutes: ({ images, config }) => qemuRoutes({ folder: images.folder(IMAGE_KIND), local: config.Server.local }),
});
