// CPU time and memory of nodes, as metrics and as part of this host's statistics. Measured only on request.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NodeLoad } from '../../../api/objects.ts';
import type { Metric, Sample } from '../../../host/metrics.ts';
import type { ProcessLoad } from '../../../host/processes/process-load.ts';
import type { Node } from '../node.ts';

/** Nodes measured before other work gets a turn: some milliseconds. */
const AT_ONCE = 50;

async function looked(nodes: Iterable<Node>): Promise<[Node, ProcessLoad][]> {
  const found: [Node, ProcessLoad][] = [];
  let count = 0;
  for (const node of [...nodes]) {
    count += 1;
    if (count % AT_ONCE === 0) await nextTurn();
    const load = node.load();
    if (load) found.push([node, load]);
  }
  return found;
}

/** Of those with their own process. */
export async function loadOfNodes(nodes: Iterable<Node>): Promise<NodeLoad[]> {
  return (await looked(nodes)).map(([{ id }, { cpuSeconds, memoryBytes }]) => ({
    node_id: id,
    cpu_seconds: cpuSeconds,
    memory_bytes: memoryBytes,
  }));
}

/** @param nodes those of open projects on this host */
export function loadMetrics(nodes: () => Iterable<Node>): Metric[] {
  // Both metrics are read together: share one measurement.
  let looking: Promise<[Node, ProcessLoad][]> | undefined;
  const look = (): Promise<[Node, ProcessLoad][]> => {
    looking ??= looked(nodes()).finally(() => {
      looking = undefined;
    });
    return looking;
  };
  const samples = (value: (load: ProcessLoad) => number) => async (): Promise<Sample[]> =>
    (await look()).map(([node, load]) => ({
      labels: { type: node.type, project: node.project.id, node: node.id },
      value: value(load),
    }));
  return [
    {
      name: 'labwire_node_cpu_seconds_total',
      type: 'counter',
      help: 'Processor time of the process of each node of this host, since it began.',
      samples: samples(({ cpuSeconds }) => cpuSeconds),
    },
    {
      name: 'labwire_node_memory_bytes',
      type: 'gauge',
      help: 'Memory and swap space of the process of each node of this host.',
      samples: samples(({ memoryBytes }) => memoryBytes),
    },
  ];
}
