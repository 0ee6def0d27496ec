// The memory of the frames in flight: slots, the vectors that point the kernel to them, and offloads still to be done.

import { Slab } from './libc.ts';

/**
 * Size of a slot in bytes: whole pages, more than any frame. The longest frames are IP packets of 65,535 bytes with an
 * Ethernet header and two VLAN tags.
 */
export const SLOT_BYTES = 17 * 4096;

/** Frames that can be received in one turn. */
export const SLOTS = 64;

/** Additional slots for the frames that a super-frame is split into. */
export const SEGMENT_SLOTS = 256;

const ALL_SLOTS = SLOTS + SEGMENT_SLOTS;

// Sizes and offsets of structures that are the same on all 64-bit Linux.
const IOVEC_BYTES = 16;
export const MMSGHDR_BYTES = 64;
export const MSG_IOV = 16;
export const MSG_IOVLEN = 24;
export const MSG_CONTROL = 32;
export const MSG_CONTROLLEN = 40;
export const MSG_LEN = 56;

/** Size of the virtio-net header that TAPs and packet sockets put before a frame (struct virtio_net_hdr). */
export const OFFLOAD_BYTES = 10;
const OFFLOAD_STRIDE_BYTES = 16;
/** Words of 16 bits from one slot's header to the next. */
export const OFFLOAD_WORDS = OFFLOAD_STRIDE_BYTES / 2;

const CONTROL_SLAB_BYTES = 1 << 20;

/**
 * Slots for frames, with two vectors each: one for the frame's virtio-net header, stored separately, and one for the
 * frame. Only the first {@link SLOTS} slots can be received into; all can be sent from.
 */
export class FrameMemory {
  /** @internal Memory for headers, addresses and options. */
  readonly control = new Slab(CONTROL_SLAB_BYTES);
  readonly #frames = new Slab(ALL_SLOTS * SLOT_BYTES);
  readonly #offloads = this.control.carve(ALL_SLOTS * OFFLOAD_STRIDE_BYTES);
  readonly #receiveVectors = this.#vectors(SLOTS);
  readonly #sendVectors = this.#vectors(ALL_SLOTS);
  readonly #runVectors = this.#framesAlone();

  /** The memory of all slots, one after the other. */
  readonly allSlots: Uint8Array = this.#frames.bytes;

  readonly slots: readonly Buffer[] = Array.from({ length: ALL_SLOTS }, (_, slot) =>
    this.#frames.bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES),
  );

  /** All slots' memory in words of 16 bits, for checksums. */
  readonly frameWords = new Uint16Array(
    this.#frames.bytes.buffer,
    this.#frames.bytes.byteOffset,
    this.#frames.bytes.length / 2,
  );

  /**
   * Each slot's virtio-net header, {@link OFFLOAD_WORDS} words apart: flags and type of segmentation (lower and upper
   * byte), length of the headers, bytes per segment, start of the checksummed data, and the checksum's offset from
   * there. All zeros: a plain frame.
   */
  readonly offloads = new Uint16Array(
    this.control.bytes.buffer,
    this.control.bytes.byteOffset + this.#offloads,
    ALL_SLOTS * OFFLOAD_WORDS,
  );

  /** Length in bytes to send the slot with. */
  setLength(slot: number, length: number): void {
    this.control.words[(this.#sendVectors + (2 * slot + 1) * IOVEC_BYTES + 8) >> 2] = length;
    this.control.words[(this.#runVectors + slot * IOVEC_BYTES + 8) >> 2] = length;
  }

  /** Length in bytes to send the slot with. */
  lengthOf(slot: number): number {
    return this.control.words[(this.#sendVectors + (2 * slot + 1) * IOVEC_BYTES + 8) >> 2]!;
  }

  /** @internal Address of the slot's two vectors for a receiving call. */
  receiveVector(slot: number): number {
    return this.control.address + this.#receiveVectors + 2 * slot * IOVEC_BYTES;
  }

  /** @internal Address of the slot's two vectors for a sending call. */
  sendVector(slot: number): number {
    return this.control.address + this.#sendVectors + 2 * slot * IOVEC_BYTES;
  }

  /** @internal Address of the slot's vector in the contiguous array: a run of slots is one packet. */
  runVector(slot: number): number {
    return this.control.address + this.#runVectors + slot * IOVEC_BYTES;
  }

  /** @internal Address of the slot's memory. */
  addressOfSlot(slot: number): number {
    return this.#frames.address + slot * SLOT_BYTES;
  }

  /**
   * @internal Offset of one mmsghdr for each slot that can be received into; `offloads`: with the virtio-net header.
   */
  receiveMessages(offloads: boolean): number {
    return this.#messages(SLOTS, this.#receiveVectors, offloads);
  }

  /** @internal Offset of one mmsghdr for each slot. */
  sendMessages(offloads: boolean): number {
    return this.#messages(ALL_SLOTS, this.#sendVectors, offloads);
  }

  // Vectors and messages never change except for lengths: slot n's message points to slot n's vectors, and these to
  // slot n.

  #vectors(count: number): number {
    const vectors = this.control.carve(count * 2 * IOVEC_BYTES);
    for (let slot = 0; slot < count; slot++) {
      const vector = vectors + 2 * slot * IOVEC_BYTES;
      this.control.writePointer(vector, this.control.address + this.#offloads + slot * OFFLOAD_STRIDE_BYTES);
      this.control.writePointer(vector + 8, OFFLOAD_BYTES);
      this.control.writePointer(vector + IOVEC_BYTES, this.#frames.address + slot * SLOT_BYTES);
      this.control.writePointer(vector + IOVEC_BYTES + 8, SLOT_BYTES);
    }
    return vectors;
  }

  #framesAlone(): number {
    const vectors = this.control.carve(ALL_SLOTS * IOVEC_BYTES);
    for (let slot = 0; slot < ALL_SLOTS; slot++)
      this.control.writePointer(vectors + slot * IOVEC_BYTES, this.#frames.address + slot * SLOT_BYTES);
    return vectors;
  }

  #messages(count: number, vectors: number, offloads: boolean): number {
    const messages = this.control.carve(count * MMSGHDR_BYTES);
    for (let slot = 0; slot < count; slot++) {
      const message = messages + slot * MMSGHDR_BYTES;
      const vector = vectors + (offloads ? 2 * slot : 2 * slot + 1) * IOVEC_BYTES;
      this.control.writePointer(message + MSG_IOV, this.control.address + vector);
      this.control.writePointer(message + MSG_IOVLEN, offloads ? 2 : 1);
    }
    return messages;
  }
}
