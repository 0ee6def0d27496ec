// Disk use of nodes as a metric. It reads the status of all their files, so it runs at most once a minute, and only on
// request.
import type { Metric, Sample } from '../../../host/metrics.ts';
import type { Node } from '../node.ts';
import { diskUse } from './disk-use.ts';

const FRESH_MS = 60_000;

/**
 * @param nodes those of open projects on this host
 * @param moduleOf folder of a node's kind below `project-files`, if any
 */
export function diskMetric(nodes: () => Iterable<Node>, moduleOf: (node: Node) => string | undefined): Metric {
  let known: Promise<Sample[]> = Promise.resolve([]);
  let since = -Infinity;
  const look = async (): Promise<Sample[]> => {
    const samples: Sample[] = [];
    for (const node of [...nodes()]) {
      const module = moduleOf(node);
      // A node whose files cannot be read has no value.
      const bytes = module === undefined ? 0 : (await diskUse(node, module).catch(() => ({ bytes: 0 }))).bytes;
      if (bytes > 0)
        samples.push({ labels: { type: node.type, project: node.project.id, node: node.id }, value: bytes });
    }
    return samples;
  };
  return {
    name: 'labwire_node_disk_bytes',
    type: 'gauge',
    help: 'Bytes that each node of this host takes of its disks, looked at once a minute at most.',
    samples: () => {
      if (performance.now() - since > FRESH_MS) {
        since = performance.now();
        known = look();
      }
      return known;
    },
  };
}
