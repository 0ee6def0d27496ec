// Collects adjacent slots, so that they are sent with few system calls at the end of the turn.

import type { Sender, Turn } from './turn.ts';

export abstract class RunSender implements Sender {
  readonly #turn: Turn;
  // The collected run of slots: [first, end).
  #first = 0;
  #end = 0;
  #listed = false;

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /** Sends the slot at the end of the turn. */
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

  /** Sends, or drops and counts, some of the `count` slots from `first` on; returns how many are done. */
  protected abstract transmit(first: number, count: number): number;

  #sendRun(): void {
    while (this.#first < this.#end) this.#first += this.transmit(this.#first, this.#end - this.#first);
  }
}
