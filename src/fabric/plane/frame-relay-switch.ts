// The Frame Relay switch: forwards frames along virtual circuits (ITU-T Q.922) and reports the circuits to routers.

import type { Settings } from '../model.ts';
import { answerEnquiry, type CircuitStatus, isManagement } from './local-management.ts';
import { type Attachment, MemoryDevice } from './memory-device.ts';

/** The address format with a 10-bit DLCI (ITU-T Q.922, 3.3). */
const ADDRESS_BYTES = 2;
/** Set only in the last byte of an address. */
const EXTENSION = 1;

interface Way {
  dlci: number;
  port: number;
  outDlci: number;
}

export class FrameRelaySwitch extends MemoryDevice<'frame-relay-switch'> {
  readonly answers = {};
  /** The circuits of each port, by DLCI. */
  #ways = new Map<number, Map<number, Way>>();
  /** Sequence number of the last status sent to the router at a port (1 to 255). */
  readonly #sequences = new WeakMap<Attachment, number>();

  configure({ circuits }: Settings<'frame-relay-switch'>): void {
    this.#ways = new Map();
    for (const [one, other] of circuits) {
      this.#add(one.port, { dlci: one.dlci, port: other.port, outDlci: other.dlci });
      this.#add(other.port, { dlci: other.dlci, port: one.port, outDlci: one.dlci });
    }
  }

  /** One slot for the frame with the new DLCI. */
  protected override get slotsNeeded(): number {
    return 1;
  }

  protected forward(from: Attachment, slot: number, length: number): void {
    const { drops } = from.port;
    const { turn, calls } = this.plane;
    const frame = calls.slots[slot]!;
    if (length <= ADDRESS_BYTES) {
      drops.runt++;
      return;
    }
    const [first, second] = [frame[0]!, frame[1]!];
    if ((first & EXTENSION) !== 0 || (second & EXTENSION) === 0) {
      drops.noCircuit++;
      return;
    }
    const dlci = ((first >> 2) << 4) | (second >> 4);
    if (isManagement(dlci)) {
      this.#manage(from, frame.subarray(0, length));
      return;
    }
    const way = this.#ways.get(from.number)?.get(dlci);
    const to = way && this.attachmentAt(way.port);
    if (way === undefined || to === undefined) {
      drops.noCircuit++;
      return;
    }
    if (way.outDlci === dlci) {
      to.port.fromDevice(slot, length);
      return;
    }
    // The bits for command/response, congestion and discard eligibility stay.
    const copy = turn.takeSpare(length);
    const address = calls.slots[copy]!;
    frame.copy(address, 0, 0, length);
    address[0] = ((way.outDlci >> 4) << 2) | (first & 0x03);
    address[1] = ((way.outDlci & 0x0f) << 4) | (second & 0x0f);
    to.port.fromDevice(copy, length);
  }

  #add(port: number, way: Way): void {
    const ways = this.#ways.get(port) ?? new Map<number, Way>();
    this.#ways.set(port, ways.set(way.dlci, way));
  }

  #manage(from: Attachment, enquiry: Buffer): void {
    const sequence = ((this.#sequences.get(from) ?? 0) % 255) + 1;
    const answer = answerEnquiry(enquiry, sequence, () => this.#statuses(from.number));
    if (answer === undefined) {
      from.port.drops.noCircuit++;
      return;
    }
    this.#sequences.set(from, sequence);
    this.emit(from, answer);
  }

  /** The circuits of a port. One is active if its other end has a cable, too. */
  #statuses(port: number): CircuitStatus[] {
    const ways = [...(this.#ways.get(port)?.values() ?? [])];
    return ways
      .sort((one, other) => one.dlci - other.dlci)
      .map(({ dlci, port: other }) => ({ dlci, active: this.attachmentAt(other) !== undefined }));
  }
}
