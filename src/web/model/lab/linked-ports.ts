// Finds the links of a node's ports.
import type { LinkEnd, LinkObject, NodeObject, PortObject } from '../server/types.ts';
import type { Lab } from './lab.ts';

/** The link at a port, and its end there. */
export function linkAt(lab: Lab, node: NodeObject, port: PortObject): { link: LinkObject; end: LinkEnd } | undefined {
  for (const link of lab.linksOf(node.node_id)) {
    const end = link.nodes.find(
      (candidate) =>
        candidate.node_id === node.node_id &&
        candidate.adapter_number === port.adapter_number &&
        candidate.port_number === port.port_number,
    );
    if (end) return { link, end };
  }
  return undefined;
}

export function freePorts(lab: Lab, node: NodeObject): PortObject[] {
  return node.ports.filter((port) => linkAt(lab, node, port) === undefined);
}

/** The name of the port at an end of a link. */
export function portName(lab: Lab, end: LinkEnd): string {
  const port = lab.nodes
    .get(end.node_id)
    ?.ports.find(
      (candidate) => candidate.adapter_number === end.adapter_number && candidate.port_number === end.port_number,
    );
  return port?.short_name || port?.name || `${end.adapter_number}/${end.port_number}`;
}
