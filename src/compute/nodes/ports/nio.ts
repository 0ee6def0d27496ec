// NIO bodies: the ends of links that are plugged into a port (as in release 2.2.57).
import dns from 'node:dns';
import { relayedHost } from '../../../api/relay.ts';
import type { Nio } from '../../../api/routes/compute-nodes.ts';
import type { Cable, FramePath } from '../../../fabric/model.ts';
import { conflict, messageOf } from '../../../failures.ts';
import { isAllowedInterface } from '../../../host/network/interfaces.ts';
import { findLink } from '../../../host/network/kernel-interfaces.ts';
import type { FrameRelay } from '../../services.ts';

/** The answer to a creation: the NIO without filters and suspension. */
export function nioAnswer(nio: Nio): object {
  if (nio.type !== 'nio_udp') return nio;
  const { type, lport, rhost, rport } = nio;
  return { type, lport, rhost, rport };
}

/** The NIOs that this program's ports accept. */
export type PluggableNio = Extract<
  Nio,
  { type: 'nio_udp' | 'nio_tap' | 'nio_generic_ethernet' | 'nio_linux_ethernet' | 'nio_null' }
>;

/** The NIOs that hubs and switches accept. */
export const SWITCH_NIOS: ReadonlySet<PluggableNio['type']> = new Set([
  'nio_udp',
  'nio_null',
  'nio_tap',
  'nio_generic_ethernet',
  'nio_linux_ethernet',
]);

/** @throws Failure `conflict` (without an exception name, as in the release) */
export function mustBePluggable(nio: Nio, types: ReadonlySet<PluggableNio['type']>): PluggableNio {
  if (isPluggable(nio) && types.has(nio.type)) return nio;
  throw conflict(`type: ${nio.type} is not supported here; use ${[...types].join(' or ')}.`);
}

function isPluggable(nio: Nio): nio is PluggableNio {
  return (SWITCH_NIOS as ReadonlySet<string>).has(nio.type);
}

/** @throws Failure `conflict` that names the member */
export function mustBeAllowed(member: string, name: string, allowed: readonly string[]): void {
  if (isAllowedInterface(name, allowed)) return;
  const fix = 'add it to allowed_interfaces in section [Server], or use another one';
  throw conflict(`${member}: ${name} is not among those that may be used here; ${fix}.`);
}

/**
 * Checks that interfaces of the host exist, if required, and may be used.
 * @throws Failure `conflict` (without an exception name, as in the release)
 */
export function mustBeUsable(nio: PluggableNio, allowed: readonly string[]): void {
  if (nio.type === 'nio_udp' || nio.type === 'nio_null') return;
  const [member, name] =
    nio.type === 'nio_tap'
      ? (['tap_device', nio.tap_device] as const)
      : (['ethernet_device', nio.ethernet_device] as const);
  mustBeAllowed(member, name, allowed);
  if (nio.type !== 'nio_tap' && findLink(name) === undefined)
    throw conflict(`${member}: there is no interface ${name} on this host; "ip link" lists them.`);
}

/**
 * The fabric's cable for the NIO. A host name is resolved here, once. The caller closes the relay's end at `lport`, if any.
 * @throws Failure `conflict`
 */
export async function cableOf(nio: PluggableNio, relay: FrameRelay | undefined): Promise<Cable> {
  if (nio.type === 'nio_null') return { kind: 'null' };
  // An existing TAP is kept; a missing one is created, and removed with the cable.
  if (nio.type === 'nio_tap')
    return { kind: 'tap', interface: nio.tap_device, up: findLink(nio.tap_device) === undefined };
  if (nio.type !== 'nio_udp') return { kind: 'packet', interface: nio.ethernet_device };
  const { lport: localPort, rport: remotePort } = nio;
  const host = relayedHost(nio.rhost);
  if (host === undefined) return { kind: 'udp', localPort, remoteHost: await resolved(nio.rhost), remotePort };
  if (!relay) throw conflict(`rhost: this host does not take part in the cluster of "${host}"; see its log.`);
  const port = await relay.open(localPort, { host, port: remotePort });
  return { kind: 'udp', localPort, remoteHost: '127.0.0.1', remotePort: port };
}

/** Who forwards the frames of a link that the cluster relays; undefined for every other link. */
export function relayPath(nio: PluggableNio): FramePath | undefined {
  const host = nio.type === 'nio_udp' ? relayedHost(nio.rhost) : undefined;
  if (host === undefined) return undefined;
  return { by: 'relay', reason: `no direct way leads to the host ${host}: NATS carries the frames, which is slow` };
}

/**
 * The address of a peer given by name or address.
 * @throws Failure `conflict`
 */
export async function resolved(host: string): Promise<string> {
  let address: string;
  try {
    ({ address } = await dns.promises.lookup(host, { order: 'ipv4first' }));
  } catch (thrown) {
    const fix = 'use an address, or a name that this host can resolve';
    throw conflict(`rhost: "${host}" cannot be resolved (${messageOf(thrown)}); ${fix}.`, {
      cause: thrown,
    });
  }
  if (LINK_LOCAL.test(address))
    throw conflict(
      `rhost: "${host}" is a link-local address, to which no tunnel can lead; use another address of that host.`,
    );
  return address;
}

/** fe80::/10: addresses that need an interface to identify a host. */
const LINK_LOCAL = /^fe[89ab][0-9a-f]:/i;
