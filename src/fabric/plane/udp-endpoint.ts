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

export class UdpEndpoint implements Sender {
  readonly socket: number;
  readonly #calls: FrameCalls;
  readonly #turn: Turn;
  readonly #drops: Drops;
  readonly #deliver: Deliver;
  // The run of slots that wait to be sent: [first, end).
  #first = 0;
  #end = 0;
  #listed = false;

  constructor(socket: number, calls: FrameCalls, turn: Turn, drops: Drops, deliver: Deliver) {
    this.socket = socket;
    this.#calls = calls;
    this.#turn = turn;
    this.#drops = drops;
    this.#deliver = deliver;
  }

  /** Takes a batch of packets from the socket. */
  receive(): void {
    // A negative count is no packet: nothing there, or the report (ECONNREFUSED) that the peer does not listen yet.
    const { first, count } = this.#turn.receive(this.socket, BATCH);
    for (let slot = first; slot < first + count; slot++) {
      const length = this.#calls.receivedLength(slot);
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
    this.#turn.addSender(this);
  }

  flush(): void {
    this.#sendRun();
    this.#listed = false;
  }

  close(): void {
    this.#calls.close(this.socket);
  }

  #sendRun(): void {
    let refused = false;
    while (this.#first < this.#end) {
      const sent = this.#calls.send(this.socket, this.#first, this.#end - this.#first);
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
