// A project and its nodes, as far as the parts of a node know them.
import type { Variables } from '../../store/vocabulary.ts';

/** The project as its nodes know it. */
export interface NodeProject {
  readonly id: string;
  /** Its directory. */
  readonly path: string;
  /** Texts of the user's that nodes may be configured with. */
  readonly variables: Variables;
}

/** A node as its ports know it. */
export interface PortOwner {
  readonly name: string;
  readonly project: NodeProject;
}
