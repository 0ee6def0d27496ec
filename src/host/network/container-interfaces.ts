// Interfaces of containers: TAPs created by netlink from this process in the network namespace of another process.
import { Failure } from '../../failures.ts';
import { inNetworkOf, makeTap, SystemError } from '../system-calls.ts';
import { changeLink, findLink } from './kernel-interfaces.ts';

export interface ContainerInterface {
  /** `eth0` */
  name: string;
  macAddress: string;
}

/**
 * Creates these interfaces in the network namespace of a process. They are up, and have no carrier until they are
 * opened. They disappear with the namespace and are never in the host's own. Existing ones stay unchanged.
 * @throws Failure `conflict` when the process is gone, `forbidden` without the capabilities
 */
export function giveInterfaces(process: number, interfaces: readonly ContainerInterface[]): void {
  try {
    inNetworkOf(process, () => {
      for (const { name, macAddress } of interfaces) {
        if (findLink(name)) continue;
        makeTap(name);
        changeLink(name, { macAddress, up: true });
      }
    });
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw new Failure('conflict', explained(error), { cause: error });
  }
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
