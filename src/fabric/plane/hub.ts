// The hub: what one port hears, all others say. Ports that are hubs' own meet here in memory.

import type { Drops } from '../model.ts';
import type { Junction, Turn } from './turn.ts';

// A loop of hubs fills the queue; then frames are dropped, as the host cannot be faster than it is.
const QUEUE_FRAMES = 256;
const QUEUE_BYTES = 4 << 20;

/** A port as its hub knows it. */
export interface HubPort {
  readonly drops: Drops;
  /** Gives the port a frame for its cable. */
  fromDevice(slot: number, length: number): void;
  /** Takes the port from the hub. */
  removeDevice(): void;
}

interface Arrival {
  from: HubAttachment;
  /** Where the frame lies in this turn; -1 when it lies in `copy`. */
  slot: number;
  length: number;
  copy: Buffer | undefined;
}

/** A port's place at a hub: the device side of that port. */
export class HubAttachment {
  readonly port: HubPort;
  readonly #hub: Hub;
  /** Index among the hub's attachments; -1 after {@link close}. */
  index: number;

  constructor(hub: Hub, port: HubPort, index: number) {
    this.#hub = hub;
    this.port = port;
    this.index = index;
  }

  /** The port has a frame for the hub. */
  send(slot: number, length: number): void {
    this.#hub.arrive(this, slot, length);
  }

  close(): void {
    this.#hub.detach(this);
  }
}

export class Hub implements Junction {
  readonly #turn: Turn;
  readonly #attachments: HubAttachment[] = [];
  #queue: Arrival[] = [];
  #head = 0;
  #bytes = 0;
  #listed = false;

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /** Takes all ports from the hub. */
  close(): void {
    for (const { port } of [...this.#attachments]) port.removeDevice();
  }

  attach(port: HubPort): HubAttachment {
    const attachment = new HubAttachment(this, port, this.#attachments.length);
    this.#attachments.push(attachment);
    return attachment;
  }

  detach(attachment: HubAttachment): void {
    const last = this.#attachments.pop()!;
    if (last !== attachment) {
      last.index = attachment.index;
      this.#attachments[last.index] = last;
    }
    attachment.index = -1;
  }

  get busy(): boolean {
    return this.#head < this.#queue.length;
  }

  /** Queues a frame. It is flooded when the turn ends, so that a chain or a loop of hubs never recurses. */
  arrive(from: HubAttachment, slot: number, length: number): void {
    if (this.#queue.length - this.#head >= QUEUE_FRAMES || this.#bytes + length > QUEUE_BYTES) {
      from.port.drops.hubQueue++;
      return;
    }
    if (!this.#listed) this.#turn.addJunction(this);
    this.#listed = true;
    this.#bytes += length;
    this.#queue.push({ from, slot, length, copy: undefined });
  }

  work(budget: number): number {
    let done = 0;
    // Only what was there at the start: what comes back through a loop waits for the next round.
    const end = Math.min(this.#queue.length, this.#head + budget);
    while (this.#head < end) {
      const arrival = this.#queue[this.#head]!;
      if (arrival.copy !== undefined) {
        if (this.#turn.room === 0) break;
        arrival.slot = this.#turn.place(arrival.copy);
      }
      this.#head++;
      done++;
      this.#bytes -= arrival.length;
      if (arrival.from.index !== -1) this.#flood(arrival);
    }
    if (!this.busy) {
      this.#listed = false;
      this.#queue = [];
      this.#head = 0;
    } else if (this.#head >= QUEUE_FRAMES) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    return done;
  }

  keep(): void {
    for (let index = this.#head; index < this.#queue.length; index++) {
      const arrival = this.#queue[index]!;
      arrival.copy ??= this.#turn.copyOf(arrival.slot, arrival.length);
    }
  }

  #flood({ from, slot, length }: Arrival): void {
    for (const attachment of this.#attachments) {
      if (attachment !== from) attachment.port.fromDevice(slot, length);
    }
  }
}
