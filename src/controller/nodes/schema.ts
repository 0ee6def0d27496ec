// Bodies of the node routes (`NodeCreate`, `NodeUpdate`, `NodeDuplicate` of the interface).
import * as v from 'valibot';
import {
  AnyObject,
  ConsolePort,
  ConsoleType,
  CustomAdapter,
  Integer,
  Label,
  NodeType,
  Text,
  Uuid,
} from '../../store/vocabulary.ts';

const PortBody = v.strictObject({
  name: v.optional(v.string()),
  short_name: v.optional(v.string()),
  adapter_number: v.optional(Integer),
  adapter_type: v.optional(v.nullable(Text)),
  port_number: v.optional(Integer),
  link_type: v.optional(v.picklist(['ethernet', 'serial'])),
  data_link_types: v.optional(AnyObject),
  mac_address: v.optional(v.nullable(Text)),
});

/** Every member that a node may have in a request; which of them may be set is the domain's matter. */
const members = {
  compute_id: v.optional(v.string()),
  project_id: v.optional(Uuid),
  node_id: v.optional(Uuid),
  template_id: v.optional(v.nullable(Uuid)),
  node_type: v.optional(NodeType),
  node_directory: v.optional(v.nullable(v.string())),
  command_line: v.optional(v.nullable(v.string())),
  name: v.optional(Text),
  console: v.optional(v.nullable(ConsolePort)),
  console_host: v.optional(Text),
  console_type: v.optional(v.nullable(ConsoleType)),
  console_auto_start: v.optional(v.boolean()),
  properties: v.optional(AnyObject),
  status: v.optional(v.picklist(['stopped', 'started', 'suspended'])),
  label: v.optional(Label),
  symbol: v.optional(v.nullable(Text)),
  width: v.optional(Integer),
  height: v.optional(Integer),
  x: v.optional(Integer),
  y: v.optional(Integer),
  z: v.optional(Integer),
  locked: v.optional(v.boolean()),
  port_name_format: v.optional(v.string()),
  port_segment_size: v.optional(v.pipe(Integer, v.minValue(0))),
  first_port_name: v.optional(v.nullable(v.string())),
  custom_adapters: v.optional(v.array(CustomAdapter)),
  ports: v.optional(v.array(PortBody)),
};

export const NodeCreate = v.strictObject({ ...members, compute_id: v.string(), name: Text, node_type: NodeType });
export type NodeCreate = v.InferOutput<typeof NodeCreate>;

export const NodeUpdate = v.strictObject(members);
export type NodeUpdate = v.InferOutput<typeof NodeUpdate>;

export const NodeDuplicate = v.strictObject({ x: Integer, y: Integer, z: v.optional(Integer, 0) });
export type NodeDuplicate = v.InferOutput<typeof NodeDuplicate>;

export const QemuResize = v.strictObject({
  drive_name: v.picklist(['hda', 'hdb', 'hdc', 'hdd']),
  extend: Integer,
});
