// A UDP socket of the fabric: packets of its one peer come in, frames go out to it in runs of slots.

import { constants } from 'node:os';
import { type FrameLoop, SEND_DROPS } from '../../host/network/frame-loop.ts';
import type { FrameCalls } from '../../host/system-calls.ts';
import type { Drops } from '../model.ts';
import type { CounterBlock, CounterMemory } from './counter-memory.ts';
import type { PlainEntry, PlainRoutes, PlainSocket } from './plain-routes.ts';
import { RunSender } from './run-sender.ts';
import type { Turn } from './turn.ts';

const { EAGAIN, ECONNREFUSED, EINTR, EINVAL, EIO, EMSGSIZE } = constants.errno;

const SEND_DROP_PLACES = Object.entries(SEND_DROPS) as [keyof typeof SEND_DROPS, number][];

/** Packets taken from one socket before the next one. */
const BATCH = 32;
/** Runs of packets taken from it, as long as packets come in runs. */
const RUNS = 4;

/** Takes a frame of `length` bytes that lies in `slot` until the turn ends. */
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
  /** What the native frame loop could not send. */
  readonly #sendDrops: CounterBlock;
  /** Whether the last thing that was tried is known to have been refused for an earlier packet. */
  #refused = false;
  /** Whether the last packets came in runs. */
  #inRuns = false;
  /** Length of the longest frames that the path takes in runs: less than its MTU. */
  #longestInRuns = 65_535;
  #overflow = 0;

  /** `entry` is the way of what `deliver` is given, as the native frame loop knows it. */
  constructor(plane: Plane, socket: number, drops: Drops, deliver: Deliver, entry: PlainEntry) {
    super(plane.turn);
    this.#plane = plane;
    this.socket = socket;
    this.#drops = drops;
    this.#deliver = deliver;
    this.#entry = entry;
    this.#sendDrops = plane.counters.take(Object.keys(SEND_DROPS).length);
    this.number = plane.routes?.addSocket(socket, entry.leg, this.#sendDrops) ?? -1;
  }

  /** Takes a batch of packets from the socket. */
  receive(): void {
    // A negative count is no packet: nothing there, or the report (ECONNREFUSED) that the peer does not listen yet.
    const { first, count } = this.#plane.turn.receive(this.socket, this.#inRuns ? RUNS : BATCH);
    this.#inRuns = false;
    this.#take(first, count);
    if (this.number !== -1) this.#plane.routes!.note(this.number, this.#entry);
  }

  /** Takes packets that the native frame loop has received for this socket, and not moved. */
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

  /** Takes packets apart that the kernel has handed out together. */
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

  /** Counts what the kernel has dropped since the last time. */
  countOverflow(): void {
    const overflow = this.#plane.calls.receiveOverflow(this.socket);
    this.#drops.receiveQueue += overflow - this.#overflow;
    this.#overflow = overflow;
    const { values } = this.#sendDrops;
    for (const [reason, place] of SEND_DROP_PLACES) this.#drops[reason] += values[place]!;
    values.fill(0);
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
      // A packet with such a frame would have to be fragmented: these go one by one.
      this.#longestInRuns = calls.lengthOf(first) - 1;
      return 0;
    }
    if (sent === -ECONNREFUSED && !this.#refused) {
      // The answer to an earlier packet, told once: this one has not been tried.
      this.#refused = true;
      return 0;
    }
    this.#refused = false;
    if (sent > 0) return sent;
    if (sent === -EAGAIN) {
      this.#drops.sendQueue += count;
      return count;
    }
    if (sent === -EMSGSIZE) this.#drops.tooLong++;
    else this.#drops.sendFailed++;
    return 1;
  }
}
