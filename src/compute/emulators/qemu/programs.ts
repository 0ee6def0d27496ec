import { readdir, realpath } from 'node:fs/promises';
import { arch } from 'node:os';
import { basename, join } from 'node:path';
import { DEFAULT_SEARCH_PATH, findProgram } from '../../../host/processes/program-path.ts';
import { runProgram } from '../../../host/processes/run-program.ts';
import { eachOf } from '../../../host/values/each-of.ts';
import { platformOf } from './binary.ts';
import { kvmDeviceError, kvmProblem } from './kvm-probe.ts';

export interface Binary {
  /** Absolute. */
  path: string;
  version: string;
}

const EMULATOR = /^(?:qemu-system.*|qemu-kvm.*|qemu)$/;
const DISK_TOOL = /^qemu-img$/;
/** Time limit (ms); QEMU answers in some tens. */
const TIMEOUT_MS = 5000;
const AT_ONCE = 4;

/** The guests that KVM runs on this processor. */
const KVM: Record<string, string[]> = { x64: ['x86_64', 'i386'], arm64: ['aarch64'] };

/** Emulators of the given platforms, or of all. One whose version cannot be read is left out. */
export async function emulators(platforms?: readonly string[]): Promise<Binary[]> {
  const paths = await programs(EMULATOR);
  // Others cannot be a node's emulator, such as Debian's qemu-system-x86_64-microvm.
  const wanted = paths.filter((path) => {
    const platform = platformOf(path);
    return platform !== undefined && (platforms?.includes(platform) ?? true);
  });
  return withVersions(wanted, ['-version', '-nographic']);
}

export async function diskTools(): Promise<Binary[]> {
  return withVersions(await programs(DISK_TOOL), ['--version']);
}

/** A program in `diskTools`, by its path or plain name. No other program is run for a client. */
export async function findDiskTool(wanted: string): Promise<string | undefined> {
  const path = DISK_TOOL.test(basename(wanted)) ? await findProgram(wanted) : undefined;
  return path !== undefined && (await programs(DISK_TOOL)).includes(path) ? path : undefined;
}

/** Platforms whose guests run at this host's speed: KVM exists, and this user may use it. */
export async function acceleratedPlatforms(): Promise<string[]> {
  if ((await kvmDeviceError()) !== undefined) return [];
  const emulator = arch() === 'x64' ? await findProgram('qemu-system-x86_64') : undefined;
  return emulator !== undefined && (await kvmProblem(emulator)) !== undefined ? [] : (KVM[arch()] ?? []);
}

/** Matching programs on the search path, each once, even if several of its directories are the same. */
async function programs(named: RegExp): Promise<string[]> {
  const found: string[] = [];
  const directories = new Set<string>();
  for (const directory of DEFAULT_SEARCH_PATH.split(':')) {
    const real = await realpath(directory).catch(() => undefined);
    if (real === undefined || directories.has(real)) continue;
    directories.add(real);
    for (const name of (await readdir(directory).catch(() => [])).sort()) {
      const path = named.test(name) ? await findProgram(join(directory, name)) : undefined;
      if (path !== undefined) found.push(path);
    }
  }
  return found;
}

async function withVersions(paths: string[], args: string[]): Promise<Binary[]> {
  const versions = new Map<string, string>();
  await eachOf(paths, AT_ONCE, async (path) => {
    const { output } = await runProgram(path, args, { limit: TIMEOUT_MS }).catch(() => ({ output: '' }));
    const version = /version\s+(\d[\w.-]*)/.exec(output)?.[1];
    if (version !== undefined) versions.set(path, version);
  });
  return paths.flatMap((path) => {
    const version = versions.get(path);
    return version === undefined ? [] : [{ path, version }];
  });
}
