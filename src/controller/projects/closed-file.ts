// Reads the content of a closed project's topology file, and writes new settings into it.
import { join } from 'node:path';
import type { DrawingObject, LinkObject, NodeObject } from '../../api/objects.ts';
import type { Topology, TopologyLink, TopologyNode } from '../../api/topology.ts';
import { readRegularFile } from '../../host/files/regular-file.ts';
import { parseJsonBounded } from '../../store/json.ts';
import type { ProjectRecord } from '../../store/projects.ts';
import { LARGEST_FILE_BYTES, topologyOf } from '../../store/topology/document.ts';
import { hasTopologyFile, readTopologyFile, writeTopologyFile } from '../../store/topology/file.ts';
import { carriedStart, plainLabel } from '../../store/topology/start-order.ts';
import { carriedImpairments, impairs, plainStyle } from '../links/impairments.ts';

/** What a closed lab has: objects as in its file, without what only an open lab knows. */
export interface LabContent {
  nodes: NodeObject[];
  links: LinkObject[];
  drawings: DrawingObject[];
}

/**
 * Nodes, links or drawings exactly as in the file, except for extensions. `version` is written into an upgraded file; a
 * `readOnly` one is not upgraded.
 */
export async function storedContent<Kind extends keyof LabContent>(
  record: ProjectRecord,
  kind: Kind,
  { version, readOnly }: { version: string; readOnly: boolean },
): Promise<LabContent[Kind]> {
  const path = join(record.path, record.filename);
  if (!(await hasTopologyFile(path))) return [] as LabContent[Kind];
  // Reading it as an opening does checks the file and upgrades an older revision.
  await readTopologyFile(path, { version, readOnly });
  const document = parseJsonBounded((await readRegularFile(path, LARGEST_FILE_BYTES)).toString('utf8')) as Topology;
  const { links, nodes, drawings } = document.topology;
  const content = { links: links.map(shownLink), nodes: nodes.map(shownNode), drawings };
  return (content as unknown as LabContent)[kind];
}

/** A link with its impairments in the API's members. */
function shownLink(link: TopologyLink): object {
  const { link_style: style } = link;
  if (style === undefined) return link;
  const { impairments } = carriedImpairments(style);
  return { ...link, link_style: plainStyle(style), ...(impairs(impairments) && { impairments }) };
}

/** A node with its start in the API's members. */
function shownNode(node: TopologyNode): object {
  return node.label === undefined ? node : { ...node, label: plainLabel(node.label), ...carriedStart(node.label) };
}

/** Writes the settings of `record` into its file; the lab stays unchanged. */
export async function rewriteSettings(record: ProjectRecord, version: string): Promise<void> {
  const path = join(record.path, record.filename);
  if (!(await hasTopologyFile(path))) return;
  const { topology } = (await readTopologyFile(path, { version })).topology;
  const contents = topology as unknown as Parameters<typeof topologyOf>[1];
  await writeTopologyFile(path, topologyOf(record, contents, version));
}
