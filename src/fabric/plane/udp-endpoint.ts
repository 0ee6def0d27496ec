// A UDP socket of the fabric: packets of its one peer come in, frames go out to it in runs of slots.

import { constants } from 'node:os';
import type { FrameCalls } from '../../host/system-calls.ts';
import type { Drops } from '../model.ts';
import type { Sender, Turn } from './turn.ts';

const { EAGAIN, ECONNREFUSED, EINTR, EMSGSIZE } = constants.errno;

/** Packets taken from one socket before the next one. */
const BATCH = 32;

/** Takes a frame of `length` bytes that lies in `slot` until the turn ends. */
export type Deliver = (slot: number, length: number) => void;

/** What an endpoint is part of. */
interface Plane {
  readonly calls: FrameCalls;
  readonly turn: Turn;
  close(endpoint: UdpEndpoint): void;
}

export class UdpEndpoint implements Sender {
  readonly socket: number;
  readonly #plane: Plane;
  readonly #drops: Drops;
  readonly #deliver: Deliver;
  // The run of slots that wait to be sent: [first, end).
  #first = 0;
  #end = 0;
  #listed = false;
  #overflow = 0;

  constructor(plane: Plane, socket: number, drops: Drops, deliver: Deliver) {
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

  /** Sends the slot when the turn ends. */
  send(slot: number): void {
    if (this.#end === slot && this.#first < slot) {
      this.#end++;
      return;
    }
    this.#sendRun();
    this.#first = slot;
    this.#end = slot + 1;
    if (this.#listed) return;
    this.#listed = true;
    this.#plane.turn.addSender(this);
  }

  flush(): void {
    this.#sendRun();
    this.#listed = false;
  }

  /** Counts what the kernel has dropped since the last time. */
  countOverflow(): void {
    const overflow = this.#plane.calls.receiveOverflow(this.socket);
    this.#drops.receiveQueue += overflow - this.#overflow;
    this.#overflow = overflow;
  }

  close(): void {
    this.countOverflow();
    this.#plane.close(this);
  }

  #sendRun(): void {
    let refused = false;
    while (this.#first < this.#end) {
      const sent = this.#plane.calls.send(this.socket, this.#first, this.#end - this.#first);
      if (sent > 0) {
        this.#first += sent;
      } else if (sent === -ECONNREFUSED && !refused) {
        // The answer to an earlier packet, told once: this one has not been tried.
        refused = true;
      } else if (sent === -EAGAIN) {
        this.#drops.sendQueue += this.#end - this.#first;
        this.#first = this.#end;
      } else if (sent !== -EINTR) {
        if (sent === -EMSGSIZE) this.#drops.tooLong++;
        else this.#drops.sendFailed++;
        this.#first++;
        refused = false;
      }
    }
  }
}
