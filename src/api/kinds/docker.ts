// Docker containers.
import * as v from 'valibot';
import { MacAddress, nodeMac } from '../mac.ts';
import { ConsolePort, Integer, Text } from '../vocabulary.ts';
import type { NodeKindFacts } from './kind.ts';
import { containerPorts } from './ports.ts';
import {
  consoleTypes,
  createBody,
  customAdapterRows,
  NodeIdOrNumber,
  nameAndNumber,
  ofTemplate,
  p,
  required,
  sentBack,
  templateMembers,
  updateBody,
  usage,
} from './property.ts';
import { between, flag, interfaceSettings, macAddress, text } from './template-members.ts';

const lines = p(v.nullable(v.string()), { node: null, template: text() });
const resolution = (rule: string) => v.pipe(v.string(), v.regex(/^[0-9]+x[0-9]+$/, rule));
const adapters = between(0, 99);

/** A node's container settings in responses. */
export const dockerSettings = {
  adapters: p(v.nullable(adapters), { node: 1, template: v.optional(adapters, 1) }),
  mac_address: p(v.nullable(MacAddress), {
    node: (id: string) => nodeMac('02:42', id).toLowerCase(),
    template: macAddress,
  }),
  console_resolution: p(v.nullable(resolution('must be such as 1024x768')), {
    node: '1024x768',
    template: v.optional(resolution('width x height, such as 1024x768'), '1024x768'),
  }),
  console_http_port: p(Integer, { node: 80, template: v.optional(between(1, 65535), 80) }),
  console_http_path: p(v.string(), { node: '/', template: v.optional(Text, '/') }),
  start_command: lines,
  environment: lines,
  extra_hosts: lines,
  extra_volumes: p(v.array(v.string()), { node: [], template: v.optional(v.array(v.unknown()), []) }),
};

const dockerProperties = {
  ...nameAndNumber,
  node_id: p(NodeIdOrNumber, { update: v.string(), readOnly: true }),
  project_id: sentBack(v.string()),
  node_directory: sentBack(v.string()),
  status: sentBack(v.string()),
  image: required(Text, { update: v.string(), template: Text }),
  console_type: consoleTypes(['telnet', 'vnc', 'http', 'https', 'none'], { node: 'telnet' }, 'recreate'),
  console: p(v.nullable(ConsolePort)),
  aux: p(v.nullable(ConsolePort), { ofHost: true }),
  console_auto_start: ofTemplate(flag(false)),
  /** Set by the Engine; values from clients are ignored. */
  container_id: p(v.pipe(v.string(), v.regex(/^[a-f0-9]{12,64}$/, 'must be the id of a container')), {
    readOnly: true,
  }),
  ...usage,
  ...dockerSettings,
  ...interfaceSettings,
  ...customAdapterRows,
};

export const DockerCreate = createBody(dockerProperties);
export type DockerCreate = v.InferOutput<typeof DockerCreate>;
export const DockerUpdate = updateBody(dockerProperties);
export type DockerUpdate = v.InferOutput<typeof DockerUpdate>;

export const docker: NodeKindFacts = {
  type: 'docker',
  kernelForwards: true,
  properties: dockerProperties,
  effect: 'recreate',
  addedByRelease3: ['memory', 'cpus'],
  ports: containerPorts,
  creationLimit: 0,
  linksLeadInside: true,
  settingFiles: ['etc/network/interfaces'],
  // Volumes are files; the layer above the image is not.
  checkpointCovers: () => false,
  movesWithCheckpoint: true,
  needs: ({ number }) => ({ memory: number('memory', 0) || 128, load: Math.max(number('cpus', 0), 0.25) }),
  template: {
    nameFormat: '{name}-{0}',
    symbol: 'docker_guest',
    category: 'guest',
    members: templateMembers(dockerProperties),
  },
};
