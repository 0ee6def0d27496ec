// Reads an ELF file's header: the machine a program is for, and the loader that runs it.
import { type FileHandle, open } from 'node:fs/promises';

const MAGIC = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);
const PT_INTERP = 3;
/** Longest loader path that is read. */
const INTERPRETER_BYTES = 4096;
/** More than any program has. */
const MOST_HEADERS = 128;

export interface Elf {
  bits: 32 | 64;
  /** Path of the program that loads its libraries; undefined if it needs none. */
  interpreter: string | undefined;
}

/** Why a file is not a program for this kind of machine, in words for the user. */
export class NoProgram extends Error {}

/** @throws NoProgram; Node's error if it cannot be read */
export async function readElf(path: string): Promise<Elf> {
  await using file = await open(path, 'r');
  const head = await bytesAt(file, 0, 64, 7);
  if (!head.subarray(0, 4).equals(MAGIC)) throw new NoProgram('it is no ELF program');
  const bits = head[4] === 1 ? 32 : 64;
  if (head[4] !== 1 && head[4] !== 2) throw new NoProgram('it is neither a 32-bit nor a 64-bit program');
  if (head[5] !== 1) throw new NoProgram('it is big-endian: an image for Dynamips, not for IOU');
  if (head[6] !== 1) throw new NoProgram('its ELF version is not 1');
  if (head.length < (bits === 64 ? 64 : 52)) throw new NoProgram('it is cut off');
  const [at, size, count] =
    bits === 64
      ? [Number(head.readBigUInt64LE(32)), head.readUInt16LE(54), head.readUInt16LE(56)]
      : [head.readUInt32LE(28), head.readUInt16LE(42), head.readUInt16LE(44)];
  if (count === 0 || count > MOST_HEADERS || size < (bits === 64 ? 56 : 32)) {
    throw new NoProgram('it has nothing to run in it');
  }
  const headers = await bytesAt(file, at, size * count, size * count);
  for (let header = 0; header < headers.length; header += size) {
    if (headers.readUInt32LE(header) !== PT_INTERP) continue;
    const [from, length] =
      bits === 64
        ? [Number(headers.readBigUInt64LE(header + 8)), Number(headers.readBigUInt64LE(header + 32))]
        : [headers.readUInt32LE(header + 4), headers.readUInt32LE(header + 16)];
    if (length > INTERPRETER_BYTES) throw new NoProgram('the name of its loader is too long');
    const name = await bytesAt(file, from, length, length);
    return { bits, interpreter: name.toString('utf8').replace(/\0.*$/s, '') };
  }
  return { bits, interpreter: undefined };
}

/** @throws NoProgram if there are fewer than `least` */
async function bytesAt(file: FileHandle, position: number, most: number, least: number): Promise<Buffer> {
  if (!Number.isSafeInteger(position)) throw new NoProgram('it is cut off');
  const { buffer, bytesRead } = await file.read(Buffer.alloc(most), 0, most, position);
  if (bytesRead < least) throw new NoProgram('it is cut off');
  return buffer.subarray(0, bytesRead);
}
