// Converts a topology for export and for import under new ids. Pure functions.
import { randomUUID } from 'node:crypto';
import { posix } from 'node:path';
import { nodeKind } from '../../api/kinds/kinds.ts';
import type { Topology, TopologyCompute, TopologyNode } from '../../api/topology.ts';
import { conflict } from '../../failures.ts';
import type { NodeStatus } from '../nodes/node.ts';

export interface ImageReference {
  /** The node's property with the image name. */
  property: string;
  /** File name, or a path on the node's compute. */
  image: string;
}

export function imageReferences({ node_type: type, properties = {} }: TopologyNode): ImageReference[] {
  const { images } = nodeKind(type);
  if (images === undefined) return [];
  return Object.entries(properties)
    .filter((entry): entry is [string, string] => images.isReference(entry[0]) && typeof entry[1] === 'string')
    .filter(([, image]) => image !== '')
    .map(([property, image]) => ({ property, image }));
}

export function baseName(image: string): string {
  return posix.basename(image.replaceAll('\\', '/'));
}

export function withImages(topology: Topology, rename: (node: TopologyNode, image: string) => string): Topology {
  return mapNodes(topology, (node) => {
    const renamed = imageReferences(node).map(({ property, image }) => [property, rename(node, image)]);
    return renamed.length === 0
      ? node
      : { ...node, properties: { ...node.properties, ...Object.fromEntries(renamed) } };
  });
}

/** A topology for any server: all nodes are on its own compute, images have plain file names. */
export function portableTopology(topology: Topology): Topology {
  const local = mapNodes(topology, (node) => ({ ...node, compute_id: 'local' }));
  return withImages({ ...local, topology: { ...local.topology, computes: [] } }, (_node, image) => baseName(image));
}

/** Adds the status of nodes; the format has the member, but only this server writes it. */
export function withStatuses(topology: Topology, statuses: ReadonlyMap<string, NodeStatus>): Topology {
  return mapNodes(topology, (node) => {
    const status = statuses.get(node.node_id ?? '');
    return status === undefined ? node : { ...node, status };
  });
}

/** Removes the statuses; returns them by node id. */
export function takeStatuses(topology: Topology): { topology: Topology; statuses: Map<string, NodeStatus> } {
  const statuses = new Map<string, NodeStatus>();
  const plain = mapNodes(topology, ({ status, ...node }) => {
    if (status !== undefined && node.node_id !== undefined) statuses.set(node.node_id, status);
    return node;
  });
  return { topology: plain, statuses };
}

/** Removes the nodes' MAC addresses: each node gets new ones when it is opened. */
export function withoutMacAddresses(topology: Topology): Topology {
  return mapNodes(topology, (node) => {
    const found = ['mac_addr', 'mac_address'].filter((property) => node.properties && property in node.properties);
    if (found.length === 0) return node;
    return { ...node, properties: { ...node.properties, ...Object.fromEntries(found.map((name) => [name, null])) } };
  });
}

export interface NewIdentity {
  project_id: string;
  name: string;
  auto_start: boolean;
  auto_open: boolean;
  auto_close: boolean;
}

export interface Renewed {
  topology: Topology;
  /** New id of each node by its old one, for renaming its folders. */
  nodeIds: ReadonlyMap<string, string>;
}

/**
 * The same lab as another project: nodes, links and drawings get new ids. Nodes stay on their compute if `computeOf`
 * knows it; all others go to this host (the release spreads nodes over all its computes, whatever they were made for).
 * @throws Failure `conflict` when an id occurs twice
 */
export function renewed(
  topology: Topology,
  identity: NewIdentity,
  computeOf: (id: string) => TopologyCompute | undefined,
): Renewed {
  const nodeIds = new Map<string, string>();
  const { nodes, links, drawings } = topology.topology;
  for (const { node_id: id } of nodes) {
    if (id === undefined) continue;
    if (nodeIds.has(id)) throw conflict(`node_id: ${id} occurs twice in the topology.`);
    nodeIds.set(id, randomUUID());
  }
  const computes = new Map<string, TopologyCompute>();
  const placed = nodes.map((node) => {
    const compute = node.compute_id === 'local' ? undefined : computeOf(node.compute_id);
    if (compute) computes.set(compute.compute_id, compute);
    const { project_id: _project, ...rest } = node;
    return {
      ...rest,
      node_id: node.node_id === undefined ? randomUUID() : (nodeIds.get(node.node_id) as string),
      compute_id: compute?.compute_id ?? 'local',
    };
  });
  return {
    nodeIds,
    topology: {
      ...topology,
      ...identity,
      topology: {
        computes: [...computes.values()],
        nodes: placed,
        links: links.map(({ project_id: _project, ...link }) => ({
          ...link,
          link_id: randomUUID(),
          ...(link.nodes && {
            nodes: link.nodes.map((end) => ({ ...end, node_id: nodeIds.get(end.node_id) ?? end.node_id })),
          }),
        })),
        drawings: drawings.map(({ project_id: _project, ...drawing }) => ({ ...drawing, drawing_id: randomUUID() })),
      },
    },
  };
}

function mapNodes(topology: Topology, change: (node: TopologyNode) => TopologyNode): Topology {
  return { ...topology, topology: { ...topology.topology, nodes: topology.topology.nodes.map(change) } };
}
