// Finds the ports of links' ends, on existing nodes and on nodes as the file will make them.
import type { Port } from '../../api/kinds/port.ts';
import { portNamed, portsInWords } from '../server/link-ends.ts';
import type { ServerNode } from '../server/nodes.ts';
import type { Mistake } from './file-mistakes.ts';
import { nodeKey, type WantedLab, type WantedNode } from './model.ts';
import { type Base, portsAhead } from './node-settings.ts';

/** A node's ports after applying the file; undefined if unknown. */
export type PortsOf = (node: WantedNode) => readonly Port[] | undefined;

/** From the file alone. */
export const portsByFile: PortsOf = (node) => (node.type === undefined ? undefined : portsAhead(node.type, node));

/** Links at ports that there will not be, or that no server joins. */
export function portMistakes(lab: WantedLab, portsOf: PortsOf): Mistake[] {
  const nodes = new Map(lab.nodes.map((node) => [node.name, { node, ports: portsOf(node), links: 0 }]));
  const taken = new Map<string, string>();
  return lab.links.flatMap((link) => {
    const messages: string[] = [];
    const named: (Port | undefined)[] = [];
    for (const end of link.ends) {
      const found = nodes.get(end.node);
      if (!found?.ports) continue;
      const { node, ports } = found;
      found.links += 1;
      const port = end.port === undefined ? undefined : portNamed({ ports }, end.port);
      named.push(port);
      if (port) {
        const key = JSON.stringify([node.name, port.adapter_number, port.port_number]);
        const before = taken.get(key);
        // The same text twice is known without the ports.
        if (before !== undefined && before !== `${end.node}:${end.port}`)
          messages.push(`${end.node}:${end.port} is the same port as ${before}; name another port`);
        taken.set(key, `${end.node}:${end.port}`);
      }
      if (end.port !== undefined && !port)
        messages.push(`${node.name} has no port "${end.port}"; ${portsInWords({ ports })}`);
      else if (found.links > ports.length)
        messages.push(`this is link ${found.links} of ${node.name}; ${portsInWords({ ports })}`);
    }
    const [one, other] = named;
    if (one && other && one.link_type !== other.link_type) {
      const words = `${link.ends[0].port} is ${one.link_type}, ${link.ends[1].port} is ${other.link_type}`;
      messages.push(`${words}; a link joins two of a kind`);
    }
    return messages.map((message) => ({ ...link.place, message: `links "${link.text}": ${message}` }));
  });
}

/** The nodes' ports after the file is applied to the server. */
export function portsAfterwards(
  found: ReadonlyMap<string, ServerNode | undefined>,
  madeOf: (node: WantedNode) => { type: string; base?: Base } | undefined,
): PortsOf {
  return (node) => {
    const is = found.get(nodeKey(node.name));
    if (!is) {
      const made = madeOf(node);
      return made && portsAhead(made.type, node, made.base);
    }
    const isChanged = node.properties ?? node.custom_adapters ?? node.ports;
    return (isChanged && portsAhead(is.node_type, node, is as Base)) ?? is.ports;
  };
}
