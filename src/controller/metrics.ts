// Metrics of the labs for `GET /metrics`.
import { Counters, type Metric, type Sample, single } from '../host/metrics.ts';
import type { Computes } from './computes/computes.ts';
import type { Projects } from './projects/projects.ts';

interface MetricParts {
  projects: Projects;
  computes: Computes;
}

function counted<T>(things: Iterable<T>, labels: (thing: T) => Record<string, string>): Iterable<Sample> {
  const counts = new Counters();
  for (const thing of things) counts.add(labels(thing));
  return counts.samples();
}

export function controllerMetrics({ projects, computes }: MetricParts): Metric[] {
  return [
    {
      name: 'labwire_projects',
      type: 'gauge',
      help: 'Projects by state: opened, closed, opening, closing.',
      samples: () => counted(projects.list(), ({ state }) => ({ state })),
    },
    {
      name: 'labwire_nodes',
      type: 'gauge',
      help: 'Nodes of open projects, on all computes, by type and status.',
      samples: () =>
        counted(
          projects.list().flatMap(({ nodes }) => [...nodes.values()]),
          (node) => ({ type: node.type, status: node.status }),
        ),
    },
    single('labwire_links', 'gauge', 'Links of open projects.', () =>
      projects.list().reduce((sum, { links }) => sum + links.size, 0),
    ),
    {
      name: 'labwire_computes',
      type: 'gauge',
      help: 'Computes by whether they are connected.',
      samples: () => counted(computes.list(), ({ connected }) => ({ connected: String(connected) })),
    },
  ];
}
