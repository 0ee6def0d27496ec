// The base of devices in memory: attaches ports and queues frames; each kind of device decides how to forward them.

import type { Answers, DeviceKind, Drops, Input, Output, Question, Settings } from '../model.ts';
import type { FramePlane } from './frame-plane.ts';
import type { KernelSeat } from './kernel-stations.ts';
import type { PlainDevice, PlainDeviceFacts, PlainEntry, PlainSeat } from './plain-routes.ts';
import { Timer } from './timers.ts';
import type { DeferredWork } from './turn.ts';

/** Maximum queued frames, a power of two; beyond it, such as in a loop of devices, frames are dropped. */
const QUEUE_FRAMES = 256;
const QUEUE_BYTES = 4 << 20;

/** A port as seen by its device. */
export interface DevicePort {
  readonly drops: Drops;
  /** The route of frames from the device. */
  readonly fromDeviceEntry: PlainEntry;
  /** Sends a frame from the device into the port's cable. */
  fromDevice(slot: number, length: number): void;
  /** Detaches the port from the device. */
  removeDevice(): void;
}

/** A port's place at its device, and the port's device side. */
export class Attachment implements PlainSeat {
  readonly port: DevicePort;
  /** The port's number on the device. */
  readonly number: number;
  /** A small number, unique while the attachment exists, for use as an array index. */
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

  /** Passes a frame from the port to the device. */
  send(slot: number, length: number): void {
    this.device.arrive(this, slot, length);
  }

  close(): void {
    this.device.detach(this);
  }
}

interface Waiting {
  at: Attachment;
  /** True: the device made the frame and it leaves by the port. False: it came from the port. */
  leaves: boolean;
  /** The frame's slot in this turn; -1 if it is only in `copy`. */
  slot: number;
  length: number;
  copy: Buffer | undefined;
}

/** What a device gets from the worker: timers, frames and messages to the main thread. */
export interface DeviceSurroundings<Kind extends DeviceKind> {
  plane: FramePlane;
  tell: (message: Output<Kind>) => void;
}

/** The base class. `configure` is called first, and again for each change. */
export abstract class MemoryDevice<Kind extends DeviceKind = DeviceKind> implements DeferredWork, PlainDevice {
  protected readonly plane: FramePlane;
  protected readonly tell: (message: Output<Kind>) => void;
  protected readonly attachments: Attachment[] = [];
  readonly #byNumber = new Map<number, Attachment>();
  readonly #timers: Timer[] = [];
  readonly #freeSeats: number[] = [];
  // A ring buffer, oldest entry at `head`. It grows to the longest queue; entries are reused.
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

  /** The device's number in the native frame loop; -1 if none. */
  get number(): number {
    return this.#number;
  }

  /** What the native frame loop needs to handle the device's frames, if it can; such a device {@link enters} it once. */
  plain(): PlainDeviceFacts | undefined {
    return undefined;
  }

  /** A seat whose frames to known addresses the kernel may forward. */
  kernelSeat(_seat: number): KernelSeat | undefined {
    return undefined;
  }

  /** Where all frames of a port leave the device, unchanged and nowhere else, if that is so. */
  opposite(_attachment: Attachment): Attachment | undefined {
    return undefined;
  }

  /** The port with that number on the device. */
  protected attachmentAt(number: number): Attachment | undefined {
    return this.#byNumber.get(number);
  }

  protected enters(): void {
    this.#number = this.plane.routes?.addDevice() ?? -1;
  }

  /** Takes the settings, see `DeviceKinds` in model.ts. */
  abstract configure(settings: Settings<Kind>): void;

  /** The answer to each question of the kind. */
  abstract readonly answers: { readonly [Asked in Question<Kind>]: () => Answers<Kind>[Asked] };

  /** Handles input; most devices get none. */
  hear(_message: Input<Kind>): void {}

  /**
   * Handles a frame from a port: sends it, or others, to any number of {@link attachments}. The frame is in `slot` until the turn ends and
   * must not be changed, as others may share it. {@link slotsNeeded} slots are spare.
   */
  protected abstract forward(from: Attachment, slot: number, length: number): void;

  /** Spare slots needed by {@link forward}. */
  protected get slotsNeeded(): number {
    return 0;
  }

  /** Called when a port was attached. */
  protected attached(_attachment: Attachment): void {}

  /** Called when a port was detached. */
  protected detached(_attachment: Attachment): void {}

  /** Detaches all ports and stops the timers. */
  close(): void {
    for (const { port } of [...this.attachments]) port.removeDevice();
    for (const timer of this.#timers) timer.stop();
    this.plane.routes?.removeDevice(this.#number);
    this.#number = -1;
  }

  /** A timer that stops when the device is closed. */
  protected timer(ring: () => void): Timer {
    const timer = new Timer(this.plane.timers, ring);
    this.#timers.push(timer);
    return timer;
  }

  /** Sends a frame made by the device out of a port. The caller may reuse the bytes afterwards. */
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
    this.#byNumber.set(number, attachment);
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
    if (this.#byNumber.get(attachment.number) === attachment) this.#byNumber.delete(attachment.number);
    this.detached(attachment);
  }

  get busy(): boolean {
    return this.#count > 0;
  }

  /** Queues a frame until the end of the turn, so that chains and loops of devices never recurse. */
  arrive(from: Attachment, slot: number, length: number): void {
    if (this.#hasRoom(length)) this.#enqueue(from, false, slot, length, undefined);
    else from.port.drops.deviceQueue++;
  }

  work(budget: number): number {
    const { turn } = this.plane;
    // Only the frames queued at the start: those that come back through a loop wait for the next round.
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
