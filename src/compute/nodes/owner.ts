// The parts of a project and a node that a node's own parts need.
import type { Variables } from '../../api/vocabulary.ts';

/** A project as its nodes see it. */
export interface NodeProject {
  readonly id: string;
  /** Its directory. */
  readonly path: string;
  /** Texts of the user that nodes may be configured with. */
  readonly variables: Variables;
}

/** A node as its ports see it. */
export interface PortOwner {
  readonly id: string;
  readonly name: string;
  readonly project: NodeProject;
  /** @throws Failure `conflict` for an adapter that the node's program uses otherwise */
  mustBeFree?(adapter: number): Promise<void>;
}
