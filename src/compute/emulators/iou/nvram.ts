// The NVRAM file of an IOU image: start-up and private configuration in its first half, then files of the router. All
// numbers are big-endian. The layout is the one that release 2.2.57 reads and writes.
import { refusal } from './image.ts';
import { uncompress } from './lzw.ts';

const STARTUP_MAGIC = 0xabcd;
const PRIVATE_MAGIC = 0xfedc;
const FILE_MAGIC = 0xdcba;
const RAW = 1;
const COMPRESSED = 2;
const STARTUP_HEADER_BYTES = 36;
const PRIVATE_HEADER_BYTES = 16;
/** Added to offsets in the file to get the router's addresses. */
const BASE = 0x1000_0000;
/** The version for an image that has written nothing yet. */
const UNKNOWN_VERSION = 0x0f04;
/**
 * Images up to this version, and larger areas, have four more bytes after a configuration whose end is not a multiple
 * of four.
 */
const LAST_OLD_VERSION = 0x0f00;
const LARGE_AREA_BYTES = 65_536;
const SECTOR_BYTES = 1024;
/** At the end of the area, never used for configurations. */
const RESERVED_BYTES = 2048;

const LF = Buffer.of(0x0a);

export interface Configurations {
  startup: Buffer;
  /** Undefined if there is none. */
  private: Buffer | undefined;
}

/** @throws RangeError if there is no configuration */
export function readNvram(nvram: Buffer): Configurations {
  if (nvram.length < STARTUP_HEADER_BYTES || nvram.readUInt16BE(0) !== STARTUP_MAGIC)
    throw new RangeError('it does not begin as an NVRAM does');
  const format = nvram.readUInt16BE(2);
  const length = nvram.readUInt32BE(16);
  if (STARTUP_HEADER_BYTES + length > nvram.length) throw new RangeError('the start-up configuration is cut off');
  const data = nvram.subarray(STARTUP_HEADER_BYTES, STARTUP_HEADER_BYTES + length);
  if (format !== RAW && format !== COMPRESSED) throw new RangeError(`format ${format} is not known`);
  return { startup: format === COMPRESSED ? uncompress(data) : Buffer.from(data), private: privateIn(nvram, length) };
}

function privateIn(nvram: Buffer, startupLength: number): Buffer | undefined {
  let at = (STARTUP_HEADER_BYTES + startupLength + 3) & ~3;
  const word = (place: number): number => (place + 2 <= nvram.length ? nvram.readUInt16BE(place) : -1);
  if (word(at + 4) === PRIVATE_MAGIC && word(at + 6) === RAW) at += 4;
  if (word(at) !== PRIVATE_MAGIC || at + PRIVATE_HEADER_BYTES > nvram.length) return undefined;
  const end = at + PRIVATE_HEADER_BYTES + nvram.readUInt32BE(at + 12);
  return end > nvram.length ? undefined : Buffer.from(nvram.subarray(at + PRIVATE_HEADER_BYTES, end));
}

/**
 * The file with other configurations. The router's other data stays.
 * @param former the present file; undefined, or of another size, counts as empty
 * @param kibibytes its size, 8 to 1024
 * @throws Failure `conflict` (`IOUError`) if the configurations are too long
 */
export function writeNvram(
  former: Buffer | undefined,
  { startup, private: own }: Configurations,
  kibibytes: number,
): Buffer {
  const size = kibibytes * SECTOR_BYTES;
  const old = former?.length === size ? former : Buffer.alloc(size);
  const area = size / 2;
  const isKnown = old.readUInt16BE(0) === STARTUP_MAGIC;
  const version = isKnown ? old.readUInt16BE(6) : UNKNOWN_VERSION;
  // Only a file that the image has not written yet gets its text padded.
  const fill = isKnown ? 0 : (4 - (startup.length % 4)) % 4;
  const text = Buffer.concat([startup, ...Array<Buffer>(fill).fill(LF)]);
  const limit = filesFrom(old, area, isKnown ? configurationEnd(old, area, version) : 0);
  const configuration = Buffer.concat([
    startupHeader(text.length, version),
    text,
    Buffer.alloc(padding(STARTUP_HEADER_BYTES + text.length, version, area)),
  ]);
  const whole = Buffer.concat([configuration, privatePart(configuration.length, own ?? Buffer.alloc(0))]);
  if (whole.length > limit) {
    throw refusal(`nvram: ${kibibytes} KB are too few for configurations of ${whole.length} bytes; give it more.`);
  }
  const nvram = Buffer.from(old);
  nvram.fill(0, 0, limit);
  whole.copy(nvram);
  nvram.writeUInt16BE(0, 4);
  nvram.writeUInt16BE(checksum(nvram.subarray(0, area)), 4);
  return nvram;
}

function startupHeader(length: number, version: number): Buffer {
  const header = Buffer.alloc(STARTUP_HEADER_BYTES);
  header.writeUInt16BE(STARTUP_MAGIC, 0);
  header.writeUInt16BE(RAW, 2);
  header.writeUInt16BE(version, 6);
  header.writeUInt32BE(BASE + STARTUP_HEADER_BYTES, 8);
  header.writeUInt32BE(BASE + STARTUP_HEADER_BYTES + length, 12);
  header.writeUInt32BE(length, 16);
  return header;
}

/** Exists even without a text. */
function privatePart(at: number, text: Buffer): Buffer {
  const header = Buffer.alloc(PRIVATE_HEADER_BYTES);
  header.writeUInt16BE(PRIVATE_MAGIC, 0);
  header.writeUInt16BE(RAW, 2);
  header.writeUInt32BE(BASE + at + PRIVATE_HEADER_BYTES, 4);
  header.writeUInt32BE(BASE + at + PRIVATE_HEADER_BYTES + text.length, 8);
  header.writeUInt32BE(text.length, 12);
  return Buffer.concat([header, text]);
}

function padding(end: number, version: number, area: number): number {
  const even = (4 - (end % 4)) % 4;
  return even !== 0 && (version <= LAST_OLD_VERSION || area >= LARGE_AREA_BYTES) ? even + 4 : even;
}

/** The end of the present configurations. @throws Failure `conflict` if they are longer than their area */
function configurationEnd(nvram: Buffer, area: number, version: number): number {
  const text = STARTUP_HEADER_BYTES + nvram.readUInt32BE(16);
  const at = text + padding(text, version, area);
  const hasPrivate = at + PRIVATE_HEADER_BYTES <= area && nvram.readUInt16BE(at) === PRIVATE_MAGIC;
  const end = hasPrivate ? at + PRIVATE_HEADER_BYTES + nvram.readUInt32BE(at + 12) : at;
  if (end > area) throw refusal('The NVRAM of the router is damaged: remove its file nvram_<application id>.');
  return end;
}

/** The start of the router's own files: sectors at the end of the area. Everything before is free. */
function filesFrom(nvram: Buffer, area: number, used: number): number {
  let from = area - RESERVED_BYTES;
  for (let at = from - SECTOR_BYTES; at >= used; at -= SECTOR_BYTES) {
    const sector = nvram.subarray(at, at + SECTOR_BYTES);
    const isFile = sector.readUInt16BE(0) === FILE_MAGIC && sector.readUInt16BE(4) < 8 && sector.readUInt16BE(6) <= 992;
    if (isFile) from = at;
    else if (sector.some((byte) => byte !== 0)) break;
  }
  return from;
}

/** The one's complement of the sum of all words (RFC 1071). */
function checksum(area: Buffer): number {
  let sum = 0;
  for (let at = 0; at < area.length; at += 2) sum += (area[at]! << 8) | (area[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x1_0000);
  return ~sum & 0xffff;
}
