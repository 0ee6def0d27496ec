// Reads the header of a qcow2 disk, without qemu-img, which takes some 20 ms.
// https://www.qemu.org/docs/master/interop/qcow2.html
import { open } from 'node:fs/promises';

const MAGIC = 'QFI\u00fb';
const SIZE_AT = 24;
const SNAPSHOTS_AT = 60;
const LENGTH = 64;

export interface Qcow2Header {
  /** Bytes, as seen by the guest. */
  size: number;
  /** Number of saved states. */
  snapshots: number;
}

/** Undefined for a file of another format. */
export async function readQcow2(path: string): Promise<Qcow2Header | undefined> {
  await using file = await open(path, 'r');
  const { buffer, bytesRead } = await file.read(Buffer.alloc(LENGTH), 0, LENGTH, 0);
  if (bytesRead < LENGTH || buffer.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined;
  return { size: Number(buffer.readBigUInt64BE(SIZE_AT)), snapshots: buffer.readUInt32BE(SNAPSHOTS_AT) };
}
