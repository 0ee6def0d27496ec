// System calls on UDP sockets, and waiting for them.

import { constants } from 'node:os';
import type { OpenDescriptors } from '../files/open-descriptors.ts';
import { FrameMemory, MMSGHDR_BYTES, MSG_CONTROL, MSG_CONTROLLEN, MSG_LEN, SLOTS } from './frame-memory.ts';
import { HeadedDatagramCalls } from './headed-datagrams.ts';
import {
  CLOEXEC,
  check,
  libc,
  MSG_DONTWAIT,
  NONBLOCK,
  resultOrErrno,
  SOCK_DGRAM,
  SOL_SOCKET,
  SystemError,
  setBuffers,
  setOption,
} from './libc.ts';
import { PacketCalls } from './packet.ts';
import { domainOf, familyOf, SOCKADDR_BYTES, type SocketAddress, writeSocketAddress } from './socket-address.ts';
import { TapCalls } from './tap.ts';
import { UdpRuns } from './udp-runs.ts';

const { EINTR, ENOSYS, EPERM } = constants.errno;

// Values of <sys/socket.h>, <netinet/in.h>, <sys/epoll.h>, <time.h>: the same on x86-64 and arm64.
const SO_MEMINFO = 55;
const IPPROTO_IP = 0;
const IP_MTU_DISCOVER = 10;
const IPPROTO_IPV6 = 41;
const IPV6_MTU_DISCOVER = 23;
const IPV6_V6ONLY = 26;
const SOL_UDP = 17;
const UDP_GRO = 104;
const EPOLL_CTL_ADD = 1;
const EPOLL_CTL_DEL = 2;
const EPOLLIN = 1;
/** Number of the system call epoll_pwait2, on every architecture; glibc has a function for it only since 2.35. */
const SYS_EPOLL_PWAIT2 = 441;
/** Index of the dropped packets in the array of SO_MEMINFO (linux/sock_diag.h). */
const SK_MEMINFO_DROPS = 8;
const SK_MEMINFO_BYTES = 36;
const CLOCK_REALTIME = 0;

/**
 * Descriptors that one wait reports. The rest come first the next time, so the main thread's requests never wait behind
 * many busy sockets.
 */
const EVENTS = 16;

/** Space for a struct cmsghdr with an int at its end. */
const ANCILLARY_BYTES = 24;
const CMSG_DATA = 16;
// 64-bit Linux has the same structures everywhere, except epoll_event, which is packed on x86-64.
const EPOLL_EVENT_BYTES = process.arch === 'x64' ? 12 : 16;
const EPOLL_DATA = process.arch === 'x64' ? 4 : 8;

/**
 * Minimum number of packets that the largest receive buffer of a common system (4 MiB, doubled by the kernel) holds.
 */
const MOST_WAITING = 16_384;

/**
 * System calls on the frames of {@link FrameMemory}. One call receives into, or sends from, consecutive slots. One
 * instance per thread.
 */
export class FrameCalls extends FrameMemory {
  readonly #libc = libc();
  readonly #open: OpenDescriptors | undefined;
  readonly #address = this.control.carve(SOCKADDR_BYTES);
  readonly #scratch = this.control.carve(64);
  readonly #timeout = this.control.carve(16);
  readonly #events = this.control.carve(EVENTS * EPOLL_EVENT_BYTES);
  readonly #receiveHeaders = this.receiveMessages(false);
  readonly #ancillary = this.#prepareAncillary();
  readonly #runs = new UdpRuns(this);
  /** False if the kernel has no epoll_pwait2 (before 5.11), or refuses it. */
  #exactWaits = true;
  readonly taps = new TapCalls(this);
  readonly packets = new PacketCalls(this);
  /** Unix sockets of emulators that put headers before frames. */
  readonly headed = new HeadedDatagramCalls(this);

  /** `open` holds the pollers and the descriptors they watch, until {@link close}. */
  constructor(open?: OpenDescriptors) {
    super();
    this.#open = open;
  }

  /**
   * A non-blocking UDP socket bound to `local` that receives only from `remote`. An IPv6 socket leaves the IPv4 port
   * free. Uses the slots, which must be free. With `runs` the kernel may put several packets into one slot; see {@link
   * receivedSegment}.
   * @throws SystemError `EADDRINUSE` when another socket has the local port; `ENETUNREACH` without a route to `remote`
   */
  openUdpSocket(local: SocketAddress, remote: SocketAddress, bufferBytes: number, runs = true): number {
    const version6 = familyOf(remote.host) === 6;
    const socket = check('socket', this.#libc.socket(domainOf(remote.host), SOCK_DGRAM | NONBLOCK | CLOEXEC, 0));
    try {
      if (version6) this.#setOption(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1);
      // No "do not fragment": a full frame with its UDP header is longer than the path's MTU.
      if (version6) this.#setOption(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, 0);
      else this.#setOption(socket, IPPROTO_IP, IP_MTU_DISCOVER, 0);
      if (runs) this.#takeRuns(socket);
      setBuffers(socket, bufferBytes, this.control, this.#scratch);
      const bound = writeSocketAddress(this.control, this.#address, local);
      check('bind', this.#libc.bind(socket, this.control.address + this.#address, bound));
      const connected = writeSocketAddress(this.control, this.#address, remote);
      check('connect', this.#libc.connect(socket, this.control.address + this.#address, connected));
      // Discard packets that arrived between bind and connect: they may come from any sender. The receive buffer limits
      // their number.
      for (let taken = 0; taken < MOST_WAITING; taken += SLOTS) if (this.receive(socket, 0, SLOTS) <= 0) break;
      return socket;
    } catch (error) {
      this.close(socket);
      throw error;
    }
  }

  /**
   * Whether packets to the socket's peer stay on this host: then Linux uses the peer's address as the source address.
   */
  isOwnPeer(socket: number, host: string): boolean {
    const remoteBytes = writeSocketAddress(this.control, this.#address, { host, port: 0 });
    const [from, to] = remoteBytes === 16 ? [4, 8] : [8, 24];
    const peer = Buffer.from(this.control.bytes.subarray(this.#address + from, this.#address + to));
    this.control.words[this.#scratch >> 2] = SOCKADDR_BYTES;
    const { address } = this.control;
    check('getsockname', this.#libc.getsockname(socket, address + this.#address, address + this.#scratch));
    return peer.equals(this.control.bytes.subarray(this.#address + from, this.#address + to));
  }

  /** Has the descriptor closed when the thread ends, unless {@link close} comes first. */
  own(descriptor: number): void {
    this.#open?.add(descriptor);
  }

  close(descriptor: number): void {
    this.#open?.delete(descriptor);
    this.#libc.close(descriptor);
  }

  /** Leaves the closing of the descriptor to the caller. */
  release(descriptor: number): void {
    this.#open?.delete(descriptor);
  }

  /** Creates an eventfd(2) that another thread writes to and {@link drainEvent} drains. */
  openEvent(): number {
    return check('eventfd', this.#libc.eventfd(0, NONBLOCK | CLOEXEC));
  }

  drainEvent(event: number): void {
    this.#libc.read(event, this.control.address + this.#scratch, 8);
  }

  openPoller(): number {
    const poller = check('epoll_create1', this.#libc.epoll_create1(CLOEXEC));
    this.#open?.add(poller);
    return poller;
  }

  /** Lets {@link wait} report the descriptor whenever it is readable. */
  watch(poller: number, descriptor: number): void {
    this.control.words[this.#scratch >> 2] = EPOLLIN;
    this.control.words[(this.#scratch + EPOLL_DATA) >> 2] = descriptor;
    const event = this.control.address + this.#scratch;
    check('epoll_ctl', this.#libc.epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, event));
    this.#open?.add(descriptor);
  }

  unwatch(poller: number, descriptor: number): void {
    check('epoll_ctl', this.#libc.epoll_ctl(poller, EPOLL_CTL_DEL, descriptor, 0));
  }

  /**
   * Blocks the thread for `timeout` milliseconds (-1: no limit) or until a descriptor is readable. Returns the number
   * of readable descriptors. Fractions of a millisecond are exact; a kernel before 5.11 rounds them up.
   */
  wait(poller: number, timeout: number): number {
    if (timeout > 0 && this.#exactWaits) {
      const count = this.#waitExactly(poller, timeout);
      if (count >= 0) return count;
    }
    const count = this.#libc.epoll_wait(poller, this.control.address + this.#events, EVENTS, Math.ceil(timeout));
    return count >= 0 ? count : this.#interrupted('epoll_wait', this.#libc.errno());
  }

  /** As {@link wait}; -1 if the kernel does not support it. */
  #waitExactly(poller: number, timeout: number): number {
    const nanoseconds = Math.min(Math.ceil(timeout * 1e6), 1e15);
    const word = this.#timeout >> 2;
    // A timespec: two numbers of 8 bytes, whose high halves stay 0.
    this.control.words[word] = Math.floor(nanoseconds / 1e9);
    this.control.words[word + 2] = nanoseconds % 1e9;
    const { address } = this.control;
    const [events, time] = [address + this.#events, address + this.#timeout];
    const count = this.#libc.epoll_pwait2(SYS_EPOLL_PWAIT2, poller, events, EVENTS, time, 0, 8);
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
    return this.control.words[(this.#events + index * EPOLL_EVENT_BYTES + EPOLL_DATA) >> 2]!;
  }

  /**
   * Receives up to `count` packets into the slots from `first` on. Returns their number or a negative errno. A slot may
   * hold several packets; see {@link receivedSegment}.
   */
  receive(socket: number, first: number, count: number): number {
    // Reset the lengths, which the kernel has overwritten.
    for (let slot = first; slot < first + count; slot++)
      this.control.words[(this.#receiveHeaders + slot * MMSGHDR_BYTES + MSG_CONTROLLEN) >> 2] = ANCILLARY_BYTES;
    const headers = this.control.address + this.#receiveHeaders + first * MMSGHDR_BYTES;
    return resultOrErrno(this.#libc.recvmmsg(socket, headers, count, MSG_DONTWAIT, 0));
  }

  /** Length of the packet that {@link receive} put into the slot. Sending the slot uses the same length. */
  receivedLength(slot: number): number {
    const length = this.control.words[(this.#receiveHeaders + slot * MMSGHDR_BYTES + MSG_LEN) >> 2]!;
    this.setLength(slot, length);
    return length;
  }

  /** Records a packet that was received into the slot elsewhere, as {@link receive} does. */
  setReceived(slot: number, length: number, segment: number): void {
    const header = this.#receiveHeaders + slot * MMSGHDR_BYTES;
    this.control.words[(header + MSG_LEN) >> 2] = length;
    this.control.words[(header + MSG_CONTROLLEN) >> 2] = segment === 0 ? 0 : ANCILLARY_BYTES;
    this.control.words[(this.#ancillary + slot * ANCILLARY_BYTES + CMSG_DATA) >> 2] = segment;
  }

  /**
   * Length of each of the packets except the last one that {@link receive} put into the slot; 0 if there is only one.
   */
  receivedSegment(slot: number): number {
    const used = this.control.words[(this.#receiveHeaders + slot * MMSGHDR_BYTES + MSG_CONTROLLEN) >> 2]!;
    return used === 0 ? 0 : this.control.words[(this.#ancillary + slot * ANCILLARY_BYTES + CMSG_DATA) >> 2]!;
  }

  /**
   * Sends `count` slots from `first` on to the socket's peer. Frames of the same length up to `longest` bytes go in
   * runs, each a single packet for the kernel. Returns the number of frames sent or a negative errno for the first run.
   */
  send(socket: number, first: number, count: number, longest = 0): number {
    return this.#runs.send(socket, first, count, longest);
  }

  /** Frames of the first run of the last {@link send}. */
  get firstRun(): number {
    return this.#runs.firstRun;
  }

  /** Packets that the kernel dropped because the socket's receive queue was full. */
  receiveOverflow(socket: number): number {
    const size = this.#scratch + SK_MEMINFO_BYTES;
    this.control.words[size >> 2] = SK_MEMINFO_BYTES;
    const { address } = this.control;
    const result = this.#libc.getsockopt(socket, SOL_SOCKET, SO_MEMINFO, address + this.#scratch, address + size);
    check('getsockopt', result);
    return this.control.words[(this.#scratch >> 2) + SK_MEMINFO_DROPS]!;
  }

  /** The time of day since 1970. */
  timeOfDay(): { seconds: number; nanoseconds: number } {
    this.#libc.clock_gettime(CLOCK_REALTIME, this.control.address + this.#scratch);
    const { bytes } = this.control;
    return {
      seconds: Number(bytes.readBigInt64LE(this.#scratch)),
      nanoseconds: bytes.readUInt32LE(this.#scratch + 8),
    };
  }

  /** Lets the kernel deliver packets of one run together. Linux before 5.0 cannot. */
  #takeRuns(socket: number): void {
    this.control.words[this.#scratch >> 2] = 1;
    this.#libc.setsockopt(socket, SOL_UDP, UDP_GRO, this.control.address + this.#scratch, 4);
  }

  #prepareAncillary(): number {
    const ancillary = this.control.carve(SLOTS * ANCILLARY_BYTES);
    for (let slot = 0; slot < SLOTS; slot++) {
      const pointer = this.#receiveHeaders + slot * MMSGHDR_BYTES + MSG_CONTROL;
      this.control.writePointer(pointer, this.control.address + ancillary + slot * ANCILLARY_BYTES);
    }
    return ancillary;
  }

  #setOption(socket: number, level: number, option: number, value: number): void {
    setOption(socket, level, option, value, this.control, this.#scratch);
  }
}
