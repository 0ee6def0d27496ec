// Makes a node's record from a request or a topology file.
import { randomUUID } from 'node:crypto';
import { nodeKind } from '../../api/kinds/kinds.ts';
import type { NodeCreate } from '../../api/routes/nodes.ts';
import type { TopologyNode } from '../../api/topology.ts';
import { carriedStart, plainLabel, type StartMembers } from '../../store/topology/start-order.ts';
import { defaultLabel } from './label.ts';
import type { NodeRecord } from './node.ts';

const USUAL_PORT_NAMES = { format: 'Ethernet{0}', segmentSize: 0 };

/** The symbol ids to store and their sizes in pixels. */
export interface SymbolSource {
  forNode(symbol: string | null | undefined): { symbol: string; width: number; height: number };
}

/** The record of a new node. `name` is already reserved in the project's pool. */
export function nodeRecord(given: NodeCreate | TopologyNode, name: string, symbols: SymbolSource): NodeRecord {
  const { symbol, width, height } = symbols.forNode(given.symbol);
  const names = nodeKind(given.node_type).portNames ?? USUAL_PORT_NAMES;
  return {
    node_id: given.node_id ?? randomUUID(),
    node_type: given.node_type,
    compute_id: given.compute_id,
    template_id: given.template_id ?? null,
    name,
    console: given.console ?? null,
    console_type: given.console_type ?? null,
    console_auto_start: given.console_auto_start ?? false,
    properties: { ...given.properties },
    label: given.label ? { ...plainLabel(given.label), text: name } : defaultLabel(name, height),
    x: given.x ?? 0,
    y: given.y ?? 0,
    z: given.z ?? 1,
    locked: given.locked ?? false,
    width,
    height,
    symbol,
    port_name_format: given.port_name_format ?? names.format,
    port_segment_size: given.port_segment_size ?? names.segmentSize,
    first_port_name: given.first_port_name ?? null,
    custom_adapters: given.custom_adapters ?? [],
    ...carriedStart(given.label),
    ...givenStart(given),
  };
}

/** The start order and delay in a request; in a file they are in the label. */
function givenStart(given: NodeCreate | TopologyNode): StartMembers {
  const { start_order, start_delay } = given as NodeCreate;
  return { ...(start_order !== undefined && { start_order }), ...(start_delay !== undefined && { start_delay }) };
}
