// API objects with the members that the client uses. `--json` shows the complete objects.
import type { Port } from '../../api/kinds/port.ts';

export interface LabObject {
  project_id: string;
  name: string;
  status: 'opened' | 'closed';
}

export interface NodeObject {
  node_id: string;
  name: string;
  node_type: string;
  status: string;
  /** Why QEMU has halted it; absent otherwise. */
  halt_reason?: string;
  /** Set while the node's host is unreachable. */
  lost_reason?: string;
  compute_id: string;
  console: number | null;
  console_type: string | null;
  console_host: string;
  ports: Port[];
  x: number;
  y: number;
}

export interface LinkObject {
  link_id: string;
  nodes: { node_id: string; adapter_number: number; port_number: number }[];
  capturing: boolean;
  suspend: boolean;
  /** By direction; missing without impairments. */
  impairments?: Readonly<Record<'forward' | 'backward', object>>;
}

export interface TemplateObject {
  template_id: string;
  name: string;
  template_type: string;
  compute_id: string | null;
  builtin: boolean;
  /** Of routers. */
  platform?: string;
}

/** A version of an appliance, and which of its images a host has. */
export interface ApplianceObject {
  appliance_id: string;
  name: string;
  emulator: string;
  /** Null for containers. */
  version: string | null;
  complete: boolean;
  images: { filename: string; path: string | null }[];
}
