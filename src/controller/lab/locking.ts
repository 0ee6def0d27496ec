// Locks and unlocks all nodes and drawings of a lab: what is locked is not deleted, and clients do not move it.
import type { Drawings } from './drawings.ts';
import type { Nodes } from './nodes.ts';
import type { Project } from './project.ts';

export interface Locksmith {
  nodes: Nodes;
  drawings: Drawings;
}

/** Whether everything in the lab is locked; an empty lab is. */
export function isLocked(project: Project): boolean {
  return [...project.nodes.values(), ...project.drawings.values()].every(({ record }) => record.locked === true);
}

/** Changes what is not yet as wanted; each change is announced. What is deleted meanwhile is skipped. */
export async function setLocked(project: Project, locked: boolean, locksmith: Locksmith): Promise<void> {
  for (const kind of ['drawings', 'nodes'] as const) {
    for (const { id, record } of [...project[kind].values()]) {
      if (record.locked === locked) continue;
      await locksmith[kind].update(project, id, { locked }).catch((error: unknown) => {
        if (project[kind].has(id)) throw error;
      });
    }
  }
}
