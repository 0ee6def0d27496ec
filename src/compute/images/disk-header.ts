// Reads a disk image's header before any tool opens the image: a header can name other files, network addresses and
// whole device descriptions. Tools open all of them, and write to some.
//
// Layouts: qcow (versions 1 to 3), QED and VMDK according to their published specifications. Other formats name no
// files.
import type { FileHandle } from 'node:fs/promises';
import { conflict, type Failure } from '../../failures.ts';

export type DiskFormat = 'qcow' | 'qcow2' | 'qed' | 'vmdk' | 'other';

/** A file that an image names: its backing file, or one of its parts. */
export interface NamedFile {
  /** As it stands in the header. */
  name: string;
  role: 'backing file' | 'extent';
  /** The declared format; undefined if a tool would detect it. */
  format?: string;
}

export interface DiskHeader {
  format: DiskFormat;
  files: NamedFile[];
}

const KIBIBYTE = 1024;
const SECTOR_BYTES = 512;
/** A VMDK descriptor in its own file is read up to the same length as QEMU reads. */
const LARGEST_DESCRIPTOR_BYTES = 1024 * KIBIBYTE;
/** Tools look for a parent in this part of a VMDK image, wherever its header places the descriptor. */
const USUAL_DESCRIPTOR = { offset: SECTOR_BYTES, length: 20 * SECTOR_BYTES };
/** The longest name of a backing file in qcow images. */
const LONGEST_NAME_BYTES = 1023;
const LARGEST_CLUSTER_BITS = 21;
/** Far beyond the end of any image. */
const LARGEST_SECTOR = 2n ** 40n;

const QCOW_VERSION_1 = 1;
const QCOW2_HEADER_BYTES = 72;
/** Bit 2 of the incompatible features, in the last of their eight bytes. */
const EXTERNAL_DATA = { byte: 79, bit: 4 };
const EXTENSION = { end: 0, backingFormat: 0xe2792aca, dataFile: 0x44415441 };
const QED_BACKING_FILE = 1n;

/**
 * Reads the header of an open disk image. `shownAs` names it in messages.
 * @throws Failure `conflict` for an image whose data is in another file, and for a damaged header
 */
export async function readDiskHeader(handle: FileHandle, shownAs: string): Promise<DiskHeader> {
  const image = new ImageBytes(handle, shownAs);
  const head = await image.read(0, SECTOR_BYTES);
  const magic = head.subarray(0, 4).toString('latin1');
  if (magic === 'QFI\xfb') return head.readUInt32BE(4) === QCOW_VERSION_1 ? qcow(image, head) : qcow2(image, head);
  if (magic === 'QED\0') return qed(image, head);
  if (magic === 'KDMV') return sparseVmdk(image, head);
  if (magic === 'COWD') return vmdk([await image.read(USUAL_DESCRIPTOR.offset, USUAL_DESCRIPTOR.length)]);
  if (isDescriptor(head)) return vmdk([await image.read(0, LARGEST_DESCRIPTOR_BYTES)]);
  return { format: 'other', files: [] };
}

/** Parts of an image. Behind its end a required header reads as zeros. */
class ImageBytes {
  readonly #handle: FileHandle;
  readonly #shownAs: string;

  constructor(handle: FileHandle, shownAs: string) {
    this.#handle = handle;
    this.#shownAs = shownAs;
  }

  async read(offset: number, length: number): Promise<Buffer> {
    const bytes = Buffer.alloc(length);
    for (let read = 0; read < length; ) {
      const { bytesRead } = await this.#handle.read(bytes, read, length - read, offset + read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    return bytes;
  }

  /** A name in the image; undefined if it is empty. */
  async name(offset: bigint, length: number): Promise<string | undefined> {
    if (offset === 0n || length === 0) return undefined;
    if (length > LONGEST_NAME_BYTES || offset > BigInt(Number.MAX_SAFE_INTEGER))
      throw this.damaged('the name of its backing file');
    const bytes = await this.read(Number(offset), length);
    return bytes.toString('utf8');
  }

  damaged(what: string): Failure {
    return conflict(`${this.#shownAs}: ${what} is damaged; upload the image again.`);
  }

  refused(reason: string): Failure {
    return conflict(`${this.#shownAs}: ${reason}`);
  }
}

function backedBy(name: string | undefined, format?: string): NamedFile[] {
  return name === undefined ? [] : [{ name, role: 'backing file', ...(format !== undefined && { format }) }];
}

async function qcow(image: ImageBytes, head: Buffer): Promise<DiskHeader> {
  const backing = await image.name(head.readBigUInt64BE(8), head.readUInt32BE(16));
  return { format: 'qcow', files: backedBy(backing) };
}

async function qcow2(image: ImageBytes, head: Buffer): Promise<DiskHeader> {
  const version = head.readUInt32BE(4);
  const offset = head.readBigUInt64BE(8);
  const clusterBits = head.readUInt32BE(20);
  if (version > 3 || clusterBits > LARGEST_CLUSTER_BITS) throw image.damaged('its header');
  const elsewhere =
    'its data are in another file, which this server does not open; upload an image that holds its data itself.';
  if (version === 3 && ((head[EXTERNAL_DATA.byte] ?? 0) & EXTERNAL_DATA.bit) !== 0) throw image.refused(elsewhere);
  const start = version === 3 ? head.readUInt32BE(100) : QCOW2_HEADER_BYTES;
  const cluster = await image.read(0, 1 << clusterBits);
  const end = offset > 0n && offset < BigInt(cluster.length) ? Number(offset) : cluster.length;
  let format: string | undefined;
  for (let at = start; at + 8 <= end; ) {
    const kind = cluster.readUInt32BE(at);
    const length = cluster.readUInt32BE(at + 4);
    if (kind === EXTENSION.end) break;
    if (at + 8 + length > end) throw image.damaged('a part of its header');
    if (kind === EXTENSION.dataFile) throw image.refused(elsewhere);
    if (kind === EXTENSION.backingFormat) format = cluster.toString('latin1', at + 8, at + 8 + length);
    at += 8 + Math.ceil(length / 8) * 8;
  }
  return { format: 'qcow2', files: backedBy(await image.name(offset, head.readUInt32BE(16)), format) };
}

async function qed(image: ImageBytes, head: Buffer): Promise<DiskHeader> {
  if ((head.readBigUInt64LE(16) & QED_BACKING_FILE) === 0n) return { format: 'qed', files: [] };
  const name = await image.name(BigInt(head.readUInt32LE(56)), head.readUInt32LE(60));
  return { format: 'qed', files: backedBy(name) };
}

async function sparseVmdk(image: ImageBytes, head: Buffer): Promise<DiskHeader> {
  const sector = head.readBigUInt64LE(28);
  const sectors = head.readBigUInt64LE(36);
  const parts = [await image.read(USUAL_DESCRIPTOR.offset, USUAL_DESCRIPTOR.length)];
  const largest = BigInt(LARGEST_DESCRIPTOR_BYTES / SECTOR_BYTES);
  if (sector > 0n) {
    if (sector > LARGEST_SECTOR || sectors > largest) throw image.damaged('its header');
    // An image without a capacity consists of its descriptor, whatever length the header gives.
    const length = head.readBigUInt64LE(12) === 0n ? LARGEST_DESCRIPTOR_BYTES : Number(sectors) * SECTOR_BYTES;
    parts.push(await image.read(Number(sector) * SECTOR_BYTES, length));
  }
  return vmdk(parts);
}

/** Whether this is a VMDK descriptor in a text file: comments and empty lines, then its version. */
function isDescriptor(head: Buffer): boolean {
  const lines = head.toString('latin1').split('\n');
  const first = lines.find((line) => !/^(?:#.*|[ \r]*)$/s.test(line));
  return first === undefined ? head[0] === 0x23 : /^version=\d/.test(first);
}

/** Every extent in a descriptor, and the parent, anywhere in the text. */
function vmdk(parts: readonly Buffer[]): DiskHeader {
  const files = new Map<string, NamedFile>();
  for (const part of parts) {
    const text = part.toString('utf8').replaceAll(/[\s\0]+/g, (run) => (/[\r\n]/.test(run) ? '\n' : ' '));
    // As the tools find it: the name begins two arbitrary characters after the keyword.
    for (const [, name] of text.matchAll(/parentFileNameHint..([^"]*)/gs)) {
      if (name) files.set(`parent ${name}`, { name, role: 'backing file' });
    }
    // Access, sectors, kind, name: a name without closing quote counts, too.
    for (const [, name] of text.matchAll(/[^\s"]{1,10}\s[+-]?\d+\s?[^\s"]{1,10}\s?"([^"\r\n]*)/g)) {
      if (name) files.set(`extent ${name}`, { name, role: 'extent' });
    }
  }
  return { format: 'vmdk', files: [...files.values()] };
}
