// A UDP socket of the fabric: packets of its one peer come in, frames go out to it in runs of slots.

import { constants } from 'node:os';
import type { FrameCalls } from '../../host/system-calls.ts';
import type { Drops } from '../model.ts';
import { RunSender } from './run-sender.ts';
import type { Turn } from './turn.ts';

const { EAGAIN, ECONNREFUSED, EINTR, EMSGSIZE } = constants.errno;

/** Packets taken from one socket before the next one. */
const BATCH = 32;

/** Takes a frame of `length` bytes that lies in `slot` until the turn ends. */
export type Deliver = (slot: number, length: number) => void;

/** What an endpoint is part of. */
interface Plane {
  readonly calls: FrameCalls;
  readonly turn: Turn;
  close(socket: number): void;
}

export class UdpEndpoint extends RunSender {
  readonly socket: number;
  readonly #plane: Plane;
  readonly #drops: Drops;
  readonly #deliver: Deliver;
  /** Whether the last thing that was tried is known to have been refused for an earlier packet. */
  #refused = false;
  #overflow = 0;

  constructor(plane: Plane, socket: number, drops: Drops, deliver: Deliver) {
    super(plane.turn);
    this.#plane = plane;
    this.socket = socket;
    this.#drops = drops;
    this.#deliver = deliver;
  }

  /** Takes a batch of packets from the socket. */
  receive(): void {
    // A negative count is no packet: nothing there, or the report (ECONNREFUSED) that the peer does not listen yet.
    const { first, count } = this.#plane.turn.receive(this.socket, BATCH);
    for (let slot = first; slot < first + count; slot++) {
      const length = this.#plane.calls.receivedLength(slot);
      if (length === 0) this.#drops.empty++;
      else this.#deliver(slot, length);
    }
  }

  /** Counts what the kernel has dropped since the last time. */
  countOverflow(): void {
    const overflow = this.#plane.calls.receiveOverflow(this.socket);
    this.#drops.receiveQueue += overflow - this.#overflow;
    this.#overflow = overflow;
  }

  close(): void {
    this.countOverflow();
    this.#plane.close(this.socket);
  }

  protected transmit(first: number, count: number): number {
    const sent = this.#plane.calls.send(this.socket, first, count);
    if (sent === -EINTR) return 0;
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
