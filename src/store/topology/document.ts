// The text of a topology file, read and written.
import * as v from 'valibot';
import { Failure } from '../../failures.ts';
import { describeIssue } from '../issues.ts';
import { formatJson, isObject, type JsonObject, parseJsonBounded } from '../json.ts';
import type { LabContents } from '../labs.ts';
import { nodeKind } from '../node-kinds/kinds.ts';
import type { ProjectRecord } from '../projects.ts';
import type { Label } from '../vocabulary.ts';
import type { UpgradeOptions } from './revision-10.ts';
import { PROJECT_SETTINGS, REVISION, Topology } from './schema.ts';
import { labelWith, type StartMembers } from './start-order.ts';
import { knownMembers } from './unknown-members.ts';
import { type DynamipsFiles, upgradeTopology } from './upgrade.ts';

/** Records up to which all of a file's mistakes are looked for. */
const MOST_RECORDS = 2_000;
/** Complaints of one message; a file that is of another kind altogether would give thousands. */
const MOST_COMPLAINTS = 5;

/** The last release whose files are known: 2.2.57. */
const KNOWN_RELEASE = [2, 2, 57];

/** The members that a file has of each record; whatever else a record holds concerns this server alone. */
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
  /** Revision of the text. */
  revision: number;
  /** What an upgrade has to move in the project directory. */
  moves: DynamipsFiles[];
  /** Only of a file of 1.x. */
  pictures?: string[];
  /** Places of members that this release does not know; the topology is without them. */
  unknown: string[];
}

export interface ParseOptions extends UpgradeOptions {
  /**
   * For a file that is new here, as the release judges such files: refused are routers without an image, and unknown members in a file of
   * this revision by a release that wrote none, since somebody has changed it by hand.
   */
  strict?: boolean;
}

/** Reads the text of a .gns3 file, upgrading it in memory. `Failure('conflict')` says what is wrong where. */
export function parseTopology(text: string, options: ParseOptions = {}): ParsedTopology {
  const { strict = false } = options;
  let document: unknown;
  try {
    document = parseJsonBounded(text);
  } catch (thrown) {
    throw thrown instanceof Failure ? new Failure('conflict', thrown.message, { cause: thrown }) : thrown;
  }
  if (!isObject(document)) throw new Failure('conflict', 'a topology is one JSON object; this is another value');
  const { document: upgraded, from, ...files } = upgradeTopology(document, options);
  const { document: known, unknown } = knownMembers(upgraded);
  const isForeign = from === REVISION && unknown.length > 0 && isOfKnownRelease(upgraded['version']);
  const topology = checkTopology(strict && isForeign ? upgraded : known);
  if (strict) checkRequired(topology);
  return { topology, revision: from, unknown, ...files };
}

/** Reads the content of a .gns3 file, as `parseTopology` its text. */
export function parseTopologyBytes(bytes: Uint8Array, options: ParseOptions = {}): ParsedTopology {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (thrown) {
    throw new Failure('conflict', 'it is not UTF-8 text', { cause: thrown });
  }
  return parseTopology(text, options);
}

/** The text of the file: sorted members, indented by four. `Failure('conflict')` if it would not be readable again. */
export function serializeTopology(topology: Topology): string {
  return formatJson(checkTopology(topology));
}

/**
 * The topology of a project and its lab as the file has it. Whether every record fits the format is checked when it is
 * written.
 */
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

/** As the file has it: what is beyond the format stands in the style of the label. */
function nodeOf(node: { node_id: string } & StartMembers): JsonObject {
  const picked = pick(node, MEMBERS.node);
  return isObject(picked['label']) ? { ...picked, label: { ...labelWith(picked['label'] as Label, node) } } : picked;
}

function checkRequired({ topology }: Topology): void {
  topology.nodes.forEach(({ node_type, properties }, index) => {
    for (const [name, meaning] of Object.entries(nodeKind(node_type).required ?? {})) {
      if (typeof properties?.[name] === 'string') continue;
      throw new Failure('conflict', `topology.nodes[${index}].properties.${name}: is required (${meaning})`);
    }
  });
}

/** Whether all members are known that this release, or an earlier one, has written. */
function isOfKnownRelease(version: unknown): boolean {
  const [, ...numbers] = /^(\d+)\.(\d+)\.(\d+)$/.exec(String(version)) ?? [];
  if (numbers.length === 0) return false;
  const differing = numbers.map((number, index) => Number(number) - (KNOWN_RELEASE[index] ?? 0)).find(Boolean);
  return (differing ?? 0) <= 0;
}

function checkTopology(document: unknown): Topology {
  // To find all that is wrong with a long file takes seconds, in which others wait: there the first complaint has to do.
  const abortEarly = recordsOf(document) > MOST_RECORDS;
  const result = v.safeParse(Topology, document, { abortPipeEarly: true, abortEarly });
  if (result.success) return result.output;
  const complaints = result.issues.slice(0, MOST_COMPLAINTS).map((issue) => describeIssue(issue, 'document'));
  const more = result.issues.length - complaints.length;
  throw new Failure('conflict', complaints.join('; ') + (more > 0 ? `; and ${more} more` : ''));
}

/** Nodes, links, drawings and computes of a document. */
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
