// Figures of what runs on this host.
import { consoleClients } from '../consoles/console.ts';
import type { Fabric } from '../fabric/fabric.ts';
import { fabricMetrics } from '../fabric/metrics.ts';
import type { HolderClient } from '../holder/client.ts';
import { type Metric, single } from '../host/metrics.ts';

export function computeMetrics({ fabric, holder }: { fabric: Fabric; holder: HolderClient }): Metric[] {
  return [
    ...fabricMetrics(fabric),
    single('labwire_programs', 'gauge', "Programs of nodes that run in the holder's keeping.", () => holder.running),
    single('labwire_console_clients', 'gauge', 'Clients of consoles, telnet and WebSocket.', consoleClients),
  ];
}
