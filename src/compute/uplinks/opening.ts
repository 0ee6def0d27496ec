// What the ports of clouds and NATs lead to, and how it is opened.
import { changeLink, findLink, links } from '../../host/links.ts';
import { mustBeAllowed, resolved } from '../nodes/nio.ts';
import type { Services } from '../services.ts';
import type { UplinkPortEntry } from './ports-mapping.ts';
import type { Uplink, UplinkSpec } from './uplink-port.ts';

const nothing = async (): Promise<void> => {};

/** How the uplink that the mapping names for a port is opened. */
export function uplinkSpec(entry: UplinkPortEntry, { config }: Services): UplinkSpec {
  if (entry.type === 'udp') {
    const { lport: localPort, rhost, rport: remotePort } = entry;
    return {
      open: async () => ({
        device: { kind: 'udp', localPort, remoteHost: await resolved(rhost), remotePort },
        close: nothing,
      }),
    };
  }
  const { type, interface: name, port_number: number } = entry;
  return {
    open: async () => {
      mustBeAllowed('interface', name, config.Server.allowed_interfaces);
      if (type === 'tap') return tap(name);
      if (findLink(name)?.kind === 'bridge') return bridgePort(name, number);
      return { device: { kind: 'packet', interface: name }, close: nothing };
    },
  };
}

/** One that is there stays as it is, and one that is not is made, and goes with the port. */
function tap(name: string): Uplink {
  return { device: { kind: 'tap', interface: name, up: findLink(name) === undefined }, close: nothing };
}

/** Names of TAPs that ports of this process have, or are about to get. */
const bridgeTaps = new Set<string>();

/** A TAP of our own, which is a port of the bridge as long as it is open. */
function bridgePort(bridge: string, number: number): Uplink {
  const name = freeTapName(number);
  bridgeTaps.add(name);
  return {
    device: { kind: 'tap', interface: name, create: 'always', up: true },
    opened: () => changeLink(name, { bridge }),
    close: async () => void bridgeTaps.delete(name),
  };
}

/** The form of the release, by which other programs know such interfaces. */
function freeTapName(number: number): string {
  const taken = new Set([...links().map(({ name }) => name), ...bridgeTaps]);
  for (let index = 0; ; index++) {
    const name = `gns3tap${index}-${number}`;
    if (!taken.has(name)) return name;
  }
}
