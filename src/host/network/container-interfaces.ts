// Interfaces of containers, created by netlink from this process in the network namespace of another process: TAPs, or
// pairs with an end on this host.
import { conflict } from '../../failures.ts';
import { disableOffload, inNetworkOf, inNetworkOfAny, makeTap, SystemError } from '../system-calls.ts';
import { keepFromHost } from './interface-programs.ts';
import { guestTapName } from './interfaces.ts';
import { changeLink, findLink, MOST_MTU_BYTES, makePair } from './kernel-interfaces.ts';

const MTU = 1500;

export interface ContainerInterface {
  /** `eth0` */
  name: string;
  macAddress: string;
  /** Default: 1500. */
  mtu?: number | undefined;
  /** False: frames leave and arrive complete, none with a checksum that hardware would add. */
  offload?: boolean | undefined;
}

/**
 * Creates these interfaces in the network namespace of a process. They are up, and have no carrier until they are
 * opened. They disappear with the namespace and are never in the host's own. Existing ones stay unchanged.
 * @param kind `tap`, or `pair`: with an end on this host, so that the kernel can forward frames
 * @param network the process in whose network namespace those ends are; default: this process
 * @throws Failure `conflict` when the process is gone, `forbidden` without the capabilities
 */
export function giveInterfaces(
  process: number,
  interfaces: readonly ContainerInterface[],
  kind: 'tap' | 'pair' = 'tap',
  network?: number | undefined,
): void {
  try {
    if (kind === 'pair') givePairs(process, interfaces, network);
    else giveTaps(process, interfaces);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw conflict(explained(error), { cause: error });
  }
}

function giveTaps(process: number, interfaces: readonly ContainerInterface[]): void {
  inNetworkOf(process, () => {
    for (const { name, macAddress, mtu = MTU } of interfaces) {
      if (findLink(name)) continue;
      makeTap(name);
      changeLink(name, { macAddress, mtu, up: true });
    }
  });
}

/** The end on this host of a container's interface that is one of a pair. @param process the container's first one */
export function hostEndOf(process: number, adapter: number): string {
  return guestTapName(process.toString(16).padStart(8, '0'), adapter);
}

/**
 * The same with pairs, whose frames the kernel can forward. Their ends on this host are down and kept from the host's
 * own network; the container's interfaces have no carrier until they are up.
 * @throws Failure as {@link giveInterfaces}
 */
function givePairs(process: number, interfaces: readonly ContainerInterface[], network: number | undefined): void {
  const isThere = inNetworkOf(process, () => interfaces.map(({ name }) => findLink(name) !== undefined));
  inNetworkOfAny(network, () => {
    for (const [adapter, { name, macAddress, offload }] of interfaces.entries()) {
      if (isThere[adapter]) continue;
      const link = hostEndOf(process, adapter);
      makePair(link, { name, macAddress, process });
      keepFromHost(link);
      changeLink(link, { mtu: MOST_MTU_BYTES });
      if (offload === false) disableOffload(link);
    }
  });
  inNetworkOf(process, () => {
    for (const [adapter, { name, mtu = MTU, offload }] of interfaces.entries()) {
      if (offload === false && !isThere[adapter]) disableOffload(name);
      changeLink(name, isThere[adapter] ? { up: true } : { mtu, up: true });
    }
  });
}

function explained({ call, code, message }: SystemError): string {
  switch (`${call} ${code}`) {
    case 'namespace ENOENT':
    case 'namespace EEXIST':
      return 'The container has ended before it got its interfaces.';
    case 'namespace EACCES':
    case 'setns EPERM':
      return 'Interfaces of containers need CAP_SYS_ADMIN and CAP_SYS_PTRACE: run the server as root, or as docs/docker.md says.';
    case 'open ENOENT':
    case 'open EACCES':
    case 'open EPERM':
      return 'Interfaces of containers need /dev/net/tun: modprobe tun, and under systemd set PrivateDevices=no and DeviceAllow=/dev/net/tun rw.';
    case 'TUNSETIFF EPERM':
      return 'Interfaces of containers need CAP_NET_ADMIN: run the server as root, or as docs/docker.md says.';
  }
  return `A container cannot be given its interfaces: ${message}`;
}
