// The errors for interfaces that cannot be opened, each with its fix.

import { Failure, unavailable } from '../../failures.ts';
import { capabilityFix } from '../../host/processes/capabilities.ts';
import { SystemError } from '../../host/system-calls.ts';
import type { InterfaceAddress } from '../model.ts';

const TUN_FIX =
  'load the module tun (modprobe tun), and under systemd set PrivateDevices=no and DeviceAllow=/dev/net/tun rw';

/** Access to the device is not enough: a new TAP needs CAP_NET_ADMIN, an existing one its owner. */
const MODE_FIX = 'chmod 0666 /dev/net/tun, and under systemd set PrivateDevices=no and DeviceAllow=/dev/net/tun rw';

function tapFailure({ code, call, message }: SystemError, name: string): [Failure['code'], string] {
  switch (`${call} ${code}`) {
    case 'open ENOENT':
    case 'open ENODEV':
    case 'open ENXIO':
      return ['unavailable', `TAP ${name} needs /dev/net/tun, which this host does not have: ${TUN_FIX}`];
    case 'open EACCES':
    case 'open EPERM':
      return ['forbidden', `TAP ${name} needs /dev/net/tun, which this program may not open: ${MODE_FIX}`];
    case 'TUNSETIFF EPERM':
      return [
        'forbidden',
        `TAP ${name} needs CAP_NET_ADMIN (or an existing TAP that belongs to this program's user): ${capabilityFix('CAP_NET_ADMIN')}`,
      ];
    case 'TUNSETIFF EBUSY':
      return ['conflict', `TAP ${name} is in use by another program or node`];
    case 'TUNSETIFF EINVAL':
      return ['conflict', `${name} exists and is no TAP that can be opened once; use another name, or a packet socket`];
    case 'SIOCGIFINDEX EEXIST':
      return ['conflict', `There is an interface ${name} already; use another name`];
    case 'SIOCGIFINDEX ENODEV':
      return [
        'conflict',
        `There is no interface ${name} on this host; make it first: ip tuntap add dev ${name} mode tap`,
      ];
  }
  return ['conflict', `TAP ${name} cannot be opened: ${message}`];
}

function packetFailure({ code, call, message }: SystemError, name: string): [Failure['code'], string] {
  switch (`${call} ${code}`) {
    case 'socket EPERM':
    case 'socket EACCES':
      return ['forbidden', `A packet socket on ${name} needs CAP_NET_RAW: ${capabilityFix('CAP_NET_RAW')}`];
    case 'socket EAFNOSUPPORT':
      return [
        'unavailable',
        `Packet sockets are not allowed here: under systemd add AF_PACKET to RestrictAddressFamilies=`,
      ];
    case 'SIOCGIFINDEX ENODEV':
      return ['conflict', `There is no interface ${name} on this host; "ip link" lists them`];
    case 'SIOCGIFHWADDR EPROTONOSUPPORT':
      return ['conflict', `${name} is no Ethernet interface; use one that "ip link" shows with link/ether`];
  }
  return ['conflict', `A packet socket on ${name} cannot be opened: ${message}`];
}

function namespaceFailure({ code, call }: SystemError, name: string): [Failure['code'], string] | undefined {
  switch (`${call} ${code}`) {
    case 'namespace EACCES':
    case 'setns EPERM':
      return [
        'forbidden',
        `Interface ${name} is in another network namespace, which needs CAP_SYS_ADMIN and CAP_SYS_PTRACE: docs/docker.md says how`,
      ];
    case 'namespace ENOENT':
      return ['conflict', `The network namespace of interface ${name} is gone: what ran in it has ended`];
  }
  return undefined;
}

/** Converts an error of opening an interface to the failure for the client. */
export function interfaceFailure(error: unknown, address: InterfaceAddress): unknown {
  if (!(error instanceof SystemError)) return error;
  if (error.code === 'EMFILE' || error.code === 'ENFILE')
    return unavailable('Too many open files; raise LimitNOFILE of the service', { cause: error });
  const explain = address.kind === 'tap' ? tapFailure : packetFailure;
  const [code, message] = namespaceFailure(error, address.interface) ?? explain(error, address.interface);
  return new Failure(code, message, { cause: error });
}
