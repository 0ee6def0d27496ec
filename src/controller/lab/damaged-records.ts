// Restores damaged records of an open lab from its topology file, which is a few seconds older than the database.
import type { Lab, LabContents } from '../../store/labs.ts';
import { readTopologyFile } from '../../store/topology/file.ts';

/**
 * Returns the lab with each damaged record replaced from the file at `path`. A record missing there too is left out.
 */
export async function mended(lab: Lab, path: string, version: string): Promise<LabContents> {
  if (lab.damaged.length === 0) return lab;
  const file = await readTopologyFile(path, { version }).catch(() => undefined);
  const stored = file?.topology.topology as LabContents | undefined;
  if (stored === undefined) return lab;
  const lost = (wanted: string) => new Set(lab.damaged.filter(({ kind }) => kind === wanted).map(({ id }) => id));
  const [nodes, links, drawings, computes] = [lost('node'), lost('link'), lost('drawing'), lost('compute')];
  return {
    nodes: [...lab.nodes, ...stored.nodes.filter(({ node_id: id }) => nodes.has(id))],
    links: [...lab.links, ...stored.links.filter(({ link_id: id }) => links.has(id))],
    drawings: [...lab.drawings, ...stored.drawings.filter(({ drawing_id: id }) => drawings.has(id))],
    computes: [...lab.computes, ...stored.computes.filter(({ compute_id: id }) => computes.has(id))],
  };
}
