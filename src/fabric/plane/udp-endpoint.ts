// A UDP socket of the fabric: receives packets of its one peer and sends frames to it in runs of slots.

import { constants } from 'node:os';
import { FRAGMENTED, type FrameLoop, SEND_COUNTERS, SEND_DROPS } from '../../host/network/frame-loop.ts';
import type { FrameCalls } from '../../host/system-calls.ts';
import type { Drops } from '../model.ts';
import type { CounterBlock, CounterMemory } from './counter-memory.ts';
import type { PlainEntry, PlainRoutes, PlainSocket } from './plain-routes.ts';
import { RunSender } from './run-sender.ts';
import type { Turn } from './turn.ts';

const { EAGAIN, ECONNREFUSED, EINTR, EINVAL, EIO, EMSGSIZE } = constants.errno;

const SEND_DROP_PLACES = Object.entries(SEND_DROPS) as [keyof typeof SEND_DROPS, number][];

/** Packets read from one socket before the next one's turn. */
const BATCH = 32;
/** Runs read from it instead, while packets come in runs. */
const RUNS = 4;

/** Takes a frame of `length` bytes in `slot`, which is valid until the turn ends. */
export type Deliver = (slot: number, length: number) => void;

/** What an endpoint is part of. */
interface Plane {
  readonly calls: FrameCalls;
  readonly turn: Turn;
  readonly counters: CounterMemory;
  readonly routes: PlainRoutes | undefined;
  close(socket: number): void;
}

export class UdpEndpoint extends RunSender implements PlainSocket {
  readonly socket: number;
  /** The socket's number in the native frame loop; -1 for none. */
  readonly number: number;
  readonly #plane: Plane;
  readonly #drops: Drops;
  readonly #deliver: Deliver;
  readonly #entry: PlainEntry;
  /** Frames that the path carries only in fragments, and those that no packet can hold. */
  readonly unfit = { fragmented: 0, tooLong: 0 };
  /** Send failures of the native frame loop, and frames that it has sent in fragments. */
  readonly #sendDrops: CounterBlock;
  /** Whether the last error was due to an earlier packet. */
  #refused = false;
  /** Whether the last packets came in runs. */
  #inRuns = false;
  /** Longest frame that the path accepts in runs: less than its MTU. */
  #longestInRuns = 65_535;
  #overflow = 0;
  /** Longest frame that the path takes in one piece; 0: not known. */
  #whole = 0;

  /** `entry` is the route of the frames given to `deliver`, for the native frame loop. */
  constructor(plane: Plane, socket: number, drops: Drops, deliver: Deliver, entry: PlainEntry) {
    super(plane.turn);
    this.#plane = plane;
    this.socket = socket;
    this.#drops = drops;
    this.#deliver = deliver;
    this.#entry = entry;
    this.#sendDrops = plane.counters.take(SEND_COUNTERS);
    this.number = plane.routes?.addSocket(socket, entry.leg, this.#sendDrops) ?? -1;
  }

  /** Counts longer frames as fragmented. */
  set longestWhole(bytes: number) {
    this.#whole = bytes;
    this.#plane.routes?.setWhole(this.number, bytes);
  }

  /** Reads a batch of packets from the socket. */
  receive(): void {
    // A negative count means no packet, or ECONNREFUSED: the peer does not listen yet.
    const { first, count } = this.#plane.turn.receive(this.socket, this.#inRuns ? RUNS : BATCH);
    this.#inRuns = false;
    this.#take(first, count);
    if (this.number !== -1) this.#plane.routes!.note(this.number, this.#entry);
  }

  /** Takes packets that the native frame loop received on this socket but could not forward. */
  takeHanded(loop: FrameLoop): void {
    const { calls, turn } = this.#plane;
    const { handedFirst: first, handedCount: count } = loop;
    for (let slot = first; slot < first + count; slot++)
      calls.setReceived(slot, loop.handedLength(slot), loop.handedSegment(slot));
    turn.adopt(first + count);
    this.#take(first, count);
    this.#plane.routes!.note(this.number, this.#entry);
  }

  #take(first: number, count: number): void {
    const { calls } = this.#plane;
    for (let slot = first; slot < first + count; slot++) {
      const length = calls.receivedLength(slot);
      const segment = calls.receivedSegment(slot);
      if (length === 0) this.#drops.empty++;
      else if (segment === 0 || length <= segment) this.#deliver(slot, length);
      else this.#deliverRun(slot, length, segment);
    }
  }

  /** Splits packets that the kernel delivered together. */
  #deliverRun(slot: number, length: number, segment: number): void {
    const { calls, turn } = this.#plane;
    this.#inRuns = true;
    for (let from = 0; from < length; from += segment) {
      const target = turn.nextSegment();
      const to = Math.min(length, from + segment);
      calls.slots[slot]!.copy(calls.slots[target]!, 0, from, to);
      calls.setLength(target, to - from);
      this.#deliver(target, to - from);
    }
  }

  /** Counts the kernel's drops since the last call. */
  countOverflow(): void {
    const overflow = this.#plane.calls.receiveOverflow(this.socket);
    this.#drops.receiveQueue += overflow - this.#overflow;
    this.#overflow = overflow;
    const { values } = this.#sendDrops;
    for (const [reason, place] of SEND_DROP_PLACES) this.#drops[reason] += values[place]!;
    this.unfit.tooLong += values[SEND_DROPS.tooLong]!;
    this.unfit.fragmented += values[FRAGMENTED]!;
    values.fill(0);
  }

  resetUnfit(): void {
    this.countOverflow();
    Object.assign(this.unfit, { fragmented: 0, tooLong: 0 });
  }

  close(): void {
    this.countOverflow();
    this.#plane.routes?.removeSocket(this.number, this.socket);
    this.#plane.counters.give(this.#sendDrops);
    this.#plane.close(this.socket);
  }

  protected transmit(first: number, count: number): number {
    const { calls } = this.#plane;
    const sent = calls.send(this.socket, first, count, this.#longestInRuns);
    if (sent === -EINTR) return 0;
    if (sent < 0 && calls.firstRun > 1 && (sent === -EINVAL || sent === -EMSGSIZE || sent === -EIO)) {
      // Longer packets would have to be fragmented, so these are sent one by one.
      this.#longestInRuns = calls.lengthOf(first) - 1;
      return 0;
    }
    if (sent === -ECONNREFUSED && !this.#refused) {
      // The error belongs to an earlier packet and is reported once: this packet was not tried.
      this.#refused = true;
      return 0;
    }
    this.#refused = false;
    if (sent > 0) {
      this.#countFragmented(first, sent);
      return sent;
    }
    if (sent === -EAGAIN) {
      this.#drops.sendQueue += count;
      return count;
    }
    if (sent === -EMSGSIZE) {
      this.#drops.tooLong++;
      this.unfit.tooLong++;
    } else {
      this.#drops.sendFailed++;
    }
    return 1;
  }

  #countFragmented(first: number, count: number): void {
    if (this.#whole === 0) return;
    for (let slot = first; slot < first + count; slot++)
      if (this.#plane.calls.lengthOf(slot) > this.#whole) this.unfit.fragmented++;
  }
}
