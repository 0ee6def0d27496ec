// Bodies of Docker nodes (as in release 2.2.57).
import * as v from 'valibot';
import { ConsolePort, CustomAdapter, Integer, Text } from '../../../store/vocabulary.ts';
import { NodeIdOrNumber } from '../../nodes/schema.ts';

const ConsoleType = v.picklist(['telnet', 'vnc', 'http', 'https', 'none']);

const MacAddress = v.pipe(
  v.string(),
  v.regex(/^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$/, 'must be a MAC address xx:xx:xx:xx:xx:xx'),
);
const Lines = v.optional(v.nullable(v.string()));
const Port = v.optional(v.nullable(ConsolePort));

const CONTAINER = {
  console: Port,
  aux: Port,
  console_resolution: v.optional(
    v.nullable(v.pipe(v.string(), v.regex(/^[0-9]+x[0-9]+$/, 'must be such as 1024x768'))),
  ),
  console_http_port: v.optional(Integer),
  console_http_path: v.optional(v.string()),
  usage: v.optional(v.string()),
  start_command: Lines,
  adapters: v.optional(v.nullable(v.pipe(Integer, v.minValue(0), v.maxValue(99)))),
  mac_address: v.optional(v.nullable(MacAddress)),
  environment: Lines,
  extra_hosts: Lines,
  extra_volumes: v.optional(v.array(v.string())),
  /** The Engine gives it: what others say of it does not count. */
  container_id: v.optional(v.pipe(v.string(), v.regex(/^[a-f0-9]{12,64}$/, 'must be the id of a container'))),
  custom_adapters: v.optional(v.array(CustomAdapter)),
};

export const DockerCreate = v.strictObject({
  name: Text,
  node_id: v.optional(NodeIdOrNumber),
  image: Text,
  console_type: v.optional(ConsoleType, 'telnet'),
  ...CONTAINER,
});
export type DockerCreate = v.InferOutput<typeof DockerCreate>;

/** Members of the object that no change touches are accepted, as clients send them. */
export const DockerUpdate = v.strictObject({
  name: v.optional(v.nullable(Text)),
  console_type: v.optional(ConsoleType),
  ...CONTAINER,
  node_id: v.optional(v.string()),
  project_id: v.optional(v.string()),
  image: v.optional(v.string()),
  node_directory: v.optional(v.string()),
  status: v.optional(v.string()),
});
export type DockerUpdate = v.InferOutput<typeof DockerUpdate>;
