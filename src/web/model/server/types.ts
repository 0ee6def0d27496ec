// What the page reads of the API's objects.
export interface ProjectObject {
  project_id: string;
  name: string;
  status: 'opened' | 'closed';
  auto_close: boolean;
  auto_open: boolean;
  auto_start: boolean;
  scene_width: number;
  scene_height: number;
  /** Pixels between the lines that nodes, and drawings, snap to. */
  grid_size: number;
  drawing_grid_size: number;
  show_grid: boolean;
  snap_to_grid: boolean;
  show_layers: boolean;
  show_interface_labels: boolean;
  /** Why the project cannot be read; beyond the release. */
  damaged?: string | null;
}

export interface PortObject {
  adapter_number: number;
  port_number: number;
  name: string;
  short_name: string;
  link_type: string;
}

export interface NodeObject {
  node_id: string;
  project_id: string;
  name: string;
  node_type: string;
  status: 'started' | 'stopped' | 'suspended';
  /** Why QEMU has halted it, with the fix; absent otherwise. */
  halt_reason?: string;
  /** Of a node whose host cannot be reached. */
  lost_reason?: string;
  console: number | null;
  console_host: string | null;
  console_type: string | null;
  compute_id: string;
  symbol: string;
  width: number;
  height: number;
  x: number;
  y: number;
  z: number;
  locked: boolean;
  label: LabelObject;
  ports: PortObject[];
  properties: Readonly<Record<string, unknown>>;
  node_directory: string | null;
  command_line: string | null;
}

/** A text beside a node, at a place counted from the node's; without `x` in its middle. */
export interface LabelObject {
  text: string;
  x?: number | null;
  y?: number | null;
  rotation?: number;
  style?: string | null;
}

export interface LinkEnd {
  node_id: string;
  adapter_number: number;
  port_number: number;
  label?: LabelObject;
}

export interface LinkObject {
  link_id: string;
  project_id: string;
  nodes: [LinkEnd, LinkEnd];
  suspend: boolean;
  capturing: boolean;
  /** The host that captures it. */
  capture_compute_id: string | null;
  filters: Record<string, unknown>;
  link_style: Record<string, unknown>;
  /** Beyond the release; absent without any. */
  impairments?: Directions;
}

/** What a direction is asked to do to frames: `delay`, `loss` and others, with their members. */
export type Impairments = Record<string, Record<string, unknown>>;

export interface Directions {
  forward: object;
  backward: object;
}

export interface PresetObject {
  name: string;
  description: string;
  /** Where its figures are from. */
  source: string;
  up: Impairments;
  down: Impairments;
}

/** Times in seconds. */
export interface ScheduleObject {
  state: 'none' | 'running' | 'finished' | 'cancelled';
  elapsed?: number;
  round?: number;
  rounds?: number;
  period?: number | null;
  steps?: { at: number; for?: number; forward?: object; backward?: object }[];
}

export interface DrawingObject {
  drawing_id: string;
  x: number;
  y: number;
  z: number;
  rotation: number;
  locked: boolean;
  svg: string;
}

export interface TemplateObject {
  template_id: string;
  name: string;
  category: string;
  builtin: boolean;
  compute_id: string | null;
  symbol: string;
}

export interface Message {
  action: string;
  event: Record<string, unknown>;
  sequence?: string;
}
