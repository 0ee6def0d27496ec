// Changes of several parts of a lab at once: all nodes and drawings are locked, or all links of a node are suspended.
import { severalRecords } from './claims.ts';
import type { Drawings } from './drawings.ts';
import type { Links } from './links.ts';
import type { Nodes } from './nodes.ts';
import type { Project } from './project.ts';

/** Whether everything in the lab is locked; an empty lab is. */
export function isLocked(project: Project): boolean {
  return [...project.nodes.values(), ...project.drawings.values()].every(({ record }) => record.locked === true);
}

/** Locks or unlocks everything, or nothing. What is locked is not deleted, and clients do not move it. */
export function setLocked(
  project: Project,
  locked: boolean,
  { nodes, drawings }: { nodes: Nodes; drawings: Drawings },
): Promise<void> {
  const [nodeIds, drawingIds] = [[...project.nodes.keys()], [...project.drawings.keys()]];
  return project.changes.run(severalRecords(nodeIds, drawingIds), async () => {
    project.requireOpen();
    const ofNodes = nodeIds.flatMap((id) => project.nodes.get(id) ?? []);
    const ofDrawings = drawingIds
      .flatMap((id) => project.drawings.get(id) ?? [])
      .filter(({ record }) => record.locked !== locked)
      .map((drawing) => ({ drawing, record: { ...drawing.record, locked } }));
    const others = ofDrawings.map(({ record }) => ({ drawing: record }));
    const changed = await nodes.records.writeTogether(project, ofNodes, (record) => ({ ...record, locked }), others);
    for (const { drawing, record } of ofDrawings) await drawings.replace(project, drawing, record);
    for (const node of changed) nodes.records.announce('node.updated', node);
  });
}

/** Suspends all links of a node, or resumes them, all or none. @throws Failure `not-found` */
export async function setIsolated(project: Project, nodeId: string, suspend: boolean, links: Links): Promise<void> {
  const ids = project.linksOf(project.node(nodeId)).map(({ id }) => id);
  await links.suspend(project, ids, suspend);
}
