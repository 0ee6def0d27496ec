// ioctls on network interfaces, by name (struct ifreq, netdevice(7)).

import { CLOEXEC, check, libc, Slab, SOCK_DGRAM } from './libc.ts';
import { AF_INET } from './socket-address.ts';

const IFREQ_BYTES = 40;
const NAME_BYTES = 16;

const SIOCGIFHWADDR = 0x8927;
const SIOCGIFINDEX = 0x8933;
const SIOCETHTOOL = 0x8946;
/** linux/ethtool.h: a command and its value, 32 bits each. */
const ETHTOOL_GTXCSUM = 0x16;
const ETHTOOL_STXCSUM = 0x17;

const ARPHRD_ETHER = 1;

/** One struct ifreq. */
export class InterfaceRequest {
  /** Bytes that one request takes in a slab. */
  static readonly BYTES = (IFREQ_BYTES + 15) & ~15;
  readonly #slab: Slab;
  readonly #at: number;

  constructor(slab: Slab) {
    this.#slab = slab;
    this.#at = slab.carve(IFREQ_BYTES);
  }

  /** Clears the request, and writes a name followed by 16 bits of flags. */
  prepare(name: string, flags = 0): void {
    const { bytes } = this.#slab;
    bytes.fill(0, this.#at, this.#at + IFREQ_BYTES);
    bytes.write(name, this.#at, NAME_BYTES - 1, 'latin1');
    bytes.writeUInt16LE(flags, this.#at + NAME_BYTES);
  }

  /** The ioctl's result; throws SystemError if it is negative. */
  send(descriptor: number, request: number, name: string): void {
    check(name, libc().ioctl(descriptor, request, this.#slab.address + this.#at));
  }

  /** Index of the interface. Throws SystemError `ENODEV` if it does not exist. */
  index(socket: number, name: string): number {
    this.prepare(name);
    this.send(socket, SIOCGIFINDEX, 'SIOCGIFINDEX');
    return this.#slab.bytes.readInt32LE(this.#at + NAME_BYTES);
  }

  /** Whether the interface carries Ethernet frames. */
  isEthernet(socket: number, name: string): boolean {
    this.prepare(name);
    this.send(socket, SIOCGIFHWADDR, 'SIOCGIFHWADDR');
    return this.#slab.bytes.readUInt16LE(this.#at + NAME_BYTES) === ARPHRD_ETHER;
  }

  /** Points the request to `place` of the slab. */
  refer(name: string, place: number): void {
    this.prepare(name);
    this.#slab.writePointer(this.#at + NAME_BYTES, this.#slab.address + place);
  }
}

/**
 * Has the kernel complete the checksums of all frames before they leave by the interface, and cut super-frames.
 * @throws SystemError `SIOCETHTOOL`: `EPERM` without CAP_NET_ADMIN, `ENODEV`
 */
export function disableOffload(name: string): void {
  ethtool(name, ETHTOOL_STXCSUM, 0);
}

/** Whether frames leave by the interface as they are, with checksums to be completed. @throws SystemError `ENODEV` */
export function hasOffload(name: string): boolean {
  return ethtool(name, ETHTOOL_GTXCSUM, 0) !== 0;
}

/** Runs a command with its value, and returns the value afterwards. */
function ethtool(name: string, command: number, number: number): number {
  const slab = new Slab(InterfaceRequest.BYTES + 16);
  const request = new InterfaceRequest(slab);
  const value = slab.carve(8);
  slab.bytes.writeUInt32LE(command, value);
  slab.bytes.writeUInt32LE(number, value + 4);
  const socket = check('socket', libc().socket(AF_INET, SOCK_DGRAM | CLOEXEC, 0));
  try {
    request.refer(name, value);
    request.send(socket, SIOCETHTOOL, 'SIOCETHTOOL');
    return slab.bytes.readUInt32LE(value + 4);
  } finally {
    libc().close(socket);
  }
}
