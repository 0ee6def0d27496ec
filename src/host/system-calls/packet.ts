// Packet sockets (packet(7)): the frames of an existing interface of the host.

import {
  type FrameMemory,
  MMSGHDR_BYTES,
  MSG_CONTROL,
  MSG_CONTROLLEN,
  MSG_LEN,
  OFFLOAD_BYTES,
  OFFLOAD_WORDS,
  SLOTS,
} from './frame-memory.ts';
import { InterfaceRequest } from './interface-request.ts';
import {
  CLOEXEC,
  check,
  libc,
  MSG_DONTWAIT,
  MSG_NOSIGNAL,
  NONBLOCK,
  resultOrErrno,
  SOCK_RAW,
  SystemError,
  setBuffers,
  setOption,
} from './libc.ts';

// linux/if_packet.h, linux/if_ether.h
const AF_PACKET = 17;
const SOL_PACKET = 263;
const PACKET_ADD_MEMBERSHIP = 1;
const PACKET_STATISTICS = 6;
const PACKET_AUXDATA = 8;
const PACKET_VNET_HDR = 15;
const PACKET_IGNORE_OUTGOING = 23;
const PACKET_MR_PROMISC = 1;
const ETH_P_ALL = 0x0003;
const ETH_P_8021Q = 0x8100;
const TP_STATUS_VLAN_VALID = 1 << 4;
const TP_STATUS_VLAN_TPID_VALID = 1 << 6;

// struct cmsghdr with struct tpacket_auxdata
const CONTROL_BYTES = 40;
const AUX_STATUS = 16;
const AUX_VLAN = 32;

const VLAN_TAG_BYTES = 4;
const ADDRESSES_BYTES = 12;
const EPROTONOSUPPORT = 93;

export class PacketCalls {
  readonly #libc = libc();
  readonly #memory: FrameMemory;
  readonly #request: InterfaceRequest;
  readonly #scratch: number;
  readonly #receiveHeaders: number;
  readonly #sendHeaders: number;
  readonly #ancillary: number;

  constructor(memory: FrameMemory) {
    this.#memory = memory;
    const { control } = memory;
    this.#request = new InterfaceRequest(control);
    this.#scratch = control.carve(32);
    this.#receiveHeaders = memory.receiveMessages(true);
    this.#sendHeaders = memory.sendMessages(true);
    this.#ancillary = control.carve(SLOTS * CONTROL_BYTES);
    for (let slot = 0; slot < SLOTS; slot++) {
      const header = this.#receiveHeaders + slot * MMSGHDR_BYTES;
      control.writePointer(header + MSG_CONTROL, control.address + this.#ancillary + slot * CONTROL_BYTES);
    }
  }

  /**
   * A non-blocking socket that receives all frames that reach the interface, whatever their destination, and none that
   * this host sends. Its frames have virtio-net headers and may be super-frames. Leaves the interface, which may be
   * down, unchanged.
   * @throws SystemError by `call`: `socket` (`EPERM`, `EAFNOSUPPORT`), `SIOCGIFINDEX` (`ENODEV`), `SIOCGIFHWADDR`
   * (`EPROTONOSUPPORT` if it is not Ethernet)
   */
  open(name: string, bufferBytes: number): { socket: number; index: number } {
    const socket = check('socket', this.#libc.socket(AF_PACKET, SOCK_RAW | NONBLOCK | CLOEXEC, 0));
    try {
      const index = this.#request.index(socket, name);
      if (!this.#request.isEthernet(socket, name)) throw new SystemError('SIOCGIFHWADDR', EPROTONOSUPPORT);
      setBuffers(socket, bufferBytes, this.#memory.control, this.#scratch);
      this.#set(socket, SOL_PACKET, PACKET_VNET_HDR, 1);
      this.#set(socket, SOL_PACKET, PACKET_AUXDATA, 1);
      this.#set(socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
      this.#listenToAll(socket, index);
      this.#bind(socket, index);
      return { socket, index };
    } catch (error) {
      this.#libc.close(socket);
      throw error;
    }
  }

  /** Index of the interface of that name, 0 if it does not exist. */
  indexOf(name: string): number {
    return this.#libc.if_nametoindex(name);
  }

  /** Receives up to `count` frames into the slots from `first` on. Returns their number or a negative errno. */
  receive(socket: number, first: number, count: number): number {
    const { words } = this.#memory.control;
    // Reset the lengths, which the kernel has overwritten.
    for (let slot = first; slot < first + count; slot++)
      words[(this.#receiveHeaders + slot * MMSGHDR_BYTES + MSG_CONTROLLEN) >> 2] = CONTROL_BYTES;
    const headers = this.#memory.control.address + this.#receiveHeaders + first * MMSGHDR_BYTES;
    return resultOrErrno(this.#libc.recvmmsg(socket, headers, count, MSG_DONTWAIT, 0));
  }

  /** Restores the VLAN tag that the kernel removed from the received frame, and returns the frame's length. */
  receivedLength(slot: number): number {
    const { words, bytes } = this.#memory.control;
    const length = words[(this.#receiveHeaders + slot * MMSGHDR_BYTES + MSG_LEN) >> 2]! - OFFLOAD_BYTES;
    const auxiliary = this.#ancillary + slot * CONTROL_BYTES;
    const status = words[(auxiliary + AUX_STATUS) >> 2]!;
    if ((status & TP_STATUS_VLAN_VALID) === 0) return length;
    const frame = this.#memory.slots[slot]!;
    frame.copyWithin(ADDRESSES_BYTES + VLAN_TAG_BYTES, ADDRESSES_BYTES, length);
    const hasType = (status & TP_STATUS_VLAN_TPID_VALID) !== 0;
    frame.writeUInt16BE(hasType ? bytes.readUInt16LE(auxiliary + AUX_VLAN + 2) : ETH_P_8021Q, ADDRESSES_BYTES);
    frame.writeUInt16BE(bytes.readUInt16LE(auxiliary + AUX_VLAN), ADDRESSES_BYTES + 2);
    const { offloads } = this.#memory;
    if (offloads[slot * OFFLOAD_WORDS] !== 0) {
      offloads[slot * OFFLOAD_WORDS + 1]! += VLAN_TAG_BYTES;
      offloads[slot * OFFLOAD_WORDS + 3]! += VLAN_TAG_BYTES;
    }
    return length + VLAN_TAG_BYTES;
  }

  /** Sends `count` slots from `first` on. Returns the number sent or a negative errno for the first. */
  send(socket: number, first: number, count: number): number {
    const headers = this.#memory.control.address + this.#sendHeaders + first * MMSGHDR_BYTES;
    return resultOrErrno(this.#libc.sendmmsg(socket, headers, count, MSG_DONTWAIT | MSG_NOSIGNAL));
  }

  /** Frames dropped by the kernel since the last call because the socket's receive queue was full. */
  takeOverflow(socket: number): number {
    const { words, address } = this.#memory.control;
    const size = this.#scratch + 16;
    words[size >> 2] = 8;
    const result = this.#libc.getsockopt(
      socket,
      SOL_PACKET,
      PACKET_STATISTICS,
      address + this.#scratch,
      address + size,
    );
    check('getsockopt', result);
    return words[(this.#scratch >> 2) + 1]!;
  }

  #listenToAll(socket: number, index: number): void {
    const { bytes, address } = this.#memory.control;
    bytes.fill(0, this.#scratch, this.#scratch + 16);
    bytes.writeInt32LE(index, this.#scratch);
    bytes.writeUInt16LE(PACKET_MR_PROMISC, this.#scratch + 4);
    const result = this.#libc.setsockopt(socket, SOL_PACKET, PACKET_ADD_MEMBERSHIP, address + this.#scratch, 16);
    check('setsockopt', result);
  }

  /**
   * Frames arrive only after this: a socket opened with a protocol would receive from all interfaces until it is bound.
   */
  #bind(socket: number, index: number): void {
    const { bytes, address } = this.#memory.control;
    bytes.fill(0, this.#scratch, this.#scratch + 20);
    bytes.writeUInt16LE(AF_PACKET, this.#scratch);
    bytes.writeUInt16BE(ETH_P_ALL, this.#scratch + 2);
    bytes.writeInt32LE(index, this.#scratch + 4);
    check('bind', this.#libc.bind(socket, address + this.#scratch, 20));
  }

  #set(socket: number, level: number, option: number, value: number): void {
    setOption(socket, level, option, value, this.#memory.control, this.#scratch);
  }
}
