// Changes of several parts of a lab at once: all nodes and drawings are locked, or all links of a node are suspended.
import type { Drawings } from './drawings.ts';
import type { Links } from './links.ts';
import type { Nodes } from './nodes.ts';
import type { Project } from './project.ts';

/** For `catch`: ignores that a part was deleted meanwhile; that the lab was closed is a failure. */
const unlessDeleted =
  (project: Project, kind: 'nodes' | 'links' | 'drawings', id: string) =>
  (error: unknown): void => {
    if (!project.isOpen || project[kind].has(id)) throw error;
  };

/** Whether everything in the lab is locked; an empty lab is. */
export function isLocked(project: Project): boolean {
  return [...project.nodes.values(), ...project.drawings.values()].every(({ record }) => record.locked === true);
}

/** What is locked is not deleted, and clients do not move it. */
export async function setLocked(
  project: Project,
  locked: boolean,
  parts: { nodes: Nodes; drawings: Drawings },
): Promise<void> {
  for (const kind of ['drawings', 'nodes'] as const) {
    for (const { id, record } of [...project[kind].values()]) {
      if (record.locked === locked) continue;
      await parts[kind].update(project, id, { locked }).catch(unlessDeleted(project, kind, id));
    }
  }
}

/** Suspends all links of a node, or resumes them. @throws Failure `not-found` */
export async function setIsolated(project: Project, nodeId: string, suspend: boolean, links: Links): Promise<void> {
  for (const { id } of project.linksOf(project.node(nodeId)))
    await links.update(project, id, { suspend }).catch(unlessDeleted(project, 'links', id));
}
