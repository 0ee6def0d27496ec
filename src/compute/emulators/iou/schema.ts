import * as v from 'valibot';
import { ConsolePort, Integer, Text, Uuid } from '../../../store/vocabulary.ts';
import { NodeIdOrNumber } from '../../nodes/schema.ts';

const ROUTER = {
  usage: v.optional(v.string()),
  console: v.optional(v.nullable(ConsolePort)),
  console_type: v.optional(v.picklist(['telnet', 'none'])),
  md5sum: v.optional(v.nullable(v.string())),
  /** Of four ports each; the wire knows 16 of both kinds. */
  ethernet_adapters: v.optional(v.pipe(Integer, v.minValue(0), v.maxValue(16))),
  serial_adapters: v.optional(v.pipe(Integer, v.minValue(0), v.maxValue(16))),
  use_default_iou_values: v.optional(v.nullable(v.boolean())),
};

export const IouCreate = v.strictObject({
  name: Text,
  node_id: v.optional(NodeIdOrNumber),
  path: v.string(),
  application_id: v.nullable(Integer),
  ...ROUTER,
  ram: v.optional(v.nullable(Integer)),
  nvram: v.optional(v.nullable(Integer)),
  l1_keepalives: v.optional(v.nullable(v.boolean())),
  startup_config_content: v.optional(v.nullable(v.string())),
  private_config_content: v.optional(v.nullable(v.string())),
});
export type IouCreate = v.InferOutput<typeof IouCreate>;

/** The members of the object: those that are the server's to tell may be sent along, and change nothing. */
export const IouUpdate = v.strictObject({
  name: v.optional(Text),
  node_id: v.optional(Uuid),
  project_id: v.optional(Uuid),
  node_directory: v.optional(v.string()),
  status: v.optional(v.picklist(['started', 'stopped', 'suspended'])),
  command_line: v.optional(v.string()),
  application_id: v.optional(Integer),
  path: v.optional(v.string()),
  ...ROUTER,
  ram: v.optional(Integer),
  nvram: v.optional(Integer),
  l1_keepalives: v.optional(v.boolean()),
});
export type IouUpdate = v.InferOutput<typeof IouUpdate>;

/** The licence that comes with a start; members that nobody knows pass. */
export const IouStart = v.looseObject({
  iourc_content: v.optional(v.nullable(v.string())),
  license_check: v.optional(v.boolean()),
});
export type IouStart = v.InferOutput<typeof IouStart>;
