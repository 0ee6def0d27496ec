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

/** A host as its cluster sees it. */
export interface ClusterHost {
  compute_id: string;
  name: string;
  is_controller: boolean;
  /** Since its lease was renewed last; null if this controller has not seen it. */
  lease_age_seconds: number | null;
  /** It may become the controller: `ready` when it has the whole log of changes. */
  standby: 'waiting' | 'ready' | null;
  runs_nats: boolean;
  /** Nodes of open labs there that the client may see. */
  nodes: number;
  running_nodes: number;
  /** When the files of its nodes were last copied as a whole; null if they are not. */
  checkpoint: string | null;
  /** How frames of links with hosts in other networks go: directly by UDP, or through NATS. */
  frames: 'udp' | 'relay';
  /** Its clouds and NATs are cut off from networks outside of labs. */
  outside_closed: boolean;
}

export interface ClusterObject {
  /** Null outside of a cluster. */
  name: string | null;
  hosts: ClusterHost[];
}
