// Registers Docker containers: adapters, volumes, consoles of several types, suspension.

import { DockerCreate, DockerUpdate } from '../../../api/kinds/docker.ts';
import { defineKind, oneConsole, refusalOf } from '../../nodes/kind.ts';
import { dockerHost } from './docker-host.ts';
import { engineCheck } from './doctor.ts';
import { Engine } from './engine.ts';
import { KEPT } from './kept.ts';
import { DockerNode, MODULE, PORT_RULES } from './node.ts';
import { containerRoutes, engineRoutes } from './routes.ts';

export const docker = defineKind({
  type: 'docker',
  module: MODULE,
  ...PORT_RULES,
  create: DockerCreate,
  update: DockerUpdate,
  kept: KEPT,
  doctor: [engineCheck],
  unavailableReason: ({ Docker }) => refusalOf(() => new Engine(Docker.socket_path).version()),

  host: dockerHost,
  make: DockerNode.create,
  change: (node: DockerNode, body) => node.change(body),
  duplicate: (source, destination) => destination.copyFilesOf(source),
  reload: (node) => node.reload(),
  liveAddresses: (node) => node.liveAddresses(),
  console: {
    ...oneConsole<DockerNode>(),
    connectDisplay: (node) => node.connectDisplay(),
    connectAuxiliary: (node) => node.connectAuxiliaryConsole(),
  },
  routes: containerRoutes,
  hostRoutes: (_services, host) => engineRoutes(host),
  endUnclaimed: (_services, isOver, { unclaimed }) => unclaimed.end(isOver),
});
