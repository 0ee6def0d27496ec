// A link of a project: its ends, filters, impairments and capture, and the object that clients see.

import { nodeKind } from '../../api/kinds/kinds.ts';
import type { Port } from '../../api/kinds/port.ts';
import type { LinkCapture } from '../../api/routes/links.ts';
import type { Label } from '../../api/vocabulary.ts';
import type { Node } from '../nodes/node.ts';
import { type Filters, knownFilters } from './filters.ts';
import { impairs, type LinkImpairments, NO_IMPAIRMENTS, styleWith } from './impairments.ts';

/** One end: a port of a node. */
export interface LinkEnd {
  node: Node;
  port: Port;
  label: Label;
  /** Set while the end is wired: its UDP port, the address that the other side uses for it, and how VXLAN names the link. */
  wire?: { host: string; port: number; vni?: number | undefined } | undefined;
  /** The last removal of its NIO failed: the compute may still have it. */
  mayRemain?: boolean;
}

/** A link in the topology file. */
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

/** Never changed, only replaced, like the settings. */
export interface Capture {
  readonly fileName: string;
  readonly filePath: string;
  /** The request. The database keeps it while the capture runs, so that a restarted server can resume it. */
  readonly request: LinkCapture;
  /** The end at which the compute captures; undefined once it has ended. */
  readonly end: LinkEnd | undefined;
  /** The compute with the file, also after the capture has ended. */
  readonly writer: Node['compute'];
}

/** Text and style of an end without a label, as clients show them. */
const DEFAULT_STYLE = 'font-family: TypeWriter;font-size: 10.0;font-weight: bold;fill: #000000;fill-opacity: 1.0;';

export function defaultEndLabel(port: Port): Label {
  return { text: `${port.adapter_number}/${port.port_number}`, style: DEFAULT_STYLE };
}

/** A link's filters, impairments and style. Replaced as a whole, once the computes and the disk have succeeded. */
export interface LinkSettings {
  readonly filters: Filters;
  readonly style: Record<string, unknown>;
  readonly suspended: boolean;
  readonly impairments: LinkImpairments;
}

/** The filters for the filtering end: a suspended link drops everything. */
export function activeFilters({ filters, suspended }: LinkSettings): Filters {
  return suspended ? { frequency_drop: [-1] } : knownFilters(filters);
}

export class Link {
  readonly id: string;
  readonly projectId: string;
  ends: LinkEnd[] = [];
  settings: LinkSettings = { filters: {}, style: {}, suspended: false, impairments: NO_IMPAIRMENTS };
  /** The end that impairs and counts, once one was used. */
  lineEnd: LinkEnd | undefined;
  /** Its captures since the lab was opened, oldest first, without those whose file was replaced. Only the last can run. */
  captures: readonly Capture[] = [];
  /** The capture of the previous run of the server, until it resumes. */
  formerCapture: LinkCapture | undefined;
  /** Whether both sides are wired and clients know the link. */
  created = false;
  /** Whether it is being deleted: it is not rewired any more. */
  leaving = false;
  /** A failed change could not be rolled back on a compute: its wiring may differ from the settings. */
  uncertain = false;
  /** How often it was wired again, for which no change waits. */
  rewirings = 0;

  constructor(projectId: string, id: string) {
    this.projectId = projectId;
    this.id = id;
  }

  /** The running capture, or the last one. */
  get capture(): Capture | undefined {
    return this.captures.at(-1);
  }

  endCapture(): void {
    if (this.capture) this.captures = this.captures.with(-1, { ...this.capture, end: undefined });
  }

  get capturing(): boolean {
    return this.capture?.end !== undefined;
  }

  get record(): LinkRecord {
    return this.recordWith(this.settings);
  }

  /** The record with other settings and labels. */
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

  /** The request of the running capture, or of the one to resume. */
  get keptCapture(): LinkCapture | undefined {
    return this.capture?.end ? this.capture.request : this.formerCapture;
  }

  /** The link in the database while the lab is open. */
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

  /** The end that filters: the first whose type can; undefined if neither can. */
  get filteringEnd(): LinkEnd | undefined {
    return this.ends.find(({ node }) => !nodeKind(node.type).withoutFilters);
  }

  /** Whether it cannot be wired at present, because a node is missing on its compute or the compute is unreachable. */
  get unwirable(): boolean {
    return this.ends.some(({ node }) => node.unwirable);
  }

  /** Whether both ends are wired. */
  get wired(): boolean {
    return this.ends.length >= 2 && this.ends.slice(0, 2).every((end) => end.wire !== undefined);
  }
}
