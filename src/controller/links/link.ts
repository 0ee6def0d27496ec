// A link of a project: its ends, what it does to frames, whether it is captured, and the object that clients see.

import { nodeKind } from '../../store/node-kinds/kinds.ts';
import type { Port } from '../../store/node-kinds/port.ts';
import type { Label } from '../../store/vocabulary.ts';
import type { Node } from '../nodes/node.ts';
import { type Filters, knownFilters } from './filters.ts';
import { impairs, type LinkImpairments, NO_IMPAIRMENTS, styleWith } from './impairments.ts';
import type { LinkCapture } from './schema.ts';

/** One end: a port of a node. */
export interface LinkEnd {
  node: Node;
  port: Port;
  label: Label;
  /** While the end is wired: its UDP port, and the address under which the other side reaches it. */
  wire?: { host: string; port: number } | undefined;
}

/** What the topology file keeps of a link. */
export interface LinkRecord {
  link_id: string;
  nodes: { node_id: string; adapter_number: number; port_number: number; label: Label }[];
  filters: Filters;
  link_style: Record<string, unknown>;
  suspend: boolean;
}

export interface Capture {
  fileName: string;
  filePath: string;
  /** What was asked for; the database keeps it while the capture runs, so that another life of this server can go on with it. */
  request: LinkCapture;
  /** The end at which the compute captures, while it does. */
  end: LinkEnd | undefined;
}

/** Text and style of an end that was given no label, as clients show them. */
const DEFAULT_STYLE = 'font-family: TypeWriter;font-size: 10.0;font-weight: bold;fill: #000000;fill-opacity: 1.0;';

export function defaultEndLabel(port: Port): Label {
  return { text: `${port.adapter_number}/${port.port_number}`, style: DEFAULT_STYLE };
}

export class Link {
  readonly id: string;
  readonly projectId: string;
  ends: LinkEnd[] = [];
  filters: Filters = {};
  style: Record<string, unknown> = {};
  suspended = false;
  impairments: LinkImpairments = NO_IMPAIRMENTS;
  /** The end that impairs and counts, once it was asked to. */
  lineEnd: LinkEnd | undefined;
  capture: Capture | undefined;
  /** The capture that ran in a former life of this server, until it goes on. */
  formerCapture: LinkCapture | undefined;
  /** Both sides are wired and clients know of it. */
  created = false;
  /** It is being deleted: nobody wires it again. */
  leaving = false;

  constructor(projectId: string, id: string) {
    this.projectId = projectId;
    this.id = id;
  }

  get capturing(): boolean {
    return this.capture?.end !== undefined;
  }

  get record(): LinkRecord {
    return {
      link_id: this.id,
      nodes: this.ends.map(({ node, port, label }) => ({
        node_id: node.id,
        adapter_number: port.adapter_number,
        port_number: port.port_number,
        label,
      })),
      filters: this.filters,
      link_style: styleWith(this.style, this.impairments),
      suspend: this.suspended,
    };
  }

  /** What the database keeps while the lab is open. */
  get kept(): LinkRecord & { capture?: LinkCapture } {
    const capture = this.capture?.end ? this.capture.request : this.formerCapture;
    return { ...this.record, ...(capture ? { capture } : {}) };
  }

  /** The object that clients see (`Link`). */
  json(): object {
    return {
      ...this.record,
      link_style: this.style,
      ...(impairs(this.impairments) && { impairments: this.impairments }),
      project_id: this.projectId,
      link_type: this.ends.at(-1)?.port.link_type ?? 'ethernet',
      capturing: this.capturing,
      capture_file_name: this.capture?.fileName ?? null,
      capture_file_path: this.capture?.filePath ?? null,
      capture_compute_id: this.capture?.end?.node.compute.id ?? null,
    };
  }

  /** The end at which filters work: the first whose type can; undefined when none can. */
  get filteringEnd(): LinkEnd | undefined {
    return this.ends.find(({ node }) => !nodeKind(node.type).withoutFilters);
  }

  /** What the filtering end is told: the filters, or that everything is dropped while the link is suspended. */
  get activeFilters(): Filters {
    return this.suspended ? { frequency_drop: [-1] } : knownFilters(this.filters);
  }

  /** Both of the ends that are wired are so. */
  get wired(): boolean {
    return this.ends.length >= 2 && this.ends.slice(0, 2).every((end) => end.wire !== undefined);
  }
}
