// Several captures as one file of pcapng, in the order of the frames' times, with an interface for each of them and each of its link types.
import { type CaptureBytes, type CaptureRecord, CaptureRecords } from './capture-records.ts';
import { interfaceBlock, packetBytes, sectionBlock, statisticsBlock, writePacket } from './pcapng.ts';

export interface MergedCapture {
  /** Of its interface. */
  name: string;
  /** Its files, the oldest first; opened one after the other. Undefined: it is gone. */
  files: readonly (() => Promise<CaptureBytes | undefined>)[];
}

/** Bytes that are given out at a time. */
const OUTPUT_BYTES = 128 << 10;
/** What is read at a time, of all captures together and of one. */
const INPUT_BYTES = 16 << 20;
const [LEAST_PIECE_BYTES, MOST_PIECE_BYTES] = [16 << 10, 256 << 10];

/** One capture: its record that comes next, across its files. */
class Source {
  readonly name: string;
  readonly place: number;
  readonly #files: MergedCapture['files'];
  readonly #pieceBytes: number;
  #next = 0;
  #records: CaptureRecords | undefined;
  /** Link types of the files that were opened. */
  readonly linkTypes = new Set<number>();
  readonly damages: string[] = [];
  current!: CaptureRecord;

  constructor({ name, files }: MergedCapture, place: number, pieceBytes: number) {
    this.name = name;
    this.place = place;
    this.#files = files;
    this.#pieceBytes = pieceBytes;
  }

  /** Takes the next record up if it has been read already. */
  take(): boolean {
    const record = this.#records?.take();
    if (record) this.current = record;
    return record !== undefined;
  }

  /** Takes the next record up. False: there is none any more. */
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

/** Whether the frame of one comes before that of the other: of equal times the capture that was named first. */
function isBefore(one: Source, other: Source): boolean {
  const { seconds, nanoseconds } = one.current;
  const seconds2 = other.current.seconds;
  if (seconds !== seconds2) return seconds < seconds2;
  const difference = nanoseconds - other.current.nanoseconds;
  return difference === 0 ? one.place < other.place : difference < 0;
}

/** Puts it where it belongs among those that wait, the earliest first. */
function queue(waiting: Source[], source: Source): void {
  let [low, high] = [0, waiting.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(waiting[middle]!, source)) low = middle + 1;
    else high = middle;
  }
  waiting.splice(low, 0, source);
}

/** Blocks that are given out when there are enough of them. */
class Output {
  #buffer = Buffer.allocUnsafe(OUTPUT_BYTES);
  #length = 0;

  /** What has to be given out before so many bytes fit. */
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
 * The file, a piece at a time, in memory that does not grow with it. Of one capture the order stays, whatever its clock says. A record
 * that is not whole ends its capture; so does damage, which the file tells of its interface at its end.
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
    // A capture without frames is there, too.
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
