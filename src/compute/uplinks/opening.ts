// Opens the uplinks of clouds and NATs.

import type { CloudPort } from '../../api/kinds/cloud.ts';
import { isClustered } from '../../config/membership.ts';
import { conflict, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { followBridge, freePortName, joinBridgeByPair } from '../../host/network/bridge-ports.ts';
import { bridgePairName, shortHash } from '../../host/network/interfaces.ts';
import { findLink, removeLink } from '../../host/network/kernel-interfaces.ts';
import { inNetworkOfAny } from '../../host/system-calls.ts';
import { mustBeAllowed, resolved } from '../nodes/ports/nio.ts';
import type { Services } from '../services.ts';
import type { Uplink, UplinkSpec } from './uplink-port.ts';

/** Interval (ms) at which a bridge is checked for another MTU and other ports. */
const FOLLOW_MS = 1000;

const nothing = async (): Promise<void> => {};

/** The node of a port. */
export interface Owner {
  readonly projectId: string;
  readonly nodeId: string;
}

/**
 * How to open the uplink that a port is mapped to.
 * @param owner left out: the port is not in the node's project in the fabric, so that the kernel forwards none of its frames
 */
export function uplinkSpec(entry: CloudPort, services: Services, owner?: Owner): UplinkSpec {
  const { config } = services;
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
      if (bridgePorts.has(name)) throw conflict(`interface: ${name} belongs to the port of a node; use another one.`);
      if (type === 'tap') return tap(name);
      if (findLink(name)?.kind === 'bridge') return bridgePort(name, number, services, owner);
      return { device: { kind: 'packet', interface: name }, close: nothing };
    },
  };
}

/** An existing TAP is kept; a missing one is created, and removed with the port. */
function tap(name: string): Uplink {
  return { device: { kind: 'tap', interface: name, up: findLink(name) === undefined }, close: nothing };
}

/** Names of bridges' ports that ports of nodes have or are about to create. */
const bridgePorts = new Set<string>();

/** The other ends of pairs that ports of this process have. */
const pairs = new Set<string>();

/** A port of the bridge while it is open: an end of a pair if the kernel may forward its frames, otherwise a TAP. */
function bridgePort(bridge: string, number: number, services: Services, owner: Owner | undefined): Uplink {
  const inner = owner && bridgePairName(shortHash(`${owner.nodeId}/${number}`));
  const keeper = inner && mayHavePairs(services) ? services.nodeNetwork.open() : undefined;
  if (owner !== undefined && inner !== undefined && keeper !== undefined) {
    const alias = `${owner.projectId} ${owner.nodeId}`;
    const name = joinBridgeByPair({ inner, alias, keeper }, bridge, () => freePortName(number, bridgePorts));
    pairs.add(inner);
    return {
      device: { kind: 'packet', interface: inner, kernel: true, process: keeper },
      close: following(name, bridge, () => {
        pairs.delete(inner);
        removeLink(name);
      }),
    };
  }
  // It was made with other settings.
  if (inner !== undefined) inNetworkOfAny(services.nodeNetwork.find(inner), () => removeLink(inner));
  const name = freePortName(number, bridgePorts);
  return {
    device: { kind: 'tap', interface: name, create: 'always', bridge },
    close: following(name, bridge, () => {}),
  };
}

/**
 * A pair outlives the server, and plain links with it. On a host of a cluster the way out has to end with the server, as
 * another host may run the lab by then.
 */
function mayHavePairs({ config }: Services): boolean {
  return !isClustered(config);
}

/** Has the interface follow the bridge until the result is called. */
function following(name: string, bridge: string, end: () => void): () => Promise<void> {
  bridgePorts.add(name);
  const timer = setInterval(() => follow(name, bridge), FOLLOW_MS).unref();
  return async () => {
    clearInterval(timer);
    bridgePorts.delete(name);
    end();
  };
}

/** Whether a port of this process has the pair with this end among nodes' interfaces. */
export function hasPair(inner: string): boolean {
  return pairs.has(inner);
}

function follow(name: string, bridge: string): void {
  try {
    followBridge(name, bridge);
  } catch (error) {
    // One of them has just disappeared or does not exist yet. The port itself reports that.
    log.debug('cloud: cannot follow the bridge', { name, bridge, reason: messageOf(error) });
  }
}
