// The nodes of a lab on the server.
import { portsOf } from '../../api/kinds/kinds.ts';
import type { Port } from '../../api/kinds/port.ts';
import type { NodeObject } from '../../api/objects.ts';
import type { TopologyNode } from '../../api/topology.ts';
import type { Label, NodeType } from '../../api/vocabulary.ts';
import type { Api } from './api.ts';

export interface ServerNode extends NodeObject, Omit<TopologyNode, keyof NodeObject> {
  properties: Record<string, unknown>;
  label: Label;
  start_order?: number;
  start_delay?: number;
}

type Live = 'status' | 'console' | 'ports';
/** As a closed lab lists it, from its file. */
type FileNode = Omit<ServerNode, Live> & Partial<Pick<ServerNode, Live>>;

/** The nodes of a lab. Those of a closed one are `stopped`, have no console, and the ports that their settings give. */
export async function readNodes(api: Api, { project_id }: { project_id: string }): Promise<ServerNode[]> {
  return (await api.get<FileNode[]>(`/v2/projects/${project_id}/nodes`)).map(completed);
}

function completed(node: FileNode): ServerNode {
  return { status: 'stopped', console: null, ...node, ports: node.ports ?? knownPorts(node) };
}

function knownPorts(node: FileNode): Port[] {
  try {
    return portsOf({
      node_type: node.node_type as NodeType,
      properties: node.properties,
      port_name_format: node.port_name_format ?? 'Ethernet{0}',
      port_segment_size: node.port_segment_size ?? 0,
      first_port_name: node.first_port_name ?? null,
      custom_adapters: node.custom_adapters ?? [],
    });
  } catch {
    return [];
  }
}
