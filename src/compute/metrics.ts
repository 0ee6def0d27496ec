// Metrics of what runs on this host.
import { consoleClients } from '../consoles/console.ts';
import type { Fabric } from '../fabric/fabric.ts';
import { fabricMetrics } from '../fabric/metrics.ts';
import { type Metric, single } from '../host/metrics.ts';
import type { SupervisorClient } from '../supervisor/client.ts';
import type { FrameRelay } from './services.ts';

export function computeMetrics({
  fabric,
  supervisor,
  relay,
}: {
  fabric: Fabric;
  supervisor: SupervisorClient;
  relay: () => FrameRelay | undefined;
}): Metric[] {
  return [
    ...fabricMetrics(fabric),
    {
      name: 'labwire_relay_frames_total',
      type: 'counter',
      help: 'Frames of links that the relay of the cluster carries.',
      samples: () => relay()?.counters.samples() ?? [],
    },
    single(
      'labwire_programs',
      'gauge',
      "Programs of nodes that run in the supervisor's keeping.",
      () => supervisor.running,
    ),
    single('labwire_console_clients', 'gauge', 'Clients of consoles, telnet and WebSocket.', consoleClients),
  ];
}
