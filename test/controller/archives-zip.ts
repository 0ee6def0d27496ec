// Zip archives made by hand, to be as wrong as anybody could make them; and what is in one.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { NO_LINK_RULES } from '../../src/store/archive/names.ts';
import { type ArchiveEntry, ArchiveReader } from '../../src/store/archive/reader.ts';

export interface ZipEntry {
  name: string | Buffer;
  data?: string | Buffer;
  deflate?: boolean;
  /** The data in the archive, where they are compressed by another method. */
  packed?: Buffer;
  /** Compression method, flags and mode as they are written, whatever the data are. */
  method?: number;
  flags?: number;
  /** Unix mode with the type of the file. */
  mode?: number;
  size?: number;
  compressedSize?: number;
  crc?: number;
  /** Place of the local header; another entry's, for instance. */
  offset?: number;
}

export const LINK = 0o120777;

/** A zip archive of these entries, one after the other. */
export function zip(entries: readonly ZipEntry[], { count = entries.length }: { count?: number } = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let place = 0;
  for (const entry of entries) {
    const name = Buffer.from(entry.name);
    const content = Buffer.from(entry.data ?? '');
    const data = entry.packed ?? (entry.deflate ? deflateRawSync(content) : content);
    const method = entry.method ?? (entry.deflate ? 8 : 0);
    const fields = {
      flags: (entry.flags ?? 0) | 0x800,
      method,
      crc: entry.crc ?? crc32(content),
      compressed: entry.compressedSize ?? data.length,
      size: entry.size ?? content.length,
    };
    const local = header(30, 0x04034b50, fields, name);
    const central = header(46, 0x02014b50, fields, name);
    central.writeUInt32LE(((entry.mode ?? 0) << 16) >>> 0, 38);
    central.writeUInt32LE(entry.offset ?? place, 42);
    parts.push(local, name, data);
    directory.push(central, name);
    place += local.length + name.length + data.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(place, 16);
  return Buffer.concat([...parts, ...directory, end]);
}

interface Fields {
  flags: number;
  method: number;
  crc: number;
  compressed: number;
  size: number;
}

function header(length: number, signature: number, fields: Fields, name: Buffer): Buffer {
  const bytes = Buffer.alloc(length);
  const shift = length === 46 ? 2 : 0;
  bytes.writeUInt32LE(signature, 0);
  if (shift) bytes.writeUInt16LE((3 << 8) | 20, 4);
  bytes.writeUInt16LE(20, 4 + shift);
  bytes.writeUInt16LE(fields.flags, 6 + shift);
  bytes.writeUInt16LE(fields.method, 8 + shift);
  bytes.writeUInt32LE(fields.crc, 14 + shift);
  bytes.writeUInt32LE(fields.compressed, 18 + shift);
  bytes.writeUInt32LE(fields.size, 22 + shift);
  bytes.writeUInt16LE(name.length, 26 + shift);
  return bytes;
}

export interface FoundEntry {
  kind: ArchiveEntry['kind'];
  method: number;
  target: string | undefined;
  content: Buffer;
}

/** The entries of an archive by name. */
export async function entriesOf(archive: Buffer | string): Promise<Map<string, FoundEntry>> {
  const directory = mkdtempSync(join(tmpdir(), 'labwire-zip-'));
  try {
    const path = typeof archive === 'string' ? archive : join(directory, 'archive');
    if (typeof archive !== 'string') await writeFile(path, archive);
    await using handle = await open(path);
    const reader = await ArchiveReader.open(handle, { ...NO_LINK_RULES, mayBeAbsolute: () => true });
    const found = new Map<string, FoundEntry>();
    for (const entry of reader.entries.values()) {
      const { name, kind, target, raw } = entry;
      const content = kind === 'file' ? await reader.bytes(entry) : Buffer.alloc(0);
      found.set(name, { kind, target, method: raw.compressionMethod, content });
    }
    return found;
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** What an archive holds: name -> content, `-> target` for links, null for folders. */
export async function unzipped(archive: Buffer | string): Promise<Record<string, string | null>> {
  const found: Record<string, string | null> = {};
  for (const [name, { kind, target, content }] of await entriesOf(archive)) {
    if (kind === 'folder') found[name] = null;
    else found[name] = target === undefined ? String(content) : `-> ${target}`;
  }
  return found;
}

/** What another program thinks of an archive; undefined where it is not installed. */
export function testedByUnzip(archive: Buffer): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'labwire-zip-'));
  try {
    writeFileSync(join(directory, 'archive.zip'), archive);
    return execFileSync('python3', ['-m', 'zipfile', '-t', join(directory, 'archive.zip')], { encoding: 'utf8' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Everything below a directory: path -> kind and size, or target; without the reserved space of a state directory, which a server fills after its start. */
export async function tree(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(directory.length + 1);
    if (/^reserve(?:-inodes)?(?:\/|$)/.test(name)) continue;
    if (entry.isSymbolicLink()) found[name] = `-> ${await readlink(path)}`;
    else found[name] = entry.isDirectory() ? 'folder' : `${(await stat(path)).size} bytes`;
  }
  return found;
}
