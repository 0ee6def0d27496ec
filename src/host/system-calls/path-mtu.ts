// The path MTU to another host (RFC 1191, RFC 8201), as the kernel knows it: from its routes, and from routers that have
// rejected a packet of this host.

import {
  CLOEXEC,
  check,
  libc,
  MSG_DONTWAIT,
  MSG_NOSIGNAL,
  NONBLOCK,
  Slab,
  SOCK_DGRAM,
  SOCK_RAW,
  setOption,
} from './libc.ts';
import { domainOf, familyOf, SOCKADDR_BYTES, writeSocketAddress } from './socket-address.ts';

// Values of <netinet/in.h>.
const IPPROTO_ICMP = 1;
const IPPROTO_ICMPV6 = 58;
const IPPROTO_IP = 0;
const IPPROTO_IPV6 = 41;
const IP_MTU_DISCOVER = 10;
const IP_MTU = 14;
const IPV6_MTU_DISCOVER = 23;
const IPV6_MTU = 24;
/** Packets are never fragmented, and may be longer than the known path MTU. */
const PMTUDISC_PROBE = 3;

const ECHO_REQUEST = 8;
const ECHO_REQUEST_V6 = 128;
/** Any: no packet goes there. */
const SOME_PORT = 9;
/** Longer paths are this host's own. */
const MOST_PROBED_BYTES = 16_384;
const IP_HEADER_BYTES = { 4: 20, 6: 40 } as const;

const SCRATCH = SOCKADDR_BYTES;
const SIZE = SCRATCH + 4;
const PACKET = SCRATCH + 16;

let made: Slab | undefined;

function slab(): Slab {
  made ??= new Slab(PACKET + MOST_PROBED_BYTES);
  return made;
}

/** Runs the task with a socket that is connected to the host. */
function withSocket<T>(host: string, type: number, protocol: number, task: (socket: number) => T): T {
  const { socket: open, connect, close } = libc();
  const socket = check('socket', open(domainOf(host), type | NONBLOCK | CLOEXEC, protocol));
  try {
    const length = writeSocketAddress(slab(), 0, { host, port: SOME_PORT });
    check('connect', connect(socket, slab().address, length));
    return task(socket);
  } finally {
    close(socket);
  }
}

/**
 * The longest IP packet (bytes) that reaches the host in one piece, as far as this host knows. Sends nothing.
 * @throws SystemError `ENETUNREACH` without a route
 */
export function pathMtu(host: string): number {
  const [level, option] = familyOf(host) === 6 ? [IPPROTO_IPV6, IPV6_MTU] : [IPPROTO_IP, IP_MTU];
  return withSocket(host, SOCK_DGRAM, 0, (socket) => {
    const { words, address } = slab();
    words[SIZE >> 2] = 4;
    check('getsockopt', libc().getsockopt(socket, level, option, address + SCRATCH, address + SIZE));
    return words[SCRATCH >> 2]!;
  });
}

/**
 * Sends an ICMP echo request of the given length, which routers must not fragment. A router that cannot forward it
 * says so, and {@link pathMtu} is right from then on.
 * @throws SystemError `EACCES`, `EPERM` without CAP_NET_RAW and outside of net.ipv4.ping_group_range
 */
export function probePath(host: string, packetBytes: number): void {
  const version = familyOf(host);
  const length = packetBytes - IP_HEADER_BYTES[version];
  if (packetBytes > MOST_PROBED_BYTES || length < 8) return;
  const [protocol, level, option] =
    version === 6 ? [IPPROTO_ICMPV6, IPPROTO_IPV6, IPV6_MTU_DISCOVER] : [IPPROTO_ICMP, IPPROTO_IP, IP_MTU_DISCOVER];
  const send = (socket: number): void => {
    const { bytes, address } = slab();
    setOption(socket, level, option, PMTUDISC_PROBE, slab(), SCRATCH);
    bytes.fill(0, PACKET, PACKET + length);
    bytes[PACKET] = version === 6 ? ECHO_REQUEST_V6 : ECHO_REQUEST;
    // The checksum of a packet that has only a type; the kernel computes that of IPv6.
    if (version === 4) bytes.writeUInt16BE(0xffff - (ECHO_REQUEST << 8), PACKET + 2);
    check('sendto', libc().sendto(socket, address + PACKET, length, MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0));
  };
  try {
    withSocket(host, SOCK_DGRAM, protocol, send);
  } catch {
    withSocket(host, SOCK_RAW, protocol, send);
  }
}
