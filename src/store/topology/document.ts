// Reads and writes the text of a topology file.
import * as v from 'valibot';
import { nodeKind } from '../../api/kinds/kinds.ts';
import { PROJECT_SETTINGS, REVISION, Topology } from '../../api/topology.ts';
import type { Label } from '../../api/vocabulary.ts';
import { conflict, Failure, tooLarge } from '../../failures.ts';
import { describeIssue } from '../issues.ts';
import { excessOf, formatJson, isObject, type JsonObject, parseJsonBounded } from '../json.ts';
import type { LabContents } from '../labs.ts';
import type { ProjectRecord } from '../projects.ts';
import type { UpgradeOptions } from './revision-10.ts';
import { labelWith, type StartMembers } from './start-order.ts';
import { knownMembers } from './unknown-members.ts';
import { type DynamipsFiles, upgradeTopology } from './upgrade.ts';

/** Bytes; labs of thousands of nodes have a few MiB. */
export const LARGEST_FILE_BYTES = 128 * 1024 * 1024;

/** Up to this number of records all mistakes in a file are listed. */
const MOST_RECORDS = 2_000;
/** Mistakes per message; a file of another kind would have thousands. */
const MOST_COMPLAINTS = 5;

/** The last release whose files are known: 2.2.57. */
const KNOWN_RELEASE = [2, 2, 57];

/** The members of each record in a file; all others are for this server only. */
const MEMBERS = {
  compute: ['compute_id', 'name', 'protocol', 'host', 'port'],
  node: [
    ...['compute_id', 'node_id', 'node_type', 'template_id', 'name', 'console', 'console_type', 'console_auto_start'],
    ...['properties', 'label', 'x', 'y', 'z', 'locked', 'width', 'height', 'symbol', 'port_name_format'],
    ...['port_segment_size', 'first_port_name', 'custom_adapters'],
  ],
  link: ['link_id', 'nodes', 'filters', 'link_style', 'suspend'],
  drawing: ['drawing_id', 'x', 'y', 'z', 'locked', 'rotation', 'svg'],
} as const;

export interface ParsedTopology {
  topology: Topology;
  /** Of the text, before its upgrade; the topology has the present one. */
  revision: number;
  /** The files that an upgrade must move in the project directory. */
  moves: DynamipsFiles[];
  /** Only for a file of 1.x. */
  pictures?: string[];
  /** Paths of members unknown to this release; the topology does not have them. */
  unknown: string[];
}

export interface ParseOptions extends UpgradeOptions {
  /**
   * For a new file, with the release's checks: rejects routers without an image, and unknown members in a file of this
   * revision whose release wrote none, as these were edited by hand.
   */
  strict?: boolean;
}

/** Parses the text of a .gns3 file, upgrading it in memory. `Failure('conflict')` names the mistake and its place. */
export function parseTopology(text: string, options: ParseOptions = {}): ParsedTopology {
  const { strict = false } = options;
  let document: unknown;
  try {
    document = parseJsonBounded(text);
  } catch (thrown) {
    throw thrown instanceof Failure ? conflict(thrown.message, { cause: thrown }) : thrown;
  }
  if (!isObject(document)) throw conflict('a topology is one JSON object; this is another value');
  const { document: upgraded, from, ...files } = upgradeTopology(document, options);
  const { document: known, unknown } = knownMembers(upgraded);
  const isForeign = from === REVISION && unknown.length > 0 && isOfKnownRelease(upgraded['version']);
  const topology = checkTopology(strict && isForeign ? upgraded : known);
  if (strict) checkRequired(topology);
  return { topology, revision: from, unknown, ...files };
}

/** As `parseTopology`, for the content of a .gns3 file. */
export function parseTopologyBytes(bytes: Uint8Array, options: ParseOptions = {}): ParsedTopology {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (thrown) {
    throw conflict('it is not UTF-8 text', { cause: thrown });
  }
  return parseTopology(text, options);
}

/**
 * The text of the file: sorted members, indented by four. If it could not be read again: `Failure('conflict')`, or
 * `Failure('too-large')` for a lab beyond the limits of a file.
 */
export function serializeTopology(topology: Topology): string {
  const text = formatJson(checkTopology(topology));
  const isLong = Buffer.byteLength(text) > LARGEST_FILE_BYTES;
  const excess = isLong ? `more than ${LARGEST_FILE_BYTES} bytes` : excessOf(text);
  if (excess === undefined) return text;
  throw tooLarge(`The lab is too large for its file (${excess}): delete some of its nodes, links or drawings.`);
}

/** The topology of a project and its lab for the file. The format of the records is checked at the write. */
export function topologyOf(project: ProjectRecord, lab: LabContents, version: string): Topology {
  return {
    type: 'topology',
    revision: REVISION,
    version,
    project_id: project.project_id,
    name: project.name,
    ...pick(project, Object.keys(PROJECT_SETTINGS)),
    topology: {
      computes: lab.computes
        .filter(({ compute_id }) => compute_id !== 'local' && compute_id !== 'vm')
        .map((compute) => pick(compute, MEMBERS.compute)),
      drawings: lab.drawings.map((drawing) => pick(drawing, MEMBERS.drawing)),
      links: lab.links.map((link) => pick(link, MEMBERS.link)),
      nodes: lab.nodes.map(nodeOf),
    },
  } as Topology;
}

/** The node for the file: extensions are in the style of the label. */
function nodeOf(node: { node_id: string } & StartMembers): JsonObject {
  const picked = pick(node, MEMBERS.node);
  return isObject(picked['label']) ? { ...picked, label: { ...labelWith(picked['label'] as Label, node) } } : picked;
}

function checkRequired({ topology }: Topology): void {
  topology.nodes.forEach(({ node_type, properties }, index) => {
    for (const [name, meaning] of Object.entries(nodeKind(node_type).required ?? {})) {
      if (typeof properties?.[name] === 'string') continue;
      throw conflict(`topology.nodes[${index}].properties.${name}: is required (${meaning})`);
    }
  });
}

/** Whether this or an earlier release wrote the file, so that all its members are known. */
function isOfKnownRelease(version: unknown): boolean {
  const [, ...numbers] = /^(\d+)\.(\d+)\.(\d+)$/.exec(String(version)) ?? [];
  if (numbers.length === 0) return false;
  const differing = numbers.map((number, index) => Number(number) - (KNOWN_RELEASE[index] ?? 0)).find(Boolean);
  return (differing ?? 0) <= 0;
}

function checkTopology(document: unknown): Topology {
  // Finding all mistakes in a long file would block for seconds: only the first one is reported.
  const abortEarly = recordsOf(document) > MOST_RECORDS;
  const result = v.safeParse(Topology, document, { abortPipeEarly: true, abortEarly });
  if (result.success) return result.output;
  const complaints = result.issues.slice(0, MOST_COMPLAINTS).map((issue) => describeIssue(issue, 'document'));
  const more = result.issues.length - complaints.length;
  throw conflict(complaints.join('; ') + (more > 0 ? `; and ${more} more` : ''));
}

/** The number of nodes, links, drawings and computes of a document. */
export function recordsOf(document: unknown): number {
  const lab = isObject(document) ? document['topology'] : undefined;
  const lists = isObject(lab) ? Object.values(lab).filter(Array.isArray) : [];
  return lists.reduce((sum, { length }) => sum + length, 0);
}

function pick(record: object, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(record).filter(([name, value]) => names.includes(name) && value !== undefined),
  );
}
