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

export type KeptLink = LinkRecord & { capture?: LinkCapture };

export function keptLink(record: LinkRecord, capture: LinkCapture | undefined): KeptLink {
  return { ...record, ...(capture ? { capture } : {}) };
}

/** Replaced as a whole, as the settings are. */
export interface Capture {
  readonly fileName: string;
  readonly filePath: string;
  /** What was asked for; the database keeps it while the capture runs, so that another life of this server can go on with it. */
  readonly request: LinkCapture;
  /** The end at which the compute captures, while it does. */
  readonly end: LinkEnd | undefined;
  /** Whose disk has the file, also when the capture has ended. */
  readonly writer: Node['compute'];
}

/** Text and style of an end that was given no label, as clients show them. */
const DEFAULT_STYLE = 'font-family: TypeWriter;font-size: 10.0;font-weight: bold;fill: #000000;fill-opacity: 1.0;';

export function defaultEndLabel(port: Port): Label {
  return { text: `${port.adapter_number}/${port.port_number}`, style: DEFAULT_STYLE };
}

/** What a link does to frames, and how it looks. Replaced as a whole, and only once the computes and the disk have agreed. */
export interface LinkSettings {
  readonly filters: Filters;
  readonly style: Record<string, unknown>;
  readonly suspended: boolean;
  readonly impairments: LinkImpairments;
}

/** What the filtering end is told: the filters, or that everything is dropped while the link is suspended. */
export function activeFilters({ filters, suspended }: LinkSettings): Filters {
  return suspended ? { frequency_drop: [-1] } : knownFilters(filters);
}

export class Link {
  readonly id: string;
  readonly projectId: string;
  ends: LinkEnd[] = [];
  settings: LinkSettings = { filters: {}, style: {}, suspended: false, impairments: NO_IMPAIRMENTS };
  /** The end that impairs and counts, once it was asked to. */
  lineEnd: LinkEnd | undefined;
  capture: Capture | undefined;
  /** The capture that ran in a former life of this server, until it goes on. */
  formerCapture: LinkCapture | undefined;
  /** Both sides are wired and clients know of it. */
  created = false;
  /** It is being deleted: nobody wires it again. */
  leaving = false;
  /** A change failed and a compute could not be told so: its wires may not be as the settings say. */
  uncertain = false;

  constructor(projectId: string, id: string) {
    this.projectId = projectId;
    this.id = id;
  }

  get capturing(): boolean {
    return this.capture?.end !== undefined;
  }

  get record(): LinkRecord {
    return this.recordWith(this.settings);
  }

  /** The record as it is with other settings, and other labels of ends. */
  recordWith(
    { filters, style, suspended, impairments }: LinkSettings,
    labels?: ReadonlyMap<LinkEnd, Label>,
  ): LinkRecord {
    return {
      link_id: this.id,
      nodes: this.ends.map((end) => ({
        node_id: end.node.id,
        adapter_number: end.port.adapter_number,
        port_number: end.port.port_number,
        label: labels?.get(end) ?? end.label,
      })),
      filters,
      link_style: styleWith(style, impairments),
      suspend: suspended,
    };
  }

  /** What was asked of the capture that runs, or of the one that is to go on. */
  get keptCapture(): LinkCapture | undefined {
    return this.capture?.end ? this.capture.request : this.formerCapture;
  }

  /** What the database keeps while the lab is open. */
  get kept(): KeptLink {
    return keptLink(this.record, this.keptCapture);
  }

  /** The object that clients see (`Link`). */
  json() {
    return {
      ...this.record,
      link_style: this.settings.style,
      ...(impairs(this.settings.impairments) && { impairments: this.settings.impairments }),
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

  /** It cannot be wired at present: for an end whose compute does not know its node as yet, or cannot be reached. */
  get unwirable(): boolean {
    return this.ends.some(({ node }) => node.unwirable);
  }

  /** Both of the ends that are wired are so. */
  get wired(): boolean {
    return this.ends.length >= 2 && this.ends.slice(0, 2).every((end) => end.wire !== undefined);
  }
}
