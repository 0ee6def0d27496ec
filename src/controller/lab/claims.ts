// What each kind of change touches. The parts of a node are apart: what is stored of it, what is plugged into it, and whether it runs.
import type { Claim } from './change-queue.ts';

/** Whether any node begins or ends to run: actions read it, so that what needs all nodes at rest writes it. */
const RUNS = 'runs';

const record = (nodeId: string): string => `record ${nodeId}`;
const wires = (nodeId: string): string => `wires ${nodeId}`;
const run = (nodeId: string): string => `run ${nodeId}`;

/** What says nothing but that the project stays as it is: neither opened nor closed, exchanged nor deleted meanwhile. */
export const PRESENCE: Claim = {};

export const SETTINGS: Claim = { writes: ['settings'] };

/** Nodes neither begin nor end to run, come or go. */
export const NODES_AT_REST: Claim = { writes: [RUNS] };

/** A node comes or goes. */
export const wholeNode = (id: string): Claim => ({ writes: [record(id), wires(id), run(id)], reads: [RUNS] });

/** What is stored of a node changes; its properties may change its ports. */
export const nodeRecord = (id: string, { properties }: { properties?: unknown } = {}): Claim => ({
  writes: [record(id), ...(properties === undefined ? [] : [wires(id)])],
});

/** A node starts, stops, or has its files worked on. */
export const nodeRun = (id: string): Claim => ({ writes: [run(id)], reads: [RUNS] });

/** A node stays; nothing else is asked of it. */
export const nodePresence = (id: string): Claim => ({ reads: [wires(id)] });

/** A node goes to another host, and its links are wired anew. */
export const movedNode = (id: string, linkIds: readonly string[]): Claim => {
  const { writes = [], ...claim } = wholeNode(id);
  return { ...claim, writes: [...writes, ...linkIds.map((link) => `link ${link}`)] };
};

/** A node is copied. */
export const nodeCopy = (source: string, copy: string): Claim => {
  const { writes = [] } = wholeNode(copy);
  return { writes, reads: [RUNS, record(source), run(source)] };
};

/** An end of a link that comes. */
interface End {
  node_id: string;
  adapter_number: number;
  port_number: number;
}

/** A link comes: two at one port are one after the other, those at other ports of a node are not. */
export const newLink = (id: string, ends: readonly End[]): Claim => ({
  writes: [`link ${id}`, ...ends.map(portOf)],
  reads: ends.map((end) => wires(end.node_id)),
});

function portOf({ node_id: id, adapter_number: adapter, port_number: port }: End): string {
  return `port ${id}/${adapter}/${port}`;
}

/** A link changes or goes; its nodes stay meanwhile. */
export const wholeLink = (id: string, nodeIds: readonly string[]): Claim => ({
  writes: [`link ${id}`],
  reads: nodeIds.map(wires),
});

export const wholeDrawing = (id: string): Claim => ({ writes: [`drawing ${id}`] });
