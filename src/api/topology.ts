// The topology file (.gns3), revision 9, as in releases 2.2; the types are derived from the schema.
import * as v from 'valibot';
import {
  AnyObject,
  ConsolePort,
  ConsoleType,
  CustomAdapter,
  Integer,
  Label,
  NodeType,
  Rotation,
  Supplier,
  Text,
  Uuid,
  Variables,
} from './vocabulary.ts';

/** The written revision. */
export const REVISION = 9;
/** The last readable revision, of releases 3.0. */
export const LAST_REVISION = 10;

const maybeText = v.optional(v.nullable(v.string()));
const LinkType = v.picklist(['ethernet', 'serial']);
const Percent = v.optional(v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(100))));

/** A compute other than `local`; its credentials are never in the file. */
export const TopologyCompute = v.strictObject({
  compute_id: v.string(),
  name: v.string(),
  protocol: v.picklist(['http', 'https']),
  host: v.string(),
  port: Integer,
  // Members of the API's object that some programs write, too.
  user: maybeText,
  connected: v.optional(v.boolean()),
  cpu_usage_percent: Percent,
  memory_usage_percent: Percent,
  last_error: maybeText,
  capabilities: v.optional(
    v.strictObject({
      version: v.nullable(v.string()),
      node_types: v.array(NodeType),
      platform: v.optional(v.string()),
    }),
  ),
});
export type TopologyCompute = v.InferOutput<typeof TopologyCompute>;

export const TopologyDrawing = v.strictObject({
  drawing_id: v.optional(Uuid),
  project_id: v.optional(Uuid),
  x: v.optional(Integer),
  y: v.optional(Integer),
  z: v.optional(Integer),
  locked: v.optional(v.boolean()),
  rotation: v.optional(Rotation),
  /** Inline SVG, or the name of a picture in `project-files/images`. */
  svg: v.optional(v.string()),
});
export type TopologyDrawing = v.InferOutput<typeof TopologyDrawing>;

export const TopologyLink = v.strictObject({
  link_id: v.optional(Uuid),
  project_id: v.optional(Uuid),
  nodes: v.optional(
    v.array(v.strictObject({ node_id: Uuid, adapter_number: Integer, port_number: Integer, label: v.optional(Label) })),
  ),
  suspend: v.optional(v.boolean()),
  link_style: v.optional(AnyObject),
  filters: v.optional(AnyObject),
  capturing: v.optional(v.boolean()),
  capture_file_name: maybeText,
  capture_file_path: maybeText,
  capture_compute_id: maybeText,
  link_type: v.optional(LinkType),
});
export type TopologyLink = v.InferOutput<typeof TopologyLink>;

const TopologyPort = v.strictObject({
  name: v.optional(v.string()),
  short_name: v.optional(v.string()),
  adapter_number: v.optional(Integer),
  adapter_type: v.optional(v.nullable(Text)),
  port_number: v.optional(Integer),
  link_type: v.optional(LinkType),
  data_link_types: v.optional(AnyObject),
  mac_address: v.optional(v.nullable(CustomAdapter.entries.mac_address.wrapped)),
});

export const TopologyNode = v.strictObject({
  compute_id: v.string(),
  project_id: v.optional(Uuid),
  node_id: v.optional(Uuid),
  template_id: v.optional(v.nullable(Uuid)),
  node_type: NodeType,
  node_directory: maybeText,
  command_line: maybeText,
  name: Text,
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
  first_port_name: maybeText,
  custom_adapters: v.optional(v.array(CustomAdapter)),
  ports: v.optional(v.array(TopologyPort)),
});
export type TopologyNode = v.InferOutput<typeof TopologyNode>;

/** The project settings in its file besides name and id; all are optional. */
export const PROJECT_SETTINGS = {
  auto_start: v.optional(v.boolean()),
  auto_open: v.optional(v.boolean()),
  auto_close: v.optional(v.boolean()),
  scene_height: v.optional(Integer),
  scene_width: v.optional(Integer),
  zoom: v.optional(Integer),
  show_layers: v.optional(v.boolean()),
  snap_to_grid: v.optional(v.boolean()),
  show_grid: v.optional(v.boolean()),
  grid_size: v.optional(Integer),
  drawing_grid_size: v.optional(Integer),
  show_interface_labels: v.optional(v.boolean()),
  supplier: v.optional(Supplier),
  variables: v.optional(Variables),
};

export const Topology = v.strictObject({
  type: v.literal('topology'),
  revision: Integer,
  /** Release of the writing program. */
  version: v.string(),
  project_id: Uuid,
  name: v.string(),
  ...PROJECT_SETTINGS,
  topology: v.strictObject({
    computes: v.array(TopologyCompute),
    drawings: v.array(TopologyDrawing),
    links: v.array(TopologyLink),
    nodes: v.array(TopologyNode),
  }),
});
export type Topology = v.InferOutput<typeof Topology>;

/** Generous limits: a day, and more orders than a lab has nodes. */
const LONGEST_DELAY_SECONDS = 86_400;

const LAST_ORDER = 1_000_000;

export const START_MEMBERS = {
  /** Nodes with a lower order start first; default 0. */
  start_order: v.optional(v.pipe(Integer, v.minValue(0), v.maxValue(LAST_ORDER))),
  /** Seconds between the start of the previous nodes and this one; default 0. */
  start_delay: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(LONGEST_DELAY_SECONDS))),
};
