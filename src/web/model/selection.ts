// What is chosen in a lab: nodes, or one link.
export interface Selection {
  nodes: readonly string[];
  link: string | undefined;
}

export const NOTHING: Selection = { nodes: [], link: undefined };
