// Reads records of capture files piece by piece: pcap in both byte orders and time units, and pcapng.
import type { RecordTime } from './capture-encoding.ts';

/** A capture file, read from its beginning. */
export interface CaptureBytes {
  /** Reads the next bytes into `target` at `offset` and returns their number, 0 at the end. */
  read(target: Buffer, offset: number): Promise<number>;
  close(): Promise<void>;
}

export interface CaptureRecord extends RecordTime {
  /** Link type number. */
  linkType: number;
  /** Length of the frame on the link in bytes. */
  length: number;
  /** The captured bytes; valid until more is read. */
  frame: Buffer;
  /** The pcapng flags, which include the direction; undefined if the format has none. */
  flags: number | undefined;
}

const PCAP = 0xa1b2c3d4;
const NANOSECOND_PCAP = 0xa1b23c4d;
const PCAP_HEADER_BYTES = 24;
const RECORD_HEADER_BYTES = 16;
const [SECTION, INTERFACE, PACKET] = [0x0a0d0d0a, 1, 6];
const BYTE_ORDER = 0x1a2b3c4d;
/** Smallest block: type, length, minimal content, length. */
const LEAST_BLOCK_BYTES = 12;
const PACKET_HEADER_BYTES = 28;
const [RESOLUTION_OPTION, FLAGS_OPTION] = [9, 2];
/** A longer record is treated as damage. */
const LARGEST_BYTES = 4 << 20;
/** Later times in nanoseconds do not fit 64 bits. */
const LATEST_SECOND = 2n ** 34n;

interface Interface {
  linkType: number;
  /** Time units per second. */
  perSecond: bigint;
}

const padded = (length: number): number => (length + 3) & ~3;

export class CaptureRecords {
  readonly #bytes: CaptureBytes;
  #buffer: Buffer;
  #begin = 0;
  #end = 0;
  #format: 'pcap' | 'pcapng' | undefined;
  #isLittle = true;
  /** Nanoseconds per time unit (pcap). */
  #unit = 1;
  /** Interfaces of the current pcapng section; exactly one for pcap. */
  #interfaces: Interface[] = [];
  #damage: string | undefined;

  /** @param pieceBytes size of the read buffer; it grows only for a longer record */
  constructor(bytes: CaptureBytes, pieceBytes: number) {
    this.#bytes = bytes;
    this.#buffer = Buffer.alloc(pieceBytes);
  }

  /** What is wrong at the point where reading ended. Undefined for a good file, or if only the last record is incomplete. */
  get damage(): string | undefined {
    return this.#damage;
  }

  /** Link types known up to now, including those of files without frames. */
  get linkTypes(): readonly number[] {
    return this.#interfaces.map(({ linkType }) => linkType);
  }

  /** The next record that is in memory. Undefined: call `fill` first. */
  take(): CaptureRecord | undefined {
    for (;;) {
      if (this.#damage !== undefined) return undefined;
      const before = this.#begin;
      const record =
        this.#format === 'pcapng' ? this.#block() : this.#format === 'pcap' ? this.#record() : this.#header();
      if (record !== undefined) return record;
      if (this.#begin === before) return undefined;
    }
  }

  /** Reads more and overwrites earlier records. False: nothing more can be read. */
  async fill(): Promise<boolean> {
    if (this.#damage !== undefined) return false;
    this.#buffer.copyWithin(0, this.#begin, this.#end);
    this.#end -= this.#begin;
    this.#begin = 0;
    if (this.#end === this.#buffer.length) this.#buffer = Buffer.concat([this.#buffer], this.#buffer.length * 2);
    const count = await this.#bytes.read(this.#buffer, this.#end);
    this.#end += count;
    return count > 0;
  }

  close(): Promise<void> {
    return this.#bytes.close();
  }

  get #left(): number {
    return this.#end - this.#begin;
  }

  #number(offset: number): number {
    const at = this.#begin + offset;
    return this.#isLittle ? this.#buffer.readUInt32LE(at) : this.#buffer.readUInt32BE(at);
  }

  #half(offset: number): number {
    const at = this.#begin + offset;
    return this.#isLittle ? this.#buffer.readUInt16LE(at) : this.#buffer.readUInt16BE(at);
  }

  #damaged(reason: string): undefined {
    this.#damage = reason;
  }

  /** Detects the format and skips the header of pcap. */
  #header(): undefined {
    if (this.#left < 4) return;
    this.#isLittle = true;
    if (this.#number(0) === SECTION) {
      this.#format = 'pcapng';
      return this.#block() as undefined;
    }
    const isPcap = (): boolean => [PCAP, NANOSECOND_PCAP].includes(this.#number(0));
    this.#isLittle = isPcap();
    if (!isPcap()) return this.#damaged('it is no capture of pcap or pcapng');
    if (this.#left < PCAP_HEADER_BYTES) return;
    this.#format = 'pcap';
    this.#unit = this.#number(0) === PCAP ? 1000 : 1;
    this.#interfaces = [{ linkType: this.#number(20) & 0xffff, perSecond: 0n }];
    this.#begin += PCAP_HEADER_BYTES;
  }

  #record(): CaptureRecord | undefined {
    if (this.#left < RECORD_HEADER_BYTES) return undefined;
    const kept = this.#number(8);
    if (kept > LARGEST_BYTES) return this.#damaged(`a record claims ${kept} bytes`);
    if (this.#left < RECORD_HEADER_BYTES + kept) return undefined;
    const begin = this.#begin + RECORD_HEADER_BYTES;
    const record = {
      seconds: this.#number(0),
      nanoseconds: this.#number(4) * this.#unit,
      linkType: this.#interfaces[0]!.linkType,
      length: this.#number(12),
      frame: this.#buffer.subarray(begin, begin + kept),
      flags: undefined,
    };
    this.#begin = begin + kept;
    return record;
  }

  #block(): CaptureRecord | undefined {
    if (this.#left < LEAST_BLOCK_BYTES) return undefined;
    if (this.#buffer.readUInt32LE(this.#begin) === SECTION) {
      this.#isLittle = this.#buffer.readUInt32LE(this.#begin + 8) === BYTE_ORDER;
      this.#interfaces = [];
    }
    const length = this.#number(4);
    if (length < LEAST_BLOCK_BYTES || length % 4 !== 0 || length > LARGEST_BYTES)
      return this.#damaged(`a block claims ${length} bytes`);
    if (this.#left < length) return undefined;
    const type = this.#number(0);
    let record: CaptureRecord | undefined;
    if (type === INTERFACE && length >= 20) this.#interfaces.push(this.#interface(length));
    else if (type === PACKET && length >= PACKET_HEADER_BYTES + 4) record = this.#packet(length);
    if (this.#damage === undefined) this.#begin += length;
    return record;
  }

  #interface(length: number): Interface {
    let perSecond = 1_000_000n;
    const resolution = this.#option(RESOLUTION_OPTION, 16, length);
    if (resolution !== undefined) {
      const exponent = this.#buffer[this.#begin + resolution]!;
      perSecond = exponent & 0x80 ? 2n ** BigInt(exponent & 0x7f) : 10n ** BigInt(exponent);
    }
    return { linkType: this.#half(8), perSecond };
  }

  #packet(length: number): CaptureRecord | undefined {
    const found = this.#interfaces[this.#number(8)];
    const kept = this.#number(20);
    if (!found) return this.#damaged(`a frame is of interface ${this.#number(8)}, which there is not`);
    if (PACKET_HEADER_BYTES + kept > length - 4) return this.#damaged(`a frame claims ${kept} bytes`);
    const ticks = (BigInt(this.#number(12)) << 32n) | BigInt(this.#number(16));
    const seconds = ticks / found.perSecond;
    if (seconds > LATEST_SECOND) return this.#damaged(`a frame claims to be of second ${seconds}`);
    const flags = this.#option(FLAGS_OPTION, PACKET_HEADER_BYTES + padded(kept), length);
    const begin = this.#begin + PACKET_HEADER_BYTES;
    return {
      seconds: Number(seconds),
      nanoseconds: Number(((ticks % found.perSecond) * 1_000_000_000n) / found.perSecond),
      linkType: found.linkType,
      length: this.#number(24),
      frame: this.#buffer.subarray(begin, begin + kept),
      flags: flags === undefined ? undefined : this.#number(flags),
    };
  }

  /** The offset of an option's value within the block, whose options begin at `from`. */
  #option(wanted: number, from: number, length: number): number | undefined {
    for (let at = from; at + 8 <= length - 4; ) {
      const [code, bytes] = [this.#half(at), this.#half(at + 2)];
      if (code === wanted) return at + 4;
      if (code === 0) return undefined;
      at += 4 + padded(bytes);
    }
    return undefined;
  }
}
