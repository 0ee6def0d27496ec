// A project and its nodes, as far as the parts of a node know them.

/** The project as its nodes know it. */
export interface NodeProject {
  readonly id: string;
  /** Its directory. */
  readonly path: string;
}

/** A node as its ports know it. */
export interface PortOwner {
  readonly name: string;
  readonly project: NodeProject;
}
