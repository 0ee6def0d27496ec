// Opens the uplinks of clouds and NATs.

import type { CloudPort } from '../../api/kinds/cloud.ts';
import { Failure, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { followBridge, freeTapName } from '../../host/network/bridge-taps.ts';
import { findLink } from '../../host/network/kernel-interfaces.ts';
import { mustBeAllowed, resolved } from '../nodes/ports/nio.ts';
import type { Services } from '../services.ts';
import type { Uplink, UplinkSpec } from './uplink-port.ts';

/** Interval (ms) at which a bridge is checked for another MTU and other ports. */
const FOLLOW_MS = 1000;

const nothing = async (): Promise<void> => {};

/** How to open the uplink that a port is mapped to. */
export function uplinkSpec(entry: CloudPort, { config }: Services): UplinkSpec {
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
      if (bridgeTaps.has(name))
        throw new Failure('conflict', `interface: ${name} belongs to the port of a node; use another one.`);
      if (type === 'tap') return tap(name);
      if (findLink(name)?.kind === 'bridge') return bridgePort(name, number);
      return { device: { kind: 'packet', interface: name }, close: nothing };
    },
  };
}

/** An existing TAP is kept; a missing one is created, and removed with the port. */
function tap(name: string): Uplink {
  return { device: { kind: 'tap', interface: name, up: findLink(name) === undefined }, close: nothing };
}

/** Names of TAPs that ports of this process have or are about to create. */
const bridgeTaps = new Set<string>();

/** A TAP of our own that is a port of the bridge while it is open. */
function bridgePort(bridge: string, number: number): Uplink {
  const name = freeTapName(number, bridgeTaps);
  bridgeTaps.add(name);
  const following = setInterval(() => follow(name, bridge), FOLLOW_MS).unref();
  return {
    device: { kind: 'tap', interface: name, create: 'always', bridge },
    close: async () => {
      clearInterval(following);
      bridgeTaps.delete(name);
    },
  };
}

function follow(tap: string, bridge: string): void {
  try {
    followBridge(tap, bridge);
  } catch (error) {
    // One of them has just disappeared or does not exist yet. The port itself reports that.
    log.debug('cloud: cannot follow the bridge', { tap, bridge, reason: messageOf(error) });
  }
}
