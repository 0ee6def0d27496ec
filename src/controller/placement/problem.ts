// What a placement is computed from, and its result.

/** A host as the controller knows it now. Memory in MiB. */
export interface Host {
  id: string;
  name: string;
  connected: boolean;
  draining: boolean;
  /** Kinds of nodes that it can run. */
  kinds: ReadonlySet<string>;
  /** Why kinds of nodes are unavailable there. */
  unavailable: ReadonlyMap<string, string>;
  /** Memory for new nodes. */
  memory: number;
  /** Its processors; undefined if it does not report them. */
  processors: number | undefined;
  /** Load for new nodes, in processors. */
  load: number;
  kvm: boolean;
  /** Images there, as `qemu/disk.qcow2`. */
  images: ReadonlySet<string>;
  /** Images that other hosts of its cluster send it. */
  inCluster?: ReadonlySet<string>;
  diskPercent: number;
  /** Names of its network interfaces; empty unless a node needs one. */
  interfaces: ReadonlySet<string>;
}

/** What a node needs of its host. Memory in MiB. */
export interface Needs {
  memory: number;
  /** Processors that its host must have. */
  processors: number;
  /** Its usual load, in processors. */
  load: number;
  kvm: boolean;
  images: readonly string[];
  /** Names of network interfaces. */
  interfaces: readonly string[];
}

export interface PlacedNode extends Needs {
  id: string;
  name: string;
  kind: string;
  /** The host that it must be on. */
  pinned?: string | undefined;
  /** It is on its pinned host already: its needs are no longer part of the host's free memory and load. */
  settled?: boolean;
}

export interface Problem {
  /** In order of preference. */
  hosts: readonly Host[];
  nodes: readonly PlacedNode[];
  /** Pairs of node ids. */
  links: readonly (readonly [string, string])[];
  /** Images that the controller's own host sends to any host that needs them. */
  sendable: ReadonlySet<string>;
}

export interface Choice {
  host: string;
  reason: string;
}

export interface Unplaceable {
  node: string;
  name: string;
  missing: { host: string; name: string; reason: string }[];
}

export interface Solution {
  /** By node id, without settled nodes. */
  choices: ReadonlyMap<string, Choice>;
  unplaceable: readonly Unplaceable[];
  /** Links whose nodes are on different hosts. */
  crossing: number;
}
