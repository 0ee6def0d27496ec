// Ports of a bridge of this host that belong to clouds: TAPs, or pairs of interfaces whose other end is among the nodes'
// interfaces. The bridge keeps the MTU and the MAC address that the host's own network relies on.
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { inNetworkOf } from '../system-calls.ts';
import { keepFromHost } from './interface-programs.ts';
import {
  changeLink,
  disableIpv6,
  findLink,
  getLink,
  type Link,
  links,
  MOST_MTU_BYTES,
  makePair,
  removeLink,
} from './kernel-interfaces.ts';

/** The release's name format, which other programs recognise: a number, and the port number. */
const PORT_NAME = /^gns3tap\d+-\d+$/;
/** A bridge has this address once its last port has left. */
const NO_MAC = '00:00:00:00:00:00';

/** The first free name for a bridge's port of this number. `taken` are names reserved by ports that do not exist yet. */
export function freePortName(port: number, taken: ReadonlySet<string>): string {
  const there = new Set(links().map(({ name }) => name));
  for (let index = 0; ; index++) {
    const name = `gns3tap${index}-${port}`;
    if (!there.has(name) && !taken.has(name)) return name;
  }
}

/**
 * Makes a pair of interfaces, one end of which is a port of the bridge, while the other is in the network of the process
 * `keeper`, up and kept from the host. One that an earlier server has left is used as it is. Returns the bridge's end.
 * @param inner name of the other end
 * @param alias a note at the other end
 * @throws Failure `conflict` if the bridge is missing or the kernel refuses, `forbidden` without CAP_NET_ADMIN
 */
export function joinBridgeByPair(
  { inner, alias, keeper }: { inner: string; alias: string; keeper: number },
  bridge: string,
  freeName: () => string,
): string {
  const left = inNetworkOf(keeper, () => findLink(inner));
  const outer = links().find(
    ({ index, kind, name }) => kind === 'veth' && index === left?.peer && PORT_NAME.test(name),
  );
  const name = outer?.name ?? freeName();
  if (outer === undefined) {
    inNetworkOf(keeper, () => removeLink(inner));
    makePair(name, { name: inner, process: keeper });
  }
  try {
    inNetworkOf(keeper, () => {
      keepFromHost(inner);
      changeLink(inner, { alias, mtu: MOST_MTU_BYTES, up: true });
    });
    joinBridge(name, bridge);
  } catch (error) {
    removeLink(name);
    throw error;
  }
  return name;
}

/**
 * Makes an interface that is down a port of the bridge, and brings it up.
 * @throws Failure `conflict` if the interface or bridge is missing, `forbidden` without CAP_NET_ADMIN
 */
export function joinBridge(name: string, bridge: string): void {
  // An interface that comes up requests IPv6 addresses, which a port of a bridge must not have.
  disableIpv6(name);
  followBridge(name, bridge);
  changeLink(name, { bridge });
  changeLink(name, { up: true });
}

/**
 * Sets an MTU and a MAC address for the port that leave the bridge unchanged.
 * @throws Failure `conflict` if the port or bridge is missing, `forbidden` without CAP_NET_ADMIN
 */
export function followBridge(name: string, bridge: string): void {
  const now = getLink(name);
  const { mtu, macAddress } = neutralFor(name, getLink(bridge));
  if (mtu !== now.mtu || macAddress !== now.macAddress) changeLink(name, { mtu, macAddress });
}

/** Unless they were set manually, a bridge has the smallest MTU and the lowest MAC address of its ports. */
function neutralFor(name: string, bridge: Link): { mtu: number; macAddress: string } {
  const others = links().filter((link) => link.bridge === bridge.index && !PORT_NAME.test(link.name));
  const smallest = Math.min(...others.map(({ mtu }) => mtu));
  return {
    // Lets the bridge's MTU grow with those of the other ports.
    mtu: Math.min(Math.max(bridge.mtu, others.length > 0 ? smallest : 0), MOST_MTU_BYTES),
    macAddress: others.length > 0 || bridge.macAddress === NO_MAC ? highMac(name) : bridge.macAddress,
  };
}

/**
 * A MAC address higher than those of other interfaces. Always the same one, because guests remember it if the bridge
 * has no other.
 */
function highMac(name: string): string {
  const digest = createHash('sha256').update(`${hostname()} ${name}`).digest('hex');
  return `fe:ff:${digest.slice(0, 8).match(/../g)?.join(':')}`;
}
