// The system calls that Node does not offer. The only file of the project that handles raw pointers: every address
// that is given to the kernel lies in one of the slabs below, which are allocated once, off V8's heap, and never move.

import { constants } from 'node:os';
import { getSystemErrorMessage, getSystemErrorName } from 'node:util';
import { loadKoffi } from './koffi.ts';

/** A system call that failed: `code` is the errno's name (`EADDRINUSE`), `call` the function's. */
export class SystemError extends Error {
  readonly code: string;
  readonly errno: number;
  readonly call: string;

  constructor(call: string, errno: number) {
    super(`${call}: ${getSystemErrorMessage(-errno)} (${getSystemErrorName(-errno)})`);
    this.name = 'SystemError';
    this.code = getSystemErrorName(-errno);
    this.errno = errno;
    this.call = call;
  }
}

/** Room of one slot for a frame, in bytes: the largest frame has 65,535. */
export const SLOT_BYTES = 65_536;

/** Frames that can be in flight in one {@link FrameCalls}. */
export const SLOTS = 64;

const { EINTR, ENOSYS, EPERM } = constants.errno;

// Values of <sys/socket.h>, <netinet/in.h>, <sys/epoll.h>, <time.h>: the same on x86-64 and arm64.
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_DGRAM = 2;
const NONBLOCK = 0o4000;
const CLOEXEC = 0o2000000;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
const SOL_SOCKET = 1;
const SO_SNDBUF = 7;
const SO_RCVBUF = 8;
const SO_MEMINFO = 55;
const IPPROTO_IP = 0;
const IP_MTU_DISCOVER = 10;
const IPPROTO_IPV6 = 41;
const IPV6_MTU_DISCOVER = 23;
const IPV6_V6ONLY = 26;
const EPOLL_CTL_ADD = 1;
const EPOLL_CTL_DEL = 2;
const EPOLLIN = 1;
/** Number of the system call epoll_pwait2, on every architecture; glibc has a function for it only since 2.35. */
const SYS_EPOLL_PWAIT2 = 441;
/** Index of the dropped packets among the numbers of SO_MEMINFO (linux/sock_diag.h). */
const SK_MEMINFO_DROPS = 8;
const SK_MEMINFO_BYTES = 36;
const CLOCK_REALTIME = 0;

// Sizes and offsets of the structures, which 64-bit Linux shares, but for epoll_event, packed on x86-64 alone.
const SOCKADDR_BYTES = 128;
const IOVEC_BYTES = 16;
const MMSGHDR_BYTES = 64;
const MSG_IOV = 16;
const MSG_IOVLEN = 24;
const MSG_LEN = 56;
const EPOLL_EVENT_BYTES = process.arch === 'x64' ? 12 : 16;
const EPOLL_DATA = process.arch === 'x64' ? 4 : 8;

const CONTROL_SLAB_BYTES = 1 << 20;

/** Packets that the largest receive buffer of a common system (4 MiB, doubled by the kernel) holds at the least. */
const MOST_WAITING = 16_384;

type Call = (...values: (number | string)[]) => number;

function declare() {
  const koffi = loadKoffi();
  const libc = koffi.load('libc.so.6');
  const call = (name: string, result: string, ...values: string[]): Call => libc.func(name, result, values);
  return {
    errno: (): number => koffi.errno(),
    addressOf: (slab: Buffer): number => Number(koffi.address(slab)),
    socket: call('socket', 'int', 'int', 'int', 'int'),
    bind: call('bind', 'int', 'int', 'uintptr_t', 'uint32_t'),
    connect: call('connect', 'int', 'int', 'uintptr_t', 'uint32_t'),
    getsockname: call('getsockname', 'int', 'int', 'uintptr_t', 'uintptr_t'),
    setsockopt: call('setsockopt', 'int', 'int', 'int', 'int', 'uintptr_t', 'uint32_t'),
    getsockopt: call('getsockopt', 'int', 'int', 'int', 'int', 'uintptr_t', 'uintptr_t'),
    sendto: call('sendto', 'int64_t', 'int', 'uintptr_t', 'size_t', 'int', 'uintptr_t', 'uint32_t'),
    recvmmsg: call('recvmmsg', 'int', 'int', 'uintptr_t', 'uint32_t', 'int', 'uintptr_t'),
    sendmmsg: call('sendmmsg', 'int', 'int', 'uintptr_t', 'uint32_t', 'int'),
    read: call('read', 'int64_t', 'int', 'uintptr_t', 'size_t'),
    close: call('close', 'int', 'int'),
    eventfd: call('eventfd', 'int', 'uint32_t', 'int'),
    epoll_create1: call('epoll_create1', 'int', 'int'),
    epoll_ctl: call('epoll_ctl', 'int', 'int', 'int', 'int', 'uintptr_t'),
    epoll_wait: call('epoll_wait', 'int', 'int', 'uintptr_t', 'int', 'int'),
    epoll_pwait2: call('syscall', 'int64_t', 'int64_t', 'int', 'uintptr_t', 'int', 'uintptr_t', 'uintptr_t', 'size_t'),
    inet_pton: call('inet_pton', 'int', 'int', 'str', 'uintptr_t'),
    if_nametoindex: call('if_nametoindex', 'uint32_t', 'str'),
    clock_gettime: call('clock_gettime', 'int', 'int', 'uintptr_t'),
  };
}

type Libc = ReturnType<typeof declare>;
let declared: Libc | undefined;

/** The declarations of this thread, made at the first use. */
function libc(): Libc {
  declared ??= declare();
  return declared;
}

/** A zeroed block of memory off V8's heap, with its address. Only the pages that are touched cost memory. */
class Slab {
  readonly bytes: Buffer;
  readonly address: number;
  #used = 0;

  constructor(size: number) {
    this.bytes = Buffer.alloc(size);
    this.address = libc().addressOf(this.bytes);
  }

  /** Offset of a fresh piece of the slab, aligned for every structure. */
  carve(size: number): number {
    const offset = this.#used;
    this.#used += (size + 15) & ~15;
    if (this.#used > this.bytes.length) throw new RangeError('slab exhausted');
    return offset;
  }

  writePointer(offset: number, address: number): void {
    this.bytes.writeBigUInt64LE(BigInt(address), offset);
  }
}

/** The result, or SystemError when it is negative. */
function check(name: string, result: number): number {
  if (result < 0) throw new SystemError(name, libc().errno());
  return result;
}

/** The result, or the negative errno when it is negative: for calls whose failures are daily bread. */
function resultOrErrno(result: number): number {
  return result < 0 ? -libc().errno() : result;
}

/** An IPv4 or IPv6 literal (with `%zone` where it needs one) and a UDP port. */
export interface SocketAddress {
  host: string;
  port: number;
}

/** `::ffff:192.0.2.1` is the IPv4 address 192.0.2.1. */
function plainHost(host: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(host)?.[1] ?? host;
}

/** Address family of an IP literal: 4 or 6. */
export function familyOf(host: string): 4 | 6 {
  return plainHost(host).includes(':') ? 6 : 4;
}

/**
 * System calls on sockets and on frames. A frame lies in one of {@link SLOTS} slots; consecutive slots are received
 * into, and sent from, with one call. One instance a thread.
 */
export class FrameCalls {
  readonly #libc = libc();
  readonly #frames = new Slab(SLOTS * SLOT_BYTES);
  readonly #control = new Slab(CONTROL_SLAB_BYTES);
  readonly #words: Uint32Array;
  readonly #address = this.#control.carve(SOCKADDR_BYTES);
  readonly #scratch = this.#control.carve(64);
  readonly #events = this.#control.carve(SLOTS * EPOLL_EVENT_BYTES);
  readonly #timeout = this.#control.carve(16);
  readonly #receiveHeaders = this.#control.carve(SLOTS * MMSGHDR_BYTES);
  readonly #sendHeaders = this.#control.carve(SLOTS * MMSGHDR_BYTES);
  readonly #receiveVectors = this.#control.carve(SLOTS * IOVEC_BYTES);
  readonly #sendVectors = this.#control.carve(SLOTS * IOVEC_BYTES);
  /** False when the kernel has no epoll_pwait2 (before 5.11), or does not let us call it. */
  #exactWaits = true;

  /** The memory of each slot. */
  readonly slots: readonly Buffer[];

  constructor() {
    const bytes = this.#control.bytes;
    this.#words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    // Headers and vectors never change but for the lengths: slot n's header points at slot n's vector, and that at slot n.
    for (let slot = 0; slot < SLOTS; slot++) {
      for (const [headers, vectors] of [
        [this.#receiveHeaders, this.#receiveVectors],
        [this.#sendHeaders, this.#sendVectors],
      ] as const) {
        const vector = vectors + slot * IOVEC_BYTES;
        this.#control.writePointer(vector, this.#frames.address + slot * SLOT_BYTES);
        this.#control.writePointer(vector + 8, SLOT_BYTES - 1);
        const header = headers + slot * MMSGHDR_BYTES;
        this.#control.writePointer(header + MSG_IOV, this.#control.address + vector);
        this.#control.writePointer(header + MSG_IOVLEN, 1);
      }
    }
    this.slots = Array.from({ length: SLOTS }, (_, slot) =>
      this.#frames.bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES),
    );
  }

  /**
   * A non-blocking UDP socket that is bound to `local` and hears only `remote`. An IPv6 socket leaves the IPv4 port alone.
   * Uses the slots, which must be free.
   * @throws SystemError `EADDRINUSE` when another socket has the local port; `ENETUNREACH` without a route to `remote`
   */
  openUdpSocket(local: SocketAddress, remote: SocketAddress, bufferBytes: number): number {
    const version6 = familyOf(remote.host) === 6;
    const domain = version6 ? AF_INET6 : AF_INET;
    const socket = check('socket', this.#libc.socket(domain, SOCK_DGRAM | NONBLOCK | CLOEXEC, 0));
    try {
      if (version6) this.#setOption(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1);
      // No "do not fragment": a full frame with its UDP header is longer than the path's MTU.
      if (version6) this.#setOption(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, 0);
      else this.#setOption(socket, IPPROTO_IP, IP_MTU_DISCOVER, 0);
      this.#setOption(socket, SOL_SOCKET, SO_RCVBUF, bufferBytes);
      this.#setOption(socket, SOL_SOCKET, SO_SNDBUF, bufferBytes);
      const bound = this.#writeAddress(local);
      check('bind', this.#libc.bind(socket, this.#control.address + this.#address, bound));
      const connected = this.#writeAddress(remote);
      check('connect', this.#libc.connect(socket, this.#control.address + this.#address, connected));
      // Whatever came between bind and connect may be anybody's. It cannot be more than this: the receive buffer ends.
      for (let taken = 0; taken < MOST_WAITING; taken += SLOTS) if (this.receive(socket, 0, SLOTS) <= 0) break;
      return socket;
    } catch (error) {
      this.close(socket);
      throw error;
    }
  }

  /** True when packets to the socket's peer stay on this host: Linux sends from the very address it sends to. */
  isOwnPeer(socket: number, host: string): boolean {
    const remoteBytes = this.#writeAddress({ host, port: 0 });
    const [from, to] = remoteBytes === 16 ? [4, 8] : [8, 24];
    const peer = Buffer.from(this.#control.bytes.subarray(this.#address + from, this.#address + to));
    this.#words[this.#scratch >> 2] = SOCKADDR_BYTES;
    const { address } = this.#control;
    check('getsockname', this.#libc.getsockname(socket, address + this.#address, address + this.#scratch));
    return peer.equals(this.#control.bytes.subarray(this.#address + from, this.#address + to));
  }

  close(descriptor: number): void {
    this.#libc.close(descriptor);
  }

  /** An eventfd(2), to be written to by another thread and drained by {@link drainEvent}. */
  openEvent(): number {
    return check('eventfd', this.#libc.eventfd(0, NONBLOCK | CLOEXEC));
  }

  drainEvent(event: number): void {
    this.#libc.read(event, this.#control.address + this.#scratch, 8);
  }

  openPoller(): number {
    return check('epoll_create1', this.#libc.epoll_create1(CLOEXEC));
  }

  /** Lets {@link wait} report the descriptor whenever it can be read. */
  watch(poller: number, descriptor: number): void {
    this.#words[this.#scratch >> 2] = EPOLLIN;
    this.#words[(this.#scratch + EPOLL_DATA) >> 2] = descriptor;
    const event = this.#control.address + this.#scratch;
    check('epoll_ctl', this.#libc.epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, event));
  }

  unwatch(poller: number, descriptor: number): void {
    const event = this.#control.address + this.#scratch;
    check('epoll_ctl', this.#libc.epoll_ctl(poller, EPOLL_CTL_DEL, descriptor, event));
  }

  /**
   * Blocks the thread for `timeout` milliseconds (-1: for ever) or until a descriptor can be read. Answers their number.
   * A fraction of a millisecond is exact; a kernel before 5.11 rounds it up.
   */
  wait(poller: number, timeout: number): number {
    if (timeout > 0 && this.#exactWaits) {
      const count = this.#waitExactly(poller, timeout);
      if (count >= 0) return count;
    }
    const count = this.#libc.epoll_wait(poller, this.#control.address + this.#events, SLOTS, Math.ceil(timeout));
    return count >= 0 ? count : this.#interrupted('epoll_wait', this.#libc.errno());
  }

  /** As {@link wait}; -1 where the kernel cannot. */
  #waitExactly(poller: number, timeout: number): number {
    const nanoseconds = Math.min(Math.ceil(timeout * 1e6), 1e15);
    const word = this.#timeout >> 2;
    // A timespec: two numbers of 8 bytes, of which the high halves stay 0.
    this.#words[word] = Math.floor(nanoseconds / 1e9);
    this.#words[word + 2] = nanoseconds % 1e9;
    const { address } = this.#control;
    const [events, time] = [address + this.#events, address + this.#timeout];
    const count = this.#libc.epoll_pwait2(SYS_EPOLL_PWAIT2, poller, events, SLOTS, time, 0, 8);
    if (count >= 0) return count;
    const errno = this.#libc.errno();
    if (errno !== ENOSYS && errno !== EPERM) return this.#interrupted('epoll_pwait2', errno);
    this.#exactWaits = false;
    return -1;
  }

  /** 0 after a signal. @throws SystemError for any other errno */
  #interrupted(call: string, errno: number): 0 {
    if (errno === EINTR) return 0;
    throw new SystemError(call, errno);
  }

  /** The descriptor of event `index` of the last {@link wait}. */
  readyDescriptor(index: number): number {
    return this.#words[(this.#events + index * EPOLL_EVENT_BYTES + EPOLL_DATA) >> 2]!;
  }

  /** Receives up to `count` packets into the slots from `first` on. Answers their number or a negative errno. */
  receive(socket: number, first: number, count: number): number {
    const headers = this.#control.address + this.#receiveHeaders + first * MMSGHDR_BYTES;
    return resultOrErrno(this.#libc.recvmmsg(socket, headers, count, MSG_DONTWAIT, 0));
  }

  /** Length of the packet that {@link receive} put into the slot; it is sent from there with the same length. */
  receivedLength(slot: number): number {
    const length = this.#words[(this.#receiveHeaders + slot * MMSGHDR_BYTES + MSG_LEN) >> 2]!;
    this.setLength(slot, length);
    return length;
  }

  /** Length in bytes with which the slot is sent. */
  setLength(slot: number, length: number): void {
    this.#words[(this.#sendVectors + slot * IOVEC_BYTES + 8) >> 2] = length;
  }

  /** Sends `count` slots from `first` on to the socket's peer. Answers how many went or a negative errno for the first. */
  send(socket: number, first: number, count: number): number {
    const headers = this.#control.address + this.#sendHeaders + first * MMSGHDR_BYTES;
    return resultOrErrno(this.#libc.sendmmsg(socket, headers, count, MSG_DONTWAIT | MSG_NOSIGNAL));
  }

  /** Packets that the kernel has dropped as the socket's receive queue was full. */
  receiveOverflow(socket: number): number {
    const size = this.#scratch + SK_MEMINFO_BYTES;
    this.#words[size >> 2] = SK_MEMINFO_BYTES;
    const { address } = this.#control;
    const result = this.#libc.getsockopt(socket, SOL_SOCKET, SO_MEMINFO, address + this.#scratch, address + size);
    check('getsockopt', result);
    return this.#words[(this.#scratch >> 2) + SK_MEMINFO_DROPS]!;
  }

  /** The time of day in microseconds since 1970. */
  microseconds(): number {
    this.#libc.clock_gettime(CLOCK_REALTIME, this.#control.address + this.#scratch);
    const { bytes } = this.#control;
    return Number(bytes.readBigInt64LE(this.#scratch)) * 1e6 + Math.floor(bytes.readUInt32LE(this.#scratch + 8) / 1000);
  }

  /** Writes a sockaddr_in or sockaddr_in6 and answers its size. */
  #writeAddress({ host, port }: SocketAddress): number {
    const { bytes, address } = this.#control;
    const at = this.#address;
    const [literal, zone] = plainHost(host).split('%') as [string, string?];
    const version6 = familyOf(host) === 6;
    bytes.fill(0, at, at + SOCKADDR_BYTES);
    bytes.writeUInt16LE(version6 ? AF_INET6 : AF_INET, at);
    bytes.writeUInt16BE(port, at + 2);
    const parsed = this.#libc.inet_pton(version6 ? AF_INET6 : AF_INET, literal, address + at + (version6 ? 8 : 4));
    if (parsed !== 1) throw new SystemError('inet_pton', constants.errno.EINVAL);
    if (zone) bytes.writeUInt32LE(Number(zone) || this.#libc.if_nametoindex(zone), at + 24);
    return version6 ? 28 : 16;
  }

  #setOption(socket: number, level: number, option: number, value: number): void {
    this.#words[this.#scratch >> 2] = value;
    const pointer = this.#control.address + this.#scratch;
    check('setsockopt', this.#libc.setsockopt(socket, level, option, pointer, 4));
  }
}

let datagramSlab: Slab | undefined;

/**
 * Sends one datagram to a Unix socket (`@name` is the abstract address), without ever waiting.
 * @throws SystemError such as `ECONNREFUSED`, `ENOENT`, `EAGAIN` when the receiver's queue is full
 */
export function sendUnixDatagram(path: string, data: Buffer): void {
  const name = Buffer.from(path.replace(/^@/, '\0'));
  if (name.length > 107) throw new SystemError('sendto', constants.errno.ENAMETOOLONG);
  datagramSlab ??= new Slab(CONTROL_SLAB_BYTES);
  const { bytes, address } = datagramSlab;
  if (data.length > bytes.length - SOCKADDR_BYTES) throw new SystemError('sendto', constants.errno.EMSGSIZE);
  bytes.writeUInt16LE(AF_UNIX, 0);
  // A path ends with a zero byte, an abstract name with its length.
  bytes[2 + name.copy(bytes, 2)] = 0;
  const nameBytes = 2 + name.length + (name[0] === 0 ? 0 : 1);
  data.copy(bytes, SOCKADDR_BYTES);
  const socket = check('socket', libc().socket(AF_UNIX, SOCK_DGRAM | CLOEXEC, 0));
  try {
    const flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    check('sendto', libc().sendto(socket, address + SOCKADDR_BYTES, data.length, flags, address, nameBytes));
  } finally {
    libc().close(socket);
  }
}
