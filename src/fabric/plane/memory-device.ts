// A device in memory: its ports meet here, frames wait in a bounded queue, and each kind of device says what becomes of them.

import type { Answers, DeviceKind, Drops, Input, Output, Question, Settings } from '../model.ts';
import type { FramePlane } from './frame-plane.ts';
import type { PlainDevice, PlainDeviceFacts, PlainEntry, PlainSeat } from './plain-routes.ts';
import { Timer } from './timers.ts';
import type { DeferredWork } from './turn.ts';

// A loop of devices fills the queue; then frames are dropped, as the host cannot be faster than it is.
/** A power of two. */
const QUEUE_FRAMES = 256;
const QUEUE_BYTES = 4 << 20;

/** A port as its device knows it. */
export interface DevicePort {
  readonly drops: Drops;
  /** The way of frames that the device gives it. */
  readonly fromDeviceEntry: PlainEntry;
  /** Gives the port a frame for its cable. */
  fromDevice(slot: number, length: number): void;
  /** Takes the port from the device. */
  removeDevice(): void;
}

/** A port's place at a device: the device side of that port. */
export class Attachment implements PlainSeat {
  readonly port: DevicePort;
  /** The port's number at the device. */
  readonly number: number;
  /** A number that is this attachment's as long as it is there; small, for arrays. */
  readonly seat: number;
  /** Index among the device's attachments; -1 after {@link close}. */
  index: number;
  readonly device: MemoryDevice;

  constructor(device: MemoryDevice, port: DevicePort, number: number, seat: number, index: number) {
    this.device = device;
    this.port = port;
    this.number = number;
    this.seat = seat;
    this.index = index;
  }

  /** The port has a frame for the device. */
  send(slot: number, length: number): void {
    this.device.arrive(this, slot, length);
  }

  close(): void {
    this.device.detach(this);
  }
}

interface Waiting {
  at: Attachment;
  /** Whether the frame is the device's own and leaves by the port; else it came from there. */
  leaves: boolean;
  /** Where the frame lies in this turn; -1 when it lies in `copy` alone. */
  slot: number;
  length: number;
  copy: Buffer | undefined;
}

/** Where a device lives, and how it tells the main thread something. */
export interface DeviceSurroundings<Kind extends DeviceKind> {
  plane: FramePlane;
  tell: (message: Output<Kind>) => void;
}

/** What is known of a device of any kind. `configure` is called before anything else, and again with every change. */
export abstract class MemoryDevice<Kind extends DeviceKind = DeviceKind> implements DeferredWork, PlainDevice {
  protected readonly plane: FramePlane;
  protected readonly tell: (message: Output<Kind>) => void;
  protected readonly attachments: Attachment[] = [];
  readonly #timers: Timer[] = [];
  readonly #freeSeats: number[] = [];
  // A ring: the oldest is at `head`. It grows to the longest queue there was, and its entries are used again.
  readonly #ring: Waiting[] = [];
  #head = 0;
  #count = 0;
  #bytes = 0;
  #listed = false;
  #number = -1;

  constructor({ plane, tell }: DeviceSurroundings<Kind>) {
    this.plane = plane;
    this.tell = tell;
  }

  /** The device's number in the native frame loop; -1 for none. */
  get number(): number {
    return this.#number;
  }

  /** What the native frame loop has to know of a device that it can do something for; such a device {@link enters} it once. */
  plain(): PlainDeviceFacts | undefined {
    return undefined;
  }

  protected enters(): void {
    this.#number = this.plane.routes?.addDevice() ?? -1;
  }

  /** Takes the settings; `DeviceKinds` in model.ts says which. */
  abstract configure(settings: Settings<Kind>): void;

  /** What the kind answers to each question that it knows. */
  abstract readonly answers: { readonly [Asked in Question<Kind>]: () => Answers<Kind>[Asked] };

  /** Takes input. */
  abstract hear(message: Input<Kind>): void;

  /**
   * Handles a frame that came from a port: gives it, or another one, to any number of {@link attachments}. It lies in `slot` until
   * the turn ends and is not to be altered, as others may have it too; {@link slotsNeeded} slots are spare.
   */
  protected abstract forward(from: Attachment, slot: number, length: number): void;

  /** Spare slots that {@link forward} needs. */
  protected get slotsNeeded(): number {
    return 0;
  }

  /** Called when a port comes. */
  protected attached(_attachment: Attachment): void {}

  /** Called when a port has gone. */
  protected detached(_attachment: Attachment): void {}

  /** Takes all ports from the device and stops its timers. */
  close(): void {
    for (const { port } of [...this.attachments]) port.removeDevice();
    for (const timer of this.#timers) timer.stop();
    this.plane.routes?.removeDevice(this.#number);
    this.#number = -1;
  }

  /** A timer of this device, which stops with it. */
  protected timer(ring: () => void): Timer {
    const timer = new Timer(this.plane.timers, ring);
    this.#timers.push(timer);
    return timer;
  }

  /** Lets a frame of the device's own leave by a port. The bytes are the caller's again when this returns. */
  protected emit(by: Attachment, bytes: Buffer): void {
    const { turn } = this.plane;
    if (!this.#hasRoom(bytes.length)) by.port.drops.deviceQueue++;
    else if (turn.room > 0) this.#enqueue(by, true, turn.place(bytes), bytes.length, undefined);
    else this.#enqueue(by, true, -1, bytes.length, Buffer.from(bytes));
  }

  attach(port: DevicePort, number: number): Attachment {
    const { length } = this.attachments;
    const seat = this.#freeSeats.pop() ?? length;
    const attachment = new Attachment(this as unknown as MemoryDevice, port, number, seat, length);
    this.attachments.push(attachment);
    this.attached(attachment);
    return attachment;
  }

  detach(attachment: Attachment): void {
    const last = this.attachments.pop()!;
    if (last !== attachment) {
      last.index = attachment.index;
      this.attachments[last.index] = last;
    }
    attachment.index = -1;
    this.#freeSeats.push(attachment.seat);
    this.detached(attachment);
  }

  get busy(): boolean {
    return this.#count > 0;
  }

  /** Queues a frame. It is handled when the turn ends, so that a chain or a loop of devices never recurses. */
  arrive(from: Attachment, slot: number, length: number): void {
    if (this.#hasRoom(length)) this.#enqueue(from, false, slot, length, undefined);
    else from.port.drops.deviceQueue++;
  }

  work(budget: number): number {
    const { turn } = this.plane;
    // Only what was there at the start: what comes back through a loop waits for the next round.
    const most = Math.min(this.#count, budget);
    let done = 0;
    while (done < most) {
      const waiting = this.#ring[this.#head]!;
      const { at, leaves, length } = waiting;
      if (turn.room === 0 && waiting.slot === -1) break;
      if (!leaves && turn.spare < this.slotsNeeded) break;
      const slot = waiting.slot === -1 ? turn.place(waiting.copy!) : waiting.slot;
      waiting.copy = undefined;
      this.#head = (this.#head + 1) & (QUEUE_FRAMES - 1);
      this.#count--;
      this.#bytes -= length;
      done++;
      if (at.index === -1) continue;
      if (leaves) at.port.fromDevice(slot, length);
      else this.forward(at, slot, length);
    }
    if (!this.busy) {
      this.#listed = false;
      this.#head = 0;
    }
    return done;
  }

  keep(): void {
    for (let nth = 0; nth < this.#count; nth++) {
      const waiting = this.#ring[(this.#head + nth) & (QUEUE_FRAMES - 1)]!;
      waiting.copy ??= this.plane.turn.copyOf(waiting.slot, waiting.length);
      waiting.slot = -1;
    }
  }

  #hasRoom(length: number): boolean {
    return this.#count < QUEUE_FRAMES && this.#bytes + length <= QUEUE_BYTES;
  }

  #enqueue(at: Attachment, leaves: boolean, slot: number, length: number, copy: Buffer | undefined): void {
    if (!this.#listed) this.plane.turn.deferWork(this);
    this.#listed = true;
    const index = (this.#head + this.#count++) & (QUEUE_FRAMES - 1);
    this.#bytes += length;
    const waiting = this.#ring[index];
    if (waiting === undefined) {
      this.#ring.push({ at, leaves, slot, length, copy });
      return;
    }
    waiting.at = at;
    waiting.leaves = leaves;
    waiting.slot = slot;
    waiting.length = length;
    waiting.copy = copy;
  }
}
