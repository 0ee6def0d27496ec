// Unix datagram sockets whose frames have a short header, kept separately from the frame. IOU images use them.

import { type FrameMemory, MMSGHDR_BYTES, MSG_IOV, MSG_IOVLEN, MSG_LEN, SLOT_BYTES, SLOTS } from './frame-memory.ts';
import {
  CLOEXEC,
  check,
  libc,
  MSG_DONTWAIT,
  MSG_NOSIGNAL,
  NONBLOCK,
  resultOrErrno,
  SOCK_DGRAM,
  SystemError,
  setBuffers,
} from './libc.ts';

const AF_UNIX = 1;
/** struct sockaddr_un: a word for the family, then the path with a zero byte. */
const SOCKADDR_BYTES = 110;
const PATH_BYTES = SOCKADDR_BYTES - 2 - 1;
const ENAMETOOLONG = 36;

const IOVEC_BYTES = 16;
const MSG_NAME = 0;
const MSG_NAMELEN = 8;
/** Messages per send call. */
const MESSAGES = 64;

export const HEADER_BYTES = 8;
const HEADER_STRIDE_BYTES = 16;

export class HeadedDatagramCalls {
  readonly #libc = libc();
  readonly #memory: FrameMemory;
  readonly #scratch: number;
  readonly #address: number;
  readonly #receiveHeaders: number;
  readonly #receiveMessages: number;
  readonly #sendHeaders: number;
  readonly #sendVectors: number;
  readonly #sendMessages: number;

  constructor(memory: FrameMemory) {
    this.#memory = memory;
    const { control } = memory;
    this.#scratch = control.carve(16);
    this.#address = control.carve(SOCKADDR_BYTES);
    this.#receiveHeaders = control.carve(SLOTS * HEADER_STRIDE_BYTES);
    this.#receiveMessages = control.carve(SLOTS * MMSGHDR_BYTES);
    const receiveVectors = control.carve(SLOTS * 2 * IOVEC_BYTES);
    for (let slot = 0; slot < SLOTS; slot++) {
      const vectors = receiveVectors + slot * 2 * IOVEC_BYTES;
      control.writePointer(vectors, control.address + this.#receiveHeaders + slot * HEADER_STRIDE_BYTES);
      control.writePointer(vectors + 8, HEADER_BYTES);
      control.writePointer(vectors + IOVEC_BYTES, memory.addressOfSlot(slot));
      control.writePointer(vectors + IOVEC_BYTES + 8, SLOT_BYTES);
      this.#point(this.#receiveMessages + slot * MMSGHDR_BYTES, vectors);
    }
    this.#sendHeaders = control.carve(MESSAGES * HEADER_STRIDE_BYTES);
    this.#sendVectors = control.carve(MESSAGES * 2 * IOVEC_BYTES);
    this.#sendMessages = control.carve(MESSAGES * MMSGHDR_BYTES);
    for (let message = 0; message < MESSAGES; message++) {
      const vectors = this.#sendVectors + message * 2 * IOVEC_BYTES;
      const header = this.#sendMessages + message * MMSGHDR_BYTES;
      control.writePointer(vectors, control.address + this.#sendHeaders + message * HEADER_STRIDE_BYTES);
      control.writePointer(vectors + 8, HEADER_BYTES);
      control.writePointer(header + MSG_NAME, control.address + this.#address);
      this.#point(header, vectors);
    }
  }

  /** A non-blocking socket bound to an unused path. @throws SystemError of `bind` and others */
  open(path: string, bufferBytes: number): number {
    const socket = check('socket', this.#libc.socket(AF_UNIX, SOCK_DGRAM | NONBLOCK | CLOEXEC, 0));
    try {
      setBuffers(socket, bufferBytes, this.#memory.control, this.#scratch);
      const length = this.#writeAddress(path);
      check('bind', this.#libc.bind(socket, this.#memory.control.address + this.#address, length));
      return socket;
    } catch (error) {
      this.#libc.close(socket);
      throw error;
    }
  }

  /**
   * Receives up to `count` datagrams and puts their frames into the slots from `first` on. Returns their number or a
   * negative errno.
   */
  receive(socket: number, first: number, count: number): number {
    const messages = this.#memory.control.address + this.#receiveMessages + first * MMSGHDR_BYTES;
    return resultOrErrno(this.#libc.recvmmsg(socket, messages, count, MSG_DONTWAIT, 0));
  }

  /**
   * Length of the frame in the slot, without its header; 0 or less if there is none. Sending the slot uses the same
   * length.
   */
  receivedLength(slot: number): number {
    const length =
      this.#memory.control.words[(this.#receiveMessages + slot * MMSGHDR_BYTES + MSG_LEN) >> 2]! - HEADER_BYTES;
    if (length > 0) this.#memory.setLength(slot, length);
    return length;
  }

  /** A byte of the header of the datagram received into the slot. */
  receivedHeader(slot: number, at: number): number {
    return this.#memory.control.bytes[this.#receiveHeaders + slot * HEADER_STRIDE_BYTES + at]!;
  }

  /**
   * Sends the frames of some slots to a socket, each after the header. Bytes 4 and 5 of the header differ per frame.
   * Returns the number sent (at most 64) or a negative errno for the first.
   */
  send(
    socket: number,
    path: string,
    header: Buffer,
    slots: readonly number[],
    own: readonly number[],
    from: number,
  ): number {
    const { control } = this.#memory;
    const nameBytes = this.#writeAddress(path);
    const count = Math.min(MESSAGES, slots.length - from);
    for (let message = 0; message < count; message++) {
      const slot = slots[from + message]!;
      const place = this.#sendHeaders + message * HEADER_STRIDE_BYTES;
      header.copy(control.bytes, place);
      control.bytes[place + 4] = own[from + message]!;
      control.bytes[place + 5] = own[from + message]!;
      const vector = (this.#sendVectors + message * 2 * IOVEC_BYTES + IOVEC_BYTES) >> 2;
      const address = this.#memory.addressOfSlot(slot);
      control.words[vector] = address >>> 0;
      control.words[vector + 1] = Math.floor(address / 0x1_0000_0000);
      control.words[vector + 2] = this.#memory.lengthOf(slot);
      control.words[(this.#sendMessages + message * MMSGHDR_BYTES + MSG_NAMELEN) >> 2] = nameBytes;
    }
    const flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    return resultOrErrno(this.#libc.sendmmsg(socket, control.address + this.#sendMessages, count, flags));
  }

  #point(message: number, vectors: number): void {
    const { control } = this.#memory;
    control.writePointer(message + MSG_IOV, control.address + vectors);
    control.writePointer(message + MSG_IOVLEN, 2);
  }

  #writeAddress(path: string): number {
    const { bytes } = this.#memory.control;
    if (Buffer.byteLength(path) > PATH_BYTES) throw new SystemError('bind', ENAMETOOLONG);
    bytes.writeUInt16LE(AF_UNIX, this.#address);
    const length = bytes.write(path, this.#address + 2);
    bytes[this.#address + 2 + length] = 0;
    return 2 + length + 1;
  }
}
