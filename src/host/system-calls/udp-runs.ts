// Sends runs of frames of one length as one packet to the kernel, which splits it into UDP packets as late as possible
// (UDP_SEGMENT, udp(7)).

import { type FrameMemory, MMSGHDR_BYTES, MSG_CONTROL, MSG_CONTROLLEN, MSG_IOV, MSG_IOVLEN } from './frame-memory.ts';
import { libc, MSG_DONTWAIT, MSG_NOSIGNAL, resultOrErrno } from './libc.ts';

const SOL_UDP = 17;
const UDP_SEGMENT = 103;
// struct cmsghdr with a number of 16 bits.
const CONTROL_BYTES = 24;
const CMSG_LENGTH = 18;
const CMSG_LEVEL = 8;
const CMSG_TYPE = 12;
const CMSG_DATA = 16;

const MESSAGES = 64;
/** The kernel's limit (UDP_MAX_SEGMENTS; 128 since Linux 6.9). */
const MOST_FRAMES = 64;
/** Slightly less than an IPv4 packet holds. */
const MOST_BYTES = 65_000;

export class UdpRuns {
  readonly #libc = libc();
  readonly #memory: FrameMemory;
  readonly #messages: number;
  readonly #controls: number;
  readonly #frames = new Uint8Array(MESSAGES);
  /** Frames of the first message of the last call. */
  firstRun = 0;

  constructor(memory: FrameMemory) {
    this.#memory = memory;
    const { control } = memory;
    this.#messages = control.carve(MESSAGES * MMSGHDR_BYTES);
    this.#controls = control.carve(MESSAGES * CONTROL_BYTES);
    for (let message = 0; message < MESSAGES; message++) {
      const ancillary = this.#controls + message * CONTROL_BYTES;
      control.words[ancillary >> 2] = CMSG_LENGTH;
      control.words[(ancillary + CMSG_LEVEL) >> 2] = SOL_UDP;
      control.words[(ancillary + CMSG_TYPE) >> 2] = UDP_SEGMENT;
      control.writePointer(this.#messages + message * MMSGHDR_BYTES + MSG_CONTROL, control.address + ancillary);
    }
  }

  /**
   * Sends `count` slots from `first` on to the socket's peer; frames of up to `longest` bytes in runs. Returns the
   * number sent or a negative errno for the first run, which has {@link firstRun} frames.
   */
  send(socket: number, first: number, count: number, longest: number): number {
    const { words, address } = this.#memory.control;
    const end = first + count;
    let messages = 0;
    for (let slot = first; slot < end && messages < MESSAGES; messages++) {
      const next = this.#runEnd(slot, end, longest);
      const message = (this.#messages + messages * MMSGHDR_BYTES) >> 2;
      const vector = this.#memory.runVector(slot);
      words[message + (MSG_IOV >> 2)] = vector >>> 0;
      words[message + (MSG_IOV >> 2) + 1] = Math.floor(vector / 0x1_0000_0000);
      words[message + (MSG_IOVLEN >> 2)] = next - slot;
      words[message + (MSG_CONTROLLEN >> 2)] = next - slot > 1 ? CONTROL_BYTES : 0;
      words[(this.#controls + messages * CONTROL_BYTES + CMSG_DATA) >> 2] = this.#memory.lengthOf(slot);
      this.#frames[messages] = next - slot;
      slot = next;
    }
    this.firstRun = this.#frames[0]!;
    const flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    const sent = resultOrErrno(this.#libc.sendmmsg(socket, address + this.#messages, messages, flags));
    let frames = 0;
    for (let message = 0; message < sent; message++) frames += this.#frames[message]!;
    return sent < 0 ? sent : frames;
  }

  /** The slot after the run that starts at `slot`: frames of equal length, the last of which may be shorter. */
  #runEnd(slot: number, end: number, longest: number): number {
    const size = this.#memory.lengthOf(slot);
    if (size > longest) return slot + 1;
    let next = slot + 1;
    for (let total = size; next < end && next - slot < MOST_FRAMES; next++) {
      const length = this.#memory.lengthOf(next);
      total += length;
      if (length > size || length === 0 || total > MOST_BYTES) break;
      if (length < size) return next + 1;
    }
    return next;
  }
}
