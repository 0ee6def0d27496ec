// Work that network interfaces leave to others (offloads): an incomplete checksum, or a TCP or UDP frame of up to 64 KiB (a super-frame)
// still to be cut. The virtio-net header describes it (virtio specification 1.2, section 5.1.6). TAPs and packet sockets exchange such
// frames as they are; all other receivers get real frames from here.

import { type FrameCalls, OFFLOAD_WORDS } from '../../host/system-calls.ts';
import type { Turn } from './turn.ts';

/** Takes a frame of `length` bytes in `slot`, which is valid until the turn ends. */
export interface FrameTaker {
  send(slot: number, length: number): void;
}

/** Copies a frame of `length` bytes in `slot` at once. */
export interface FrameRecorder {
  write(slot: number, length: number, outgoing: boolean): void;
}

// Flags and types of the virtio-net header, in one 16-bit word.
const NEEDS_CHECKSUM = 0x0001;
const TYPE_SHIFT = 8;
const TYPE_TCP4 = 1;
const TYPE_TCP6 = 4;
const TYPE_UDP = 5;
/** The type's upper bit only marks ECN. */
const TYPE_MASK = 0x7f;
/** All that makes a frame not plain. "Checksum verified by the kernel" does not. */
const NOT_PLAIN = NEEDS_CHECKSUM | (TYPE_MASK << TYPE_SHIFT);
// Indexes in a header, in words.
const SEGMENT_BYTES = 2;
const CHECKSUM_START = 3;
const CHECKSUM_OFFSET = 4;

const ETHERNET_BYTES = 14;
const VLAN_BYTES = 4;
const IP4_BYTES = 20;
const IP6_BYTES = 40;
const TCP_BYTES = 20;
const UDP_BYTES = 8;
const ETHERTYPE_IP4 = 0x0800;
const ETHERTYPE_IP6 = 0x86dd;
const ETHERTYPES_VLAN = [0x8100, 0x88a8, 0x9100, 0x9200];
const PROTOCOL_TCP = 6;
const PROTOCOL_UDP = 17;
/** A frame of 64 KiB in TCP segments of 48 bytes, the least that Linux sends. More would only keep all labs of the thread waiting. */
const MOST_FRAMES = 1400;
const TCP_FIN_PSH = 0x09;
const TCP_CWR = 0x80;

function swapped(word: number): number {
  return ((word & 0xff) << 8) | (word >> 8);
}

/** The one's complement sum, folded to 16 bits. */
function folded(sum: number): number {
  const once = (sum & 0xffff) + (sum >>> 16);
  return (once & 0xffff) + (once >>> 16);
}

/** Reads 16 bits in network byte order. */
function word(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}

function writeWord(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = (value >> 8) & 0xff;
  bytes[at + 1] = value & 0xff;
}

export class Segmentation {
  readonly #calls: FrameCalls;
  readonly #turn: Turn;
  readonly #headers: Uint16Array;
  readonly #words: Uint16Array;
  readonly #wordsOfSlot: number;
  // Set by `admit` for each slot: the offset of the network header.
  readonly #network: Uint16Array;
  readonly #headerBytes: Uint16Array;
  readonly #frames: Uint16Array;

  constructor(calls: FrameCalls, turn: Turn) {
    this.#calls = calls;
    this.#turn = turn;
    this.#headers = calls.offloads;
    this.#words = calls.frameWords;
    this.#wordsOfSlot = calls.frameWords.length / calls.slots.length;
    this.#network = new Uint16Array(calls.slots.length);
    this.#headerBytes = new Uint16Array(calls.slots.length);
    this.#frames = new Uint16Array(calls.slots.length);
  }

  /** Whether the slot's frame is complete. */
  isPlain(slot: number): boolean {
    return (this.#headers[slot * OFFLOAD_WORDS]! & NOT_PLAIN) === 0;
  }

  /** Checks a received frame; false if its virtio-net header does not fit it, so that it must be dropped. */
  admit(slot: number, length: number): boolean {
    if (this.isPlain(slot)) return true;
    const header = slot * OFFLOAD_WORDS;
    const start = this.#headers[header + CHECKSUM_START]!;
    const segmentBytes = this.#headers[header + SEGMENT_BYTES]!;
    const type = (this.#headers[header]! >> TYPE_SHIFT) & TYPE_MASK;
    const offset = this.#headers[header + CHECKSUM_OFFSET]!;
    if ((this.#headers[header]! & NEEDS_CHECKSUM) === 0 || ((start | offset) & 1) !== 0) return false;
    if (start + offset + 2 > length) return false;
    this.#frames[slot] = 1;
    this.#headerBytes[slot] = 0;
    if (type === 0) return true;
    if (type !== TYPE_TCP4 && type !== TYPE_TCP6 && type !== TYPE_UDP) return false;
    const frame = this.#calls.slots[slot]!;
    let network = ETHERNET_BYTES;
    while (ETHERTYPES_VLAN.includes(word(frame, network - 2)) && network < start) network += VLAN_BYTES;
    const protocol = type === TYPE_UDP ? PROTOCOL_UDP : PROTOCOL_TCP;
    const version = word(frame, network - 2);
    if (version === ETHERTYPE_IP4) {
      if (type === TYPE_TCP6 || network + IP4_BYTES > start) return false;
      if (network + (frame[network]! & 0x0f) * 4 !== start || frame[network + 9] !== protocol) return false;
    } else if (version !== ETHERTYPE_IP6 || type === TYPE_TCP4 || network + IP6_BYTES > start) {
      return false;
    }
    const transport = protocol === PROTOCOL_UDP ? UDP_BYTES : (frame[start + 12]! >> 4) * 4;
    const headerBytes = start + transport;
    if (transport < (protocol === PROTOCOL_UDP ? UDP_BYTES : TCP_BYTES)) return false;
    if (headerBytes >= length || length - headerBytes > segmentBytes * MOST_FRAMES) return false;
    this.#network[slot] = network;
    this.#headerBytes[slot] = headerBytes;
    this.#frames[slot] = Math.ceil((length - headerBytes) / segmentBytes);
    return true;
  }

  /** Number of real frames in the slot's frame. */
  framesIn(slot: number): number {
    return this.isPlain(slot) ? 1 : this.#frames[slot]!;
  }

  /** Total bytes of these frames. */
  bytesIn(slot: number, length: number): number {
    return this.isPlain(slot) ? length : length + (this.#frames[slot]! - 1) * this.#headerBytes[slot]!;
  }

  /** Passes the real frames to `taker`, in slots that are valid until the turn ends. */
  each(slot: number, length: number, taker: FrameTaker): void {
    if (this.#completed(slot, length)) {
      taker.send(slot, length);
      return;
    }
    const frames = this.#frames[slot]!;
    for (let index = 0; index < frames; index++) {
      const target = this.#turn.nextSegment();
      const size = this.#cut(slot, length, index, target);
      this.#calls.setLength(target, size);
      taker.send(target, size);
    }
  }

  /** Passes the real frames to `capture`, one by one in a slot that is reused. */
  eachCopied(slot: number, length: number, capture: FrameRecorder, outgoing: boolean): void {
    if (this.#completed(slot, length)) {
      capture.write(slot, length, outgoing);
      return;
    }
    const target = this.#turn.nextSegment();
    const frames = this.#frames[slot]!;
    for (let index = 0; index < frames; index++)
      capture.write(target, this.#cut(slot, length, index, target), outgoing);
  }

  /** Completes the checksum of a frame that needs nothing else. The original slot is not changed for its other users. */
  #completed(slot: number, length: number): boolean {
    if (this.isPlain(slot)) return true;
    if (this.#headerBytes[slot] !== 0) return false;
    const header = slot * OFFLOAD_WORDS;
    const start = this.#headers[header + CHECKSUM_START]!;
    const offset = this.#headers[header + CHECKSUM_OFFSET]!;
    // The field already contains the sum of the pseudo-header.
    this.#writeChecksum(slot, start + offset, this.#sum(slot, start, length));
    this.#headers[header] = 0;
    return true;
  }

  /** Writes frame number `index` of a super-frame into the slot `target` and returns its length. */
  #cut(slot: number, length: number, index: number, target: number): number {
    const header = slot * OFFLOAD_WORDS;
    const headerBytes = this.#headerBytes[slot]!;
    const segmentBytes = this.#headers[header + SEGMENT_BYTES]!;
    const start = this.#headers[header + CHECKSUM_START]!;
    const network = this.#network[slot]!;
    const from = headerBytes + index * segmentBytes;
    const to = Math.min(length, from + segmentBytes);
    const size = headerBytes + to - from;
    const source = this.#calls.slots[slot]!;
    const frame = this.#calls.slots[target]!;
    source.copy(frame, 0, 0, headerBytes);
    source.copy(frame, headerBytes, from, to);

    const ip4 = word(frame, network - 2) === ETHERTYPE_IP4;
    if (ip4) {
      writeWord(frame, network + 2, size - network);
      writeWord(frame, network + 4, word(frame, network + 4) + index);
      writeWord(frame, network + 10, 0);
      this.#writeChecksum(target, network + 10, this.#sum(target, network, start));
    } else {
      writeWord(frame, network + 4, size - network - IP6_BYTES);
    }

    const udp = ((this.#headers[header]! >> TYPE_SHIFT) & TYPE_MASK) === TYPE_UDP;
    if (udp) writeWord(frame, start + 4, size - start);
    else this.#continueTcp(frame, start, index * segmentBytes, index === 0, to === length);

    const checksum = start + this.#headers[header + CHECKSUM_OFFSET]!;
    writeWord(frame, checksum, 0);
    // The pseudo-header: both addresses (adjacent), the protocol and the length.
    const addresses = this.#sum(target, ip4 ? network + 12 : network + 8, ip4 ? network + 20 : network + IP6_BYTES);
    const pseudo = addresses + swapped(udp ? PROTOCOL_UDP : PROTOCOL_TCP) + swapped(size - start);
    const sum = pseudo + this.#sum(target, start, size);
    this.#writeChecksum(target, checksum, sum);
    // In UDP 0 means no checksum (RFC 768); all ones is the same sum.
    if (udp && word(frame, checksum) === 0) writeWord(frame, checksum, 0xffff);
    return size;
  }

  /** Each segment gets its sequence number; one-time flags are set in the first or last segment only. */
  #continueTcp(frame: Buffer, start: number, offset: number, first: boolean, last: boolean): void {
    const sequence = (frame.readUInt32BE(start + 4) + offset) >>> 0;
    frame.writeUInt32BE(sequence, start + 4);
    const flags = frame[start + 13]!;
    frame[start + 13] = flags & ~(last ? 0 : TCP_FIN_PSH) & ~(first ? 0 : TCP_CWR);
  }

  /** Sum of the 16-bit words from `from` (even) to `to`, in host byte order (RFC 1071, section 2). */
  #sum(slot: number, from: number, to: number): number {
    const words = this.#words;
    const base = slot * this.#wordsOfSlot;
    const end = base + (to >> 1);
    let sum = 0;
    for (let at = base + (from >> 1); at < end; at++) sum += words[at]!;
    if ((to & 1) !== 0) sum += this.#calls.slots[slot]![to - 1]!;
    return sum < 0x10000 ? sum : folded(sum);
  }

  /** Writes the complement of a sum in host byte order. */
  #writeChecksum(slot: number, at: number, sum: number): void {
    this.#words[slot * this.#wordsOfSlot + (at >> 1)] = ~folded(sum) & 0xffff;
  }
}
