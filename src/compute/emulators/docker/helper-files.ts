// The folder mounted into every container as /gns3: its entry point, a static busybox, and a DHCP client.
import { chmod, open, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asset, assetNames } from '../../../host/files/assets.ts';
import { writeFileAtomically } from '../../../host/files/atomic-file.ts';
import { makeDirectory } from '../../../host/files/directories.ts';
import { findProgram } from '../../../host/processes/program-path.ts';
import { refusal } from './engine.ts';

/**
 * Names of static busybox programs. `busybox` is one in Debian's package busybox-static; elsewhere it may be linked
 * with libraries of the host.
 */
const NAMES = ['busybox-static', 'busybox.static', 'busybox'];
const FOLDER = 'docker';
const EXECUTABLE = 0o755;

// <elf.h>: offsets of the program headers in a 64-bit header, and the type of the one with an interpreter.
const ELF_HEADER_BYTES = 64;
const PROGRAM_HEADER_BYTES = 56;
const PT_INTERP = 3;

const known = new Map<string, Promise<string>>();

/** The folder below `resources`, updated once per run of this process. @throws Failure `conflict` without a busybox */
export function helperFolder(resources: string): Promise<string> {
  const found =
    known.get(resources) ??
    install(join(resources, FOLDER)).catch((error: unknown) => {
      known.delete(resources);
      throw error;
    });
  known.set(resources, found);
  return found;
}

/** A busybox of this host that runs in any container, if any. */
export async function findBusybox(): Promise<string | undefined> {
  for (const name of NAMES) {
    const path = await findProgram(name);
    if (path !== undefined && (await isStatic(path))) return path;
  }
  return undefined;
}

async function install(folder: string): Promise<string> {
  const busybox = await findBusybox();
  if (busybox === undefined) {
    throw refusal('Containers need a busybox that is linked statically: apt install busybox-static.');
  }
  for (const name of assetNames(FOLDER)) {
    const path = join(folder, name.slice(FOLDER.length + 1));
    const content = asset(name)!;
    await makeDirectory(dirname(path));
    // A service's umask may hide them from users of containers.
    await chmod(dirname(path), EXECUTABLE);
    const before = await readFile(path).catch(() => undefined);
    if (!before?.equals(content)) await writeFileAtomically(path, content, { mode: EXECUTABLE });
  }
  await chmod(folder, EXECUTABLE);
  const own = join(folder, 'bin/busybox');
  const [there, wanted] = await Promise.all([stat(own).catch(() => undefined), stat(busybox)]);
  if (there?.size === wanted.size && there.mtimeMs >= wanted.mtimeMs) return folder;
  // Replaced atomically: running containers continue with the old one.
  await writeFileAtomically(own, await readFile(busybox), { mode: EXECUTABLE });
  return folder;
}

async function isStatic(path: string): Promise<boolean> {
  await using file = await open(path);
  const header = Buffer.alloc(ELF_HEADER_BYTES);
  await file.read(header, 0, ELF_HEADER_BYTES, 0);
  if (header.readUInt32BE(0) !== 0x7f454c46 || header[4] !== 2) return false;
  const offset = Number(header.readBigUInt64LE(32));
  const count = header.readUInt16LE(56);
  const headers = Buffer.alloc(count * PROGRAM_HEADER_BYTES);
  await file.read(headers, 0, headers.length, offset);
  for (let at = 0; at < headers.length; at += PROGRAM_HEADER_BYTES) {
    if (headers.readUInt32LE(at) === PT_INTERP) return false;
  }
  return true;
}
