// The selection in a lab: nodes and drawings, or one link.
export interface Selection {
  readonly nodes: readonly string[];
  readonly link: string | undefined;
  readonly drawings: readonly string[];
}

export const NOTHING: Selection = { nodes: [], link: undefined, drawings: [] };
