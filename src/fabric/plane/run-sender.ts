// Gathers slots that lie behind one another, so that they leave with few system calls when the turn ends.

import type { Sender, Turn } from './turn.ts';

export abstract class RunSender implements Sender {
  readonly #turn: Turn;
  // The run of slots that wait to be sent: [first, end).
  #first = 0;
  #end = 0;
  #listed = false;

  constructor(turn: Turn) {
    this.#turn = turn;
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

  /** Sends some of the `count` slots from `first` on, or drops and counts them; answers how many are done with. */
  protected abstract transmit(first: number, count: number): number;

  #sendRun(): void {
    while (this.#first < this.#end) this.#first += this.transmit(this.#first, this.#end - this.#first);
  }
}
