// The node of a machine, as those know it that run the machine.
import type { NodeProject } from '../../nodes/owner.ts';
import type { Services } from '../../services.ts';

/** The node as its machine knows it. */
export interface MachineNode {
  readonly id: string;
  readonly name: string;
  readonly project: NodeProject;
  readonly services: Services;
  readonly directory: string;
}
