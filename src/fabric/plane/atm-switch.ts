// The ATM switch: forwards cells along virtual channels and paths. One packet carries one raw cell.

import type { AtmEnd, Settings } from '../model.ts';
import { type Attachment, MemoryDevice } from './memory-device.ts';

/** A 4-byte header, its checksum, and 48 bytes of payload (ITU-T I.361). */
const CELL_BYTES = 53;
const CHECKSUM_AT = 4;
/** The checksum's polynomial, x^8 + x^2 + x + 1, and the value added to it (ITU-T I.432.1, 4.3.2). */
const POLYNOMIAL = 0x07;
const COSET = 0x55;

const CHECKSUMS = Uint8Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 0x80 ? ((rest << 1) ^ POLYNOMIAL) & 0xff : rest << 1;
  return rest;
});

/** The outgoing end of a path or channel. */
interface Way {
  port: number;
  vpi: number;
  vci: number | undefined;
}

export class AtmSwitch extends MemoryDevice<'atm-switch'> {
  readonly answers = {};
  /** By port: channels by VPI and VCI, paths by VPI. */
  #ways = new Map<number, { channels: Map<number, Way>; paths: Map<number, Way> }>();

  configure({ circuits }: Settings<'atm-switch'>): void {
    this.#ways = new Map();
    for (const [one, other] of circuits) {
      this.#add(one, other);
      this.#add(other, one);
    }
  }

  /** One slot for the cell with the new numbers. */
  protected override get slotsNeeded(): number {
    return 1;
  }

  protected forward(from: Attachment, slot: number, length: number): void {
    const { turn, calls } = this.plane;
    if (length !== CELL_BYTES) {
      if (length < CELL_BYTES) from.port.drops.runt++;
      else from.port.drops.noCircuit++;
      return;
    }
    const cell = calls.slots[slot]!;
    // 12 bits of VPI: on a router link the upper 4 are for flow control, which is unused in practice.
    const vpi = (cell[0]! << 4) | (cell[1]! >> 4);
    const vci = ((cell[1]! & 0x0f) << 12) | (cell[2]! << 4) | (cell[3]! >> 4);
    const ways = this.#ways.get(from.number);
    const way = ways?.channels.get(channel(vpi, vci)) ?? ways?.paths.get(vpi);
    const to = way && this.attachmentAt(way.port);
    if (way === undefined || to === undefined) {
      from.port.drops.noCircuit++;
      return;
    }
    const outVci = way.vci ?? vci;
    if (way.vpi === vpi && outVci === vci) {
      to.port.fromDevice(slot, length);
      return;
    }
    const copy = turn.takeSpare(length);
    const header = calls.slots[copy]!;
    cell.copy(header, 0, 0, length);
    header[0] = way.vpi >> 4;
    header[1] = ((way.vpi & 0x0f) << 4) | (outVci >> 12);
    header[2] = (outVci >> 4) & 0xff;
    // Payload type and priority stay.
    header[3] = ((outVci & 0x0f) << 4) | (cell[3]! & 0x0f);
    let checksum = 0;
    for (let at = 0; at < CHECKSUM_AT; at++) checksum = CHECKSUMS[checksum ^ header[at]!]!;
    header[CHECKSUM_AT] = checksum ^ COSET;
    to.port.fromDevice(copy, length);
  }

  #add(from: AtmEnd, to: AtmEnd): void {
    const ways = this.#ways.get(from.port) ?? { channels: new Map(), paths: new Map() };
    this.#ways.set(from.port, ways);
    const way: Way = { port: to.port, vpi: to.vpi, vci: to.vci };
    if (from.vci === undefined) ways.paths.set(from.vpi, way);
    else ways.channels.set(channel(from.vpi, from.vci), way);
  }
}

/** A channel as one number: 12 bits of VPI and 16 of VCI. */
function channel(vpi: number, vci: number): number {
  return (vpi << 16) | vci;
}
