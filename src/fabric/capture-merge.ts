// Merges captures into one pcapng file ordered by frame time, with one interface per capture and link type.
import { type CaptureBytes, type CaptureRecord, CaptureRecords } from './capture-records.ts';
import { interfaceBlock, packetBytes, sectionBlock, statisticsBlock, writePacket } from './pcapng.ts';

export interface MergedCapture {
  /** The name of its interface. */
  name: string;
  /** Functions that open its files, oldest first, each called when needed. Undefined: the file no longer exists. */
  files: readonly (() => Promise<CaptureBytes | undefined>)[];
}

/** Bytes per piece of output. */
const OUTPUT_BYTES = 128 << 10;
/** Read buffer: for all captures together, and per capture. */
const INPUT_BYTES = 16 << 20;
const [LEAST_PIECE_BYTES, MOST_PIECE_BYTES] = [16 << 10, 256 << 10];

/** One capture: its next record, across its files. */
class Source {
  readonly name: string;
  readonly place: number;
  readonly #files: MergedCapture['files'];
  readonly #pieceBytes: number;
  #next = 0;
  #records: CaptureRecords | undefined;
  /** Link types of the files opened up to now. */
  readonly linkTypes = new Set<number>();
  readonly damages: string[] = [];
  current!: CaptureRecord;

  constructor({ name, files }: MergedCapture, place: number, pieceBytes: number) {
    this.name = name;
    this.place = place;
    this.#files = files;
    this.#pieceBytes = pieceBytes;
  }

  /** Moves to the next record if it is already in memory. */
  take(): boolean {
    const record = this.#records?.take();
    if (record) this.current = record;
    return record !== undefined;
  }

  /** Moves to the next record. False at the end. */
  async advance(): Promise<boolean> {
    for (;;) {
      if (this.take()) return true;
      if (await this.#records?.fill()) continue;
      await this.#leaveFile();
      const open = this.#files[this.#next++];
      if (!open) return false;
      const bytes = await open();
      if (bytes) this.#records = new CaptureRecords(bytes, this.#pieceBytes);
    }
  }

  async #leaveFile(): Promise<void> {
    const records = this.#records;
    this.#records = undefined;
    for (const type of records?.linkTypes ?? []) this.linkTypes.add(type);
    if (records?.damage !== undefined) this.damages.push(records.damage);
    await records?.close();
  }

  async close(): Promise<void> {
    this.#next = this.#files.length;
    await this.#leaveFile();
  }
}

/** Whether the frame of one comes before that of the other. With equal times the capture that was listed first comes first. */
function isBefore(one: Source, other: Source): boolean {
  const { seconds, nanoseconds } = one.current;
  const seconds2 = other.current.seconds;
  if (seconds !== seconds2) return seconds < seconds2;
  const difference = nanoseconds - other.current.nanoseconds;
  return difference === 0 ? one.place < other.place : difference < 0;
}

/** Inserts the source into the list, which is sorted by time. */
function queue(waiting: Source[], source: Source): void {
  let [low, high] = [0, waiting.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(waiting[middle]!, source)) low = middle + 1;
    else high = middle;
  }
  waiting.splice(low, 0, source);
}

/** Collects blocks and yields them when there are enough. */
class Output {
  #buffer = Buffer.allocUnsafe(OUTPUT_BYTES);
  #length = 0;

  /** Yields what is needed to make room for that many bytes. */
  *room(bytes: number): Generator<Buffer> {
    if (this.#length + bytes <= this.#buffer.length) return;
    yield* this.rest();
    this.#buffer = Buffer.allocUnsafe(Math.max(OUTPUT_BYTES, bytes));
  }

  block(bytes: Buffer): void {
    bytes.copy(this.#buffer, this.#length);
    this.#length += bytes.length;
  }

  packet(number: number, { frame, length, flags, ...time }: CaptureRecord): void {
    this.#length = writePacket(this.#buffer, this.#length, {
      number,
      time,
      frame,
      captured: frame.length,
      length,
      flags,
    });
  }

  *rest(): Generator<Buffer> {
    if (this.#length > 0) yield this.#buffer.subarray(0, this.#length);
    this.#length = 0;
  }
}

/**
 * Yields the merged file in pieces, in constant memory. Within one capture the order stays, whatever its clock says. A capture ends at an
 * incomplete or damaged record; damage is noted in its interface statistics at the end of the file.
 */
export async function* mergedCapture(captures: readonly MergedCapture[]): AsyncGenerator<Buffer, void> {
  const share = Math.floor(INPUT_BYTES / Math.max(1, captures.length));
  const pieceBytes = Math.min(MOST_PIECE_BYTES, Math.max(LEAST_PIECE_BYTES, share));
  const sources = captures.map((capture, place) => new Source(capture, place, pieceBytes));
  try {
    yield* merge(sources);
  } finally {
    for (const source of sources) await source.close();
  }
}

async function* merge(sources: readonly Source[]): AsyncGenerator<Buffer, void> {
  const output = new Output();
  const interfaces = new Map<string, number>();
  const interfaceOf = function* ({ place, name }: Source, linkType: number): Generator<Buffer, number> {
    const key = `${place} ${linkType}`;
    const known = interfaces.get(key);
    if (known !== undefined) return known;
    const block = interfaceBlock({ linkType, snapLength: 0, name });
    yield* output.room(block.length);
    output.block(block);
    interfaces.set(key, interfaces.size);
    return interfaces.size - 1;
  };
  output.block(sectionBlock());
  const waiting: Source[] = [];
  for (const source of sources) {
    if (await source.advance()) queue(waiting, source);
  }
  for (let source = waiting.shift(); source; source = waiting.shift()) {
    for (;;) {
      const number = yield* interfaceOf(source, source.current.linkType);
      yield* output.room(packetBytes(source.current.frame.length, source.current.flags));
      output.packet(number, source.current);
      if (!source.take() && !(await source.advance())) break;
      const [next] = waiting;
      if (next && isBefore(next, source)) {
        queue(waiting, source);
        break;
      }
    }
  }
  for (const source of sources) {
    // A capture without frames still gets its interfaces.
    for (const linkType of source.linkTypes) yield* interfaceOf(source, linkType);
    for (const damage of source.damages) {
      const number = yield* interfaceOf(source, [...source.linkTypes][0] ?? 1);
      const block = statisticsBlock(
        number,
        `The capture is damaged: ${damage}. What follows there is not in this file.`,
        [],
      );
      yield* output.room(block.length);
      output.block(block);
    }
  }
  yield* output.rest();
}
