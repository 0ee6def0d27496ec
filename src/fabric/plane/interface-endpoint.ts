// A host interface as one end of a port: a TAP for the fabric, or a packet socket on any other Ethernet interface.

import { constants } from 'node:os';
import { Failure } from '../../failures.ts';
import { joinBridge } from '../../host/network/bridge-ports.ts';
import type { Relay } from '../../host/network/interface-removals.ts';
import { changeLink, findLink } from '../../host/network/kernel-interfaces.ts';
import { EBADFD, type FrameCalls, inNetworkOfAny, SystemError } from '../../host/system-calls.ts';
import type { Drops, InterfaceState, TapAddress } from '../model.ts';
import { RunSender } from './run-sender.ts';
import type { Segmentation } from './segmentation.ts';
import { Timer, type Timers } from './timers.ts';
import type { Turn } from './turn.ts';
import type { Deliver } from './udp-endpoint.ts';

const { EAGAIN, EINTR, EINVAL, EIO, EMSGSIZE, ENETDOWN, ENOBUFS, ENXIO } = constants.errno;

/** Frames read from one interface before the next one's turn. */
const BATCH = 32;
/** Requested socket buffers in bytes; the kernel limits them to net.core.rmem_max and wmem_max. */
const SOCKET_BUFFER_BYTES = 4 << 20;
const ETHERNET_HEADER_BYTES = 14;
/** Reads in a row of one interface, when it is emptied. */
const MOST_ROUNDS = 64;
/** How often (ms) a lost interface is checked for. */
const RECOVERY_MS = 1000;

/** What an endpoint is part of. */
interface Plane {
  readonly calls: FrameCalls;
  readonly turn: Turn;
  readonly segmentation: Segmentation;
  readonly timers: Timers;
  /** Calls `endpoint.receive` whenever the descriptor is readable. If this fails, the descriptor is closed. */
  watch(descriptor: number, endpoint: { receive(): void }): void;
  close(descriptor: number): void;
  own(relay: Relay): void;
  removeElsewhere(relay: Relay): void;
}

export interface InterfaceParts {
  plane: Plane;
  drops: Drops;
  deliver: Deliver;
  /** Called when the interface goes down, disappears or returns. */
  changed: (state: InterfaceState) => void;
}

export abstract class InterfaceEndpoint extends RunSender {
  readonly interface: string;
  /** Id of the process whose network namespace has the interface; undefined for this one's. */
  readonly network: number | undefined;
  protected readonly parts: InterfaceParts;
  /** -1 while the interface is gone. */
  protected descriptor = -1;
  readonly #recovery: Timer;
  #state: InterfaceState = 'open';
  /** Whether the last read has left nothing. */
  #isEmpty = false;

  constructor(address: { interface: string; process?: number | undefined }, parts: InterfaceParts) {
    super(parts.plane.turn);
    this.interface = address.interface;
    this.network = address.process;
    this.parts = parts;
    this.#recovery = new Timer(parts.plane.timers, () => this.#recover());
  }

  /** Whether it takes super-frames, and frames whose checksum is to be completed. */
  get takesSuperFrames(): boolean {
    return true;
  }

  get state(): InterfaceState {
    return this.#state;
  }

  /**
   * Opens the interface.
   * @throws SystemError
   */
  open(): void {
    this.#use(this.openDescriptor());
  }

  close(): void {
    this.#recovery.stop();
    this.#release();
  }

  /** Reads a batch of frames from the interface. */
  abstract receive(): void;

  /** Counts the kernel's drops since the last call. */
  abstract countOverflow(): void;

  protected abstract openDescriptor(): number;
  protected abstract reopenDescriptor(): number;

  /** Runs the task in the interface's network namespace. */
  protected there<T>(task: () => T): T {
    return inNetworkOfAny(this.network, task);
  }

  /** Passes on a received frame. */
  protected admit(slot: number, length: number): void {
    const { plane, drops, deliver } = this.parts;
    plane.calls.setLength(slot, length);
    if (plane.segmentation.admit(slot, length)) deliver(slot, length);
    else drops.malformed++;
  }

  /** Reads and forwards what waits at the interface. */
  protected receiveAll(): void {
    this.#isEmpty = false;
    for (let round = 0; round < MOST_ROUNDS && !this.#isEmpty; round++) {
      this.receive();
      this.parts.plane.turn.end();
    }
  }

  /** Handles a failed read: no frame, or an error that must not make the loop spin. */
  protected failedToReceive(errno: number): void {
    this.#isEmpty = true;
    if (errno !== EAGAIN && errno !== EINTR) this.lose(errno);
  }

  /** Counts a frame that could not be sent. */
  protected failedToSend(errno: number, slot: number): void {
    const { drops } = this.parts;
    if (errno === EAGAIN || errno === ENOBUFS) {
      drops.sendQueue++;
    } else if (errno === EMSGSIZE) {
      drops.tooLong++;
    } else if (errno === EINVAL) {
      if (this.parts.plane.calls.lengthOf(slot) < ETHERNET_HEADER_BYTES) drops.runt++;
      else drops.sendFailed++;
    } else {
      if (errno === EIO || errno === ENETDOWN || errno === ENXIO || errno === EBADFD) drops.interfaceDown++;
      else drops.sendFailed++;
      this.lose(errno);
    }
  }

  /** Handles an interface that is down, gone or failing. */
  protected abstract lose(errno: number): void;

  /** Closes the descriptor of an interface that is gone. */
  protected forsake(): void {
    this.#release();
    this.become('gone');
  }

  protected become(state: InterfaceState): void {
    if (this.#state === state) return;
    this.#state = state;
    if (state === 'open') this.#recovery.stop();
    else this.#recovery.start(RECOVERY_MS);
    this.parts.changed(state);
  }

  #use(descriptor: number): void {
    this.parts.plane.watch(descriptor, this);
    this.descriptor = descriptor;
    this.opened();
  }

  #recover(): void {
    try {
      if (this.#state === 'gone') this.#use(this.reopenDescriptor());
      if (this.#state === 'gone' || this.there(() => findLink(this.interface))?.up === true) this.become('open');
    } catch (error) {
      // It does not exist yet, or another program has it.
      if (!(error instanceof SystemError || error instanceof Failure)) throw error;
    }
    if (this.#state !== 'open') this.#recovery.start(RECOVERY_MS);
  }

  #release(): void {
    if (this.descriptor !== -1) this.closeDescriptor(this.descriptor);
    this.descriptor = -1;
  }

  /** Called when {@link descriptor} is watched. */
  protected opened(): void {}

  protected closeDescriptor(descriptor: number): void {
    this.parts.plane.close(descriptor);
  }
}

/** A TAP: reads the frames that the host sends into its interface. */
export class TapEndpoint extends InterfaceEndpoint {
  readonly #address: TapAddress;

  constructor(address: TapAddress, parts: InterfaceParts) {
    super(address, parts);
    this.#address = address;
  }

  override get takesSuperFrames(): boolean {
    return this.#address.offload !== false;
  }

  receive(): void {
    const { calls, turn } = this.parts.plane;
    for (let taken = 0; taken < BATCH && turn.room > 0; taken++) {
      const slot = turn.next;
      const length = calls.taps.read(this.descriptor, slot);
      if (length < 0) {
        this.failedToReceive(-length);
        return;
      }
      turn.occupy(1);
      this.admit(slot, length);
      // The delivered frames may have led back here, where the loss was noticed.
      if (this.descriptor === -1) return;
    }
  }

  /** The kernel counts them at the interface itself. */
  countOverflow(): void {}

  protected openDescriptor(): number {
    return this.#openTap(this.#address);
  }

  protected reopenDescriptor(): number {
    return this.#openTap({ ...this.#address, create: 'never' });
  }

  #openTap(address: TapAddress): number {
    return this.there(() => this.#openHere(address));
  }

  #openHere(address: TapAddress): number {
    const { calls } = this.parts.plane;
    const tap = calls.taps.open(this.interface, address);
    try {
      if (address.bridge !== undefined) joinBridge(this.interface, address.bridge);
      else if (address.up === true) changeLink(this.interface, { up: true });
      return tap;
    } catch (error) {
      calls.close(tap);
      throw error;
    }
  }

  protected transmit(first: number, count: number): number {
    const { taps } = this.parts.plane.calls;
    if (this.descriptor === -1) {
      this.parts.drops.interfaceDown += count;
      return count;
    }
    let done = 0;
    // If the interface disappears meanwhile, the rest waits for the next call.
    while (done < count && this.descriptor !== -1) {
      const slot = first + done++;
      const written = taps.write(this.descriptor, slot);
      if (written < 0) this.failedToSend(-written, slot);
      else if (this.state === 'down') this.become('open');
    }
    return done;
  }

  protected lose(errno: number): void {
    if (errno === EIO) this.become('down');
    else this.forsake();
  }
}

/** A packet socket: reads what the interface receives and sends frames out by it. */
export class PacketEndpoint extends InterfaceEndpoint {
  #index = 0;

  receive(): void {
    const { plane } = this.parts;
    const { packets } = plane.calls;
    const first = plane.turn.next;
    const count = packets.receive(this.descriptor, first, Math.min(BATCH, plane.turn.room));
    if (count < 0) {
      // The kernel has taken out a frame that no virtio-net header describes, such as a UDP datagram that its guest left uncut.
      if (count === -EINVAL) this.parts.drops.malformed++;
      else this.failedToReceive(-count);
      return;
    }
    plane.turn.occupy(count);
    for (let slot = first; slot < first + count; slot++) {
      this.admit(slot, packets.receivedLength(slot));
    }
  }

  countOverflow(): void {
    if (this.descriptor !== -1)
      this.parts.drops.receiveQueue += this.parts.plane.calls.packets.takeOverflow(this.descriptor);
  }

  protected openDescriptor(): number {
    const { packets } = this.parts.plane.calls;
    const { socket, index } = this.there(() => packets.open(this.interface, SOCKET_BUFFER_BYTES));
    this.#index = index;
    return socket;
  }

  protected reopenDescriptor(): number {
    return this.openDescriptor();
  }

  protected transmit(first: number, count: number): number {
    if (this.descriptor === -1) {
      this.parts.drops.interfaceDown += count;
      return count;
    }
    const sent = this.parts.plane.calls.packets.send(this.descriptor, first, count);
    if (sent > 0) return sent;
    if (sent !== -EINTR) this.failedToSend(-sent, first);
    return sent === -EINTR ? 0 : 1;
  }

  /** If the interface is only down, the socket works again as soon as it is up. */
  protected lose(errno: number): void {
    if (this.#isThere() && errno === ENETDOWN) this.become('down');
    else this.forsake();
  }

  #isThere(): boolean {
    const { packets } = this.parts.plane.calls;
    try {
      return this.there(() => packets.indexOf(this.interface)) === this.#index;
    } catch (error) {
      // Its network namespace is gone.
      if (!(error instanceof SystemError)) throw error;
      return false;
    }
  }
}
