// What the ports of clouds lead to, and how it is opened.
import { Failure } from '../../../failures.ts';
import { resolved } from '../../nodes/nio.ts';
import type { Services } from '../../services.ts';
import type { OpenOutside } from './cloud-port.ts';
import type { CloudPortEntry } from './schema.ts';

/** How to open what the port leads to. */
export function opener(entry: CloudPortEntry, _services: Services): OpenOutside {
  switch (entry.type) {
    case 'udp':
      return async () => ({
        device: {
          kind: 'udp',
          localPort: entry.lport,
          remoteHost: await resolved(entry.rhost),
          remotePort: entry.rport,
        },
        close: async () => {},
      });
    case 'ethernet':
    case 'tap':
      return () => {
        throw new Failure('conflict', `interface: ${entry.interface} cannot be attached.`);
      };
  }
}
