// The text of a topology file, read and written.
import * as v from 'valibot';
import { Failure } from '../../failures.ts';
import { describeIssue } from '../issues.ts';
import { formatJson, isObject, type JsonObject, parseJsonBounded } from '../json.ts';
import type { LabContents } from '../labs.ts';
import type { ProjectRecord } from '../projects.ts';
import { PROJECT_SETTINGS, REVISION, Topology } from './schema.ts';
import { type DynamipsFiles, upgradeTopology } from './upgrade.ts';

/** Complaints of one message; a file that is of another kind altogether would give thousands. */
const MOST_COMPLAINTS = 5;

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
}

/** Reads the text of a .gns3 file, upgrading it in memory. `Failure('conflict')` says what is wrong where. */
export function parseTopology(text: string): ParsedTopology {
  let document: unknown;
  try {
    document = parseJsonBounded(text);
  } catch (thrown) {
    throw thrown instanceof Failure ? new Failure('conflict', thrown.message, { cause: thrown }) : thrown;
  }
  if (!isObject(document)) throw new Failure('conflict', 'a topology is one JSON object; this is another value');
  const { document: upgraded, from, ...files } = upgradeTopology(document);
  return { topology: checkTopology(upgraded), revision: from, ...files };
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
      nodes: lab.nodes.map((node) => pick(node, MEMBERS.node)),
    },
  } as Topology;
}

function checkTopology(document: unknown): Topology {
  const result = v.safeParse(Topology, document, { abortPipeEarly: true });
  if (result.success) return result.output;
  const complaints = result.issues.slice(0, MOST_COMPLAINTS).map((issue) => describeIssue(issue, 'document'));
  const more = result.issues.length - complaints.length;
  throw new Failure('conflict', complaints.join('; ') + (more > 0 ? `; and ${more} more` : ''));
}

function pick(record: object, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(record).filter(([name, value]) => names.includes(name) && value !== undefined),
  );
}
