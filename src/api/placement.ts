// Hosts that the server chooses: the compute that stands for them, and what placements and drains answer.

/** The compute that a client names to leave the choice to the server. */
export const AUTO_ID = 'auto';

/** A node's host, whether it was chosen or named. */
export interface PlacementObject {
  nodes: { node_id: string; name: string; compute_id: string; reason: string }[];
  hosts: { compute_id: string; name: string; nodes: number }[];
  links: number;
  crossing_links: number;
}

/** A node that a drain was about. */
export interface DrainedNode {
  project_id: string;
  project_name: string;
  node_id: string;
  name: string;
}

/** What a drain has done. */
export interface Drained {
  compute_id: string;
  name: string;
  draining: boolean;
  moved: (DrainedNode & { compute_id: string; reason: string })[];
  /** Nodes that stay, each with the reason and the fix. */
  left: (DrainedNode & { reason: string })[];
  /** The host that is the controller from now on: the drained one was it. */
  next_controller?: string;
}
