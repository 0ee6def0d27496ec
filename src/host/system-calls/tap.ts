// TAP interfaces (Documentation/networking/tuntap.rst): Ethernet interfaces for the kernel with a program at the other
// end.

import { constants } from 'node:os';
import { type FrameMemory, OFFLOAD_BYTES } from './frame-memory.ts';
import { InterfaceRequest } from './interface-request.ts';
import { CLOEXEC, check, libc, NONBLOCK, resultOrErrno, Slab, SystemError } from './libc.ts';

const DEVICE = '/dev/net/tun';
const { EINVAL, ENODEV, EEXIST } = constants.errno;

const O_RDWR = 2;

// linux/if_tun.h
const TUNSETIFF = 0x400454ca;
const TUNSETPERSIST = 0x400454cb;
const TUNSETOWNER = 0x400454cc;
const TUNSETOFFLOAD = 0x400454d0;
const TUNSETVNETHDRSZ = 0x400454d8;
const IFF_TAP = 0x0002;
const IFF_NO_PI = 0x1000;
const IFF_VNET_HDR = 0x4000;
const IFF_TUN_EXCL = 0x8000;
const TUN_F_CSUM = 0x01;
const TUN_F_TSO4 = 0x02;
const TUN_F_TSO6 = 0x04;
const TUN_F_TSO_ECN = 0x08;
const TUN_F_USO4 = 0x20;
const TUN_F_USO6 = 0x40;
const TCP_OFFLOADS = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;

/** fcntl.h */
const F_DUPFD_CLOEXEC = 1030;

let programRequest: InterfaceRequest | undefined;

/**
 * A new TAP whose frames have virtio-net headers, for a program that sets up the rest of it. It disappears with its
 * last descriptor.
 * @param lowest the descriptor's number is at least this
 * @throws SystemError by `call`: `open` (`ENOENT`, `EACCES`), `TUNSETIFF` (`EPERM`, `EBUSY` for a name in use)
 */
export function makeProgramTap(name: string, lowest = 0): number {
  programRequest ??= new InterfaceRequest(new Slab(InterfaceRequest.BYTES));
  const tap = check('open', libc().open(DEVICE, O_RDWR | NONBLOCK | CLOEXEC));
  try {
    programRequest.prepare(name, IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | IFF_TUN_EXCL);
    programRequest.send(tap, TUNSETIFF, 'TUNSETIFF');
    if (tap >= lowest) return tap;
    const higher = check('fcntl', libc().fcntl(tap, F_DUPFD_CLOEXEC, lowest));
    libc().close(tap);
    return higher;
  } catch (error) {
    libc().close(tap);
    throw error;
  }
}

/**
 * Creates a TAP that `TapCalls.open` can open later. It stays until it is removed or its network namespace ends, and
 * has no carrier while it is not open. @throws SystemError `open`, `TUNSETIFF`, `TUNSETPERSIST`
 */
export function makeTap(name: string): void {
  const tap = makeProgramTap(name);
  try {
    check('TUNSETPERSIST', libc().ioctl(tap, TUNSETPERSIST, 1));
  } finally {
    libc().close(tap);
  }
}

export interface TapOptions {
  /** `if-missing` (default); `always`: the name must be free; `never`: the TAP must exist. */
  create?: 'if-missing' | 'always' | 'never' | undefined;
  /** Whether the interface stays when it is closed. Default: unchanged. */
  persistent?: boolean | undefined;
  /** Number of the user who may open it later without privileges. */
  owner?: number | undefined;
  /** False: frames are read complete. */
  offload?: boolean | undefined;
}

export class TapCalls {
  readonly #libc = libc();
  readonly #memory: FrameMemory;
  readonly #request: InterfaceRequest;
  readonly #headerSize: number;

  constructor(memory: FrameMemory) {
    this.#memory = memory;
    this.#request = new InterfaceRequest(memory.control);
    this.#headerSize = memory.control.carve(4);
    memory.control.words[this.#headerSize >> 2] = OFFLOAD_BYTES;
  }

  /**
   * A non-blocking TAP. Its frames have virtio-net headers and may be super-frames unless `offload` is false.
   * @throws SystemError by `call`: `open` (`ENOENT`, `EACCES`), `TUNSETIFF` (`EPERM`, `EBUSY`, `EINVAL` if it is not a
   * TAP), `SIOCGIFINDEX` (`EEXIST`, `ENODEV` as `create` demands)
   */
  open(name: string, { create = 'if-missing', persistent, owner, offload = true }: TapOptions): number {
    const exists = this.#libc.if_nametoindex(name) !== 0;
    if (exists && create === 'always') throw new SystemError('SIOCGIFINDEX', EEXIST);
    if (!exists && create === 'never') throw new SystemError('SIOCGIFINDEX', ENODEV);
    const tap = check('open', this.#libc.open(DEVICE, O_RDWR | NONBLOCK | CLOEXEC));
    try {
      this.#request.prepare(name, IFF_TAP | IFF_NO_PI | IFF_VNET_HDR);
      this.#request.send(tap, TUNSETIFF, 'TUNSETIFF');
      const headerSize = this.#memory.control.address + this.#headerSize;
      check('TUNSETVNETHDRSZ', this.#libc.ioctl(tap, TUNSETVNETHDRSZ, headerSize));
      if (offload) this.#offerOffloads(tap);
      else check('TUNSETOFFLOAD', this.#libc.ioctl(tap, TUNSETOFFLOAD, 0));
      if (owner !== undefined) check('TUNSETOWNER', this.#libc.ioctl(tap, TUNSETOWNER, owner));
      if (persistent !== undefined) check('TUNSETPERSIST', this.#libc.ioctl(tap, TUNSETPERSIST, persistent ? 1 : 0));
      return tap;
    } catch (error) {
      this.#libc.close(tap);
      throw error;
    }
  }

  /** Reads one frame into the slot. Returns its length or a negative errno. */
  read(tap: number, slot: number): number {
    const length = resultOrErrno(this.#libc.readv(tap, this.#memory.receiveVector(slot), 2));
    return length < 0 ? length : length - OFFLOAD_BYTES;
  }

  /** Writes the slot's frame. Returns a negative errno on failure. */
  write(tap: number, slot: number): number {
    return resultOrErrno(this.#libc.writev(tap, this.#memory.sendVector(slot), 2));
  }

  /** Segmentation of UDP needs Linux 6.2. */
  #offerOffloads(tap: number): void {
    const offer = (offloads: number): number => resultOrErrno(this.#libc.ioctl(tap, TUNSETOFFLOAD, offloads));
    const result = offer(TCP_OFFLOADS | TUN_F_USO4 | TUN_F_USO6);
    if (result === -EINVAL) check('TUNSETOFFLOAD', this.#libc.ioctl(tap, TUNSETOFFLOAD, TCP_OFFLOADS));
    else if (result < 0) throw new SystemError('TUNSETOFFLOAD', -result);
  }
}
