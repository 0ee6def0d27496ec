// The records of a zip file around contents (APPNOTE 6.3 of the format, sections 4.3 and 4.5.3).

export interface EntryRecord {
  name: Buffer;
  /** Unix mode with the file type. */
  mode: number;
  modified: Date;
  /** Offset of the local header. */
  place: number;
  /** Of the content in bytes, itself and as it is in the archive. */
  size: number;
  packed: number;
  checksum: number;
  method: number;
  /** Flags beside those for the names' encoding. */
  flags: number;
}

/** The flag of entries whose sizes and checksum stand behind their content. */
export const DESCRIPTOR = 0x0008;

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const DESCRIPTION = 0x08074b50;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const END_64_PLACE = 0x07064b50;

const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const UTF8_NAMES = 0x0800;
const VERSION = 20;
const VERSION_64 = 45;
const UNIX = 3 << 8;

/** From these values on the actual number is in a 64-bit field. */
const MOST_32 = 0xffff_ffff;
const MOST_16 = 0xffff;

const EXTRA_64 = 0x0001;
/** The id that Android's tools use for the alignment of entries. */
const EXTRA_ALIGNMENT = 0xd935;
/** Info-ZIP's field for times. */
const EXTRA_TIME = 0x5455;
const TIME_BYTES = 9;
const HAS_MODIFICATION = 1;
const MOST_SECONDS = 0x7fff_ffff;
const SIZES_64_BYTES = 20;
const SMALLEST_ALIGNMENT_BYTES = 6;

/** The extra field between an entry's header and its content. */
export interface Extra {
  length: number;
  /** Whether it contains the sizes. */
  large: boolean;
}

/**
 * The extra field that aligns the content to a multiple of `align`, with room for sizes that are unknown or too large
 * for the header.
 */
export function extraFor(
  { name, place }: Pick<EntryRecord, 'name' | 'place'>,
  { expected, align }: { expected: number | undefined; align: number },
): Extra {
  const large = expected === undefined || expected >= MOST_32;
  const sizes = large ? SIZES_64_BYTES : 0;
  const rest = (place + LOCAL_BYTES + name.length + sizes) % align;
  const padding = rest === 0 ? 0 : align - rest;
  return { large, length: sizes + padding + (padding > 0 && padding < SMALLEST_ALIGNMENT_BYTES ? align : 0) };
}

const NO_EXTRA: Extra = { length: 0, large: false };

/** With `DESCRIPTOR` it has no sizes. */
export function localHeader(given: EntryRecord, extra: Extra = NO_EXTRA): Buffer {
  const entry = given.flags & DESCRIPTOR ? { ...given, size: 0, packed: 0, checksum: 0 } : given;
  const header = Buffer.alloc(LOCAL_BYTES + entry.name.length + extra.length);
  header.writeUInt32LE(LOCAL, 0);
  header.writeUInt16LE(extra.large ? VERSION_64 : VERSION, 4);
  writeCommon(header.subarray(6), entry, extra.large);
  header.writeUInt16LE(entry.name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  entry.name.copy(header, LOCAL_BYTES);
  const field = header.subarray(LOCAL_BYTES + entry.name.length);
  const used = extra.large ? writeSizes64(field, [entry.size, entry.packed]) : 0;
  if (extra.length > used) {
    field.writeUInt16LE(EXTRA_ALIGNMENT, used);
    field.writeUInt16LE(extra.length - used - 4, used + 2);
  }
  return header;
}

/** What stands behind the content of an entry with `DESCRIPTOR`. */
export function dataDescriptor({ size, packed, checksum }: EntryRecord): Buffer {
  const large = isLarge({ size, packed });
  const descriptor = Buffer.alloc(large ? 24 : 16);
  descriptor.writeUInt32LE(DESCRIPTION, 0);
  descriptor.writeUInt32LE(checksum, 4);
  if (large) {
    descriptor.writeBigUInt64LE(BigInt(packed), 8);
    descriptor.writeBigUInt64LE(BigInt(size), 16);
  } else {
    descriptor.writeUInt32LE(packed, 8);
    descriptor.writeUInt32LE(size, 12);
  }
  return descriptor;
}

function isLarge({ size, packed }: Pick<EntryRecord, 'size' | 'packed'>): boolean {
  return size >= MOST_32 || packed >= MOST_32;
}

/** The entry's record in the list at the end. */
export function centralRecord(entry: EntryRecord): Buffer {
  const large = isLarge(entry) || entry.place >= MOST_32;
  const extra = TIME_BYTES + (large ? 4 + 3 * 8 : 0);
  const record = Buffer.alloc(CENTRAL_BYTES + entry.name.length + extra);
  record.writeUInt32LE(CENTRAL, 0);
  record.writeUInt16LE(UNIX | VERSION_64, 4);
  record.writeUInt16LE(large ? VERSION_64 : VERSION, 6);
  writeCommon(record.subarray(8), entry, large);
  record.writeUInt16LE(entry.name.length, 28);
  record.writeUInt16LE(extra, 30);
  record.writeUInt32LE((entry.mode << 16) >>> 0, 38);
  record.writeUInt32LE(large ? MOST_32 : entry.place, 42);
  entry.name.copy(record, CENTRAL_BYTES);
  const field = record.subarray(CENTRAL_BYTES + entry.name.length);
  writeTime(field, entry.modified);
  if (large) writeSizes64(field.subarray(TIME_BYTES), [entry.size, entry.packed, entry.place]);
  return record;
}

/** The records after the list. */
export function endRecords({ entries, place, size }: { entries: number; place: number; size: number }): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(END, 0);
  end.writeUInt16LE(Math.min(entries, MOST_16), 8);
  end.writeUInt16LE(Math.min(entries, MOST_16), 10);
  end.writeUInt32LE(Math.min(size, MOST_32), 12);
  end.writeUInt32LE(Math.min(place, MOST_32), 16);
  if (entries < MOST_16 && size < MOST_32 && place < MOST_32) return end;
  const end64 = Buffer.alloc(56 + 20);
  end64.writeUInt32LE(END_64, 0);
  end64.writeBigUInt64LE(44n, 4);
  end64.writeUInt16LE(UNIX | VERSION_64, 12);
  end64.writeUInt16LE(VERSION_64, 14);
  end64.writeBigUInt64LE(BigInt(entries), 24);
  end64.writeBigUInt64LE(BigInt(entries), 32);
  end64.writeBigUInt64LE(BigInt(size), 40);
  end64.writeBigUInt64LE(BigInt(place), 48);
  end64.writeUInt32LE(END_64_PLACE, 56);
  end64.writeBigUInt64LE(BigInt(place + size), 64);
  end64.writeUInt32LE(1, 72);
  return Buffer.concat([end64, end]);
}

/** Writes the common part of both headers: flags to sizes. */
function writeCommon(
  at: Buffer,
  { modified, checksum, size, packed, method, flags }: EntryRecord,
  large: boolean,
): void {
  at.writeUInt16LE(UTF8_NAMES | flags, 0);
  at.writeUInt16LE(method, 2);
  at.writeUInt32LE(dosTime(modified), 4);
  at.writeUInt32LE(checksum, 8);
  at.writeUInt32LE(large ? MOST_32 : packed, 12);
  at.writeUInt32LE(large ? MOST_32 : size, 16);
}

/** Writes the modification time (UTC, in seconds), which `dosTime` has in local time. */
function writeTime(field: Buffer, modified: Date): void {
  const seconds = Math.floor(modified.getTime() / 1000);
  field.writeUInt16LE(EXTRA_TIME, 0);
  field.writeUInt16LE(TIME_BYTES - 4, 2);
  field.writeUInt8(HAS_MODIFICATION, 4);
  field.writeInt32LE(Math.max(-MOST_SECONDS, Math.min(seconds, MOST_SECONDS)), 5);
}

function writeSizes64(field: Buffer, numbers: readonly number[]): number {
  field.writeUInt16LE(EXTRA_64, 0);
  field.writeUInt16LE(numbers.length * 8, 2);
  for (const [index, number] of numbers.entries()) field.writeBigUInt64LE(BigInt(number), 4 + index * 8);
  return 4 + numbers.length * 8;
}

/** Time and date in MS-DOS format, from 1980 to 2107, in steps of two seconds. */
function dosTime(time: Date): number {
  const year = time.getFullYear() - 1980;
  if (year < 0) return (1 << 21) | (1 << 16);
  const date = (Math.min(year, 127) << 9) | ((time.getMonth() + 1) << 5) | time.getDate();
  return ((date << 16) | (time.getHours() << 11) | (time.getMinutes() << 5) | (time.getSeconds() >> 1)) >>> 0;
}
