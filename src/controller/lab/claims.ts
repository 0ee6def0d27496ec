// The claim of each kind of change. A node has three separate parts: its record, the links at its ports, and whether it runs.
import type { Claim } from './change-queue.ts';

/** Whether any node starts or stops. Actions read it; a change that needs all nodes to keep still writes it. */
const RUNS = 'runs';

const record = (nodeId: string): string => `record ${nodeId}`;
const wires = (nodeId: string): string => `wires ${nodeId}`;
const run = (nodeId: string): string => `run ${nodeId}`;
const link = (id: string): string => `link ${id}`;
const drawing = (id: string): string => `drawing ${id}`;

/** Claims only the project: it is not opened, closed, replaced or deleted meanwhile. */
export const PRESENCE: Claim = {};

export const SETTINGS: Claim = { writes: ['settings'] };

/** No node starts, stops, is created or deleted meanwhile. */
export const NODES_AT_REST: Claim = { writes: [RUNS] };

/** A node is created or deleted. */
export const wholeNode = (id: string): Claim => ({ writes: [record(id), wires(id), run(id)], reads: [RUNS] });

/** A node's record changes; new properties may change its ports. */
export const nodeRecord = (id: string, { properties }: { properties?: unknown } = {}): Claim => ({
  writes: [record(id), ...(properties === undefined ? [] : [wires(id)])],
});

/** A node starts or stops, or its files are changed. */
export const nodeRun = (id: string): Claim => ({ writes: [run(id)], reads: [RUNS] });

/** The node is not deleted meanwhile. */
export const nodePresence = (id: string): Claim => ({ reads: [wires(id)] });

/** A node moves to another host and its links are rewired. */
export const movedNode = (id: string, linkIds: readonly string[]): Claim => {
  const { writes = [], ...claim } = wholeNode(id);
  return { ...claim, writes: [...writes, ...linkIds.map(link)] };
};

/** A node is duplicated. */
export const nodeCopy = (source: string, copy: string): Claim => {
  const { writes = [] } = wholeNode(copy);
  return { writes, reads: [RUNS, record(source), run(source)] };
};

/** An end of a new link. */
interface End {
  node_id: string;
  adapter_number: number;
  port_number: number;
}

/**
 * A link is created. Two links at one port run one after the other, links at different ports of a node concurrently.
 */
export const newLink = (id: string, ends: readonly End[]): Claim => ({
  writes: [link(id), ...ends.map(portOf)],
  reads: ends.map((end) => wires(end.node_id)),
});

function portOf({ node_id: id, adapter_number: adapter, port_number: port }: End): string {
  return `port ${id}/${adapter}/${port}`;
}

/** Links change or are deleted; their nodes stay meanwhile. */
export const wholeLinks = (ids: readonly string[], nodeIds: readonly string[]): Claim => ({
  writes: ids.map(link),
  reads: nodeIds.map(wires),
});

/** Records of nodes and drawings change together. */
export const severalRecords = (nodeIds: readonly string[], drawingIds: readonly string[]): Claim => ({
  writes: [...nodeIds.map(record), ...drawingIds.map(drawing)],
});

export const wholeDrawing = (id: string): Claim => ({ writes: [drawing(id)] });
