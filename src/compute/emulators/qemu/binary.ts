// Chooses the emulator of a machine, by path or platform.
import { basename } from 'node:path';
import { findProgram } from '../../../host/processes/program-path.ts';
import { refusal } from './refusal.ts';
import { isPlatform } from './schema.ts';

export interface Emulator {
  path: string;
  platform: string;
}

/** The platform in an emulator's name; undefined for another program. */
export function platformOf(path: string): string | undefined {
  const name = basename(path);
  if (name.startsWith('qemu-kvm')) return 'x86_64';
  if (name === 'qemu') return 'i386';
  const word = /^qemu-system-([^.]*)/.exec(name)?.[1] ?? '';
  return isPlatform(word) ? word : undefined;
}

/**
 * The emulator at the path, or the platform's if no path is given.
 * @throws Failure `conflict` if there is neither, or the program is something else
 */
export async function findEmulator(path: string | null | undefined, platform: string | undefined): Promise<Emulator> {
  const wanted = platform === 'null' ? '' : (platform ?? '');
  const given = path
    ? ((await findProgram(path)) ?? (wanted === '' ? await findProgram(basename(path)) : undefined))
    : undefined;
  const name = `qemu-system-${wanted}`;
  const found = given ?? (wanted === '' ? undefined : await findProgram(name));
  if (found === undefined) {
    const what = path
      ? `qemu_path: there is no program ${path}`
      : wanted
        ? `platform: there is no program ${name}`
        : 'qemu_path: give the emulator or its platform';
    throw refusal(`${what}; GET /v2/compute/qemu/binaries lists what there is (Debian: apt install qemu-system-x86).`);
  }
  const known = platformOf(found);
  if (known === undefined) throw refusal(`qemu_path: ${found} is no emulator of a known platform.`);
  return { path: found, platform: known };
}
