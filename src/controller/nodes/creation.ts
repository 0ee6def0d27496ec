// From a request, or from a topology file, to the record of a node.
import { randomUUID } from 'node:crypto';
import type { TopologyNode } from '../../store/topology/schema.ts';
import { defaultLabel } from './label.ts';
import type { NodeRecord } from './node.ts';
import type { NodeCreate } from './schema.ts';

/** Where symbols come from: the id to keep and its size, in pixels. */
export interface SymbolSource {
  forNode(symbol: string | null | undefined): { symbol: string; width: number; height: number };
}

/** The record of a node that does not exist yet. `name` was taken from the project's pool. */
export function nodeRecord(given: NodeCreate | TopologyNode, name: string, symbols: SymbolSource): NodeRecord {
  const { symbol, width, height } = symbols.forNode(given.symbol);
  const iou = given.node_type === 'iou';
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
    label: given.label ? { ...given.label, text: name } : defaultLabel(name, height),
    x: given.x ?? 0,
    y: given.y ?? 0,
    z: given.z ?? 1,
    locked: given.locked ?? false,
    width,
    height,
    symbol,
    port_name_format: given.port_name_format ?? (iou ? 'Ethernet{segment0}/{port0}' : 'Ethernet{0}'),
    port_segment_size: given.port_segment_size ?? (iou ? 4 : 0),
    first_port_name: given.first_port_name ?? null,
    custom_adapters: given.custom_adapters ?? [],
  };
}
