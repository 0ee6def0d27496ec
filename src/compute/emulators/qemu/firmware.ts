// The firmware of UEFI machines: Debian's, or one in the folder of images. Each node has its own variables.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../../host/files/atomic-file.ts';
import { namesIn } from '../../../host/files/directories.ts';
import { refusal } from './refusal.ts';

/** Folder of Debian's package ovmf. */
const SYSTEM = '/usr/share/OVMF';
/** The present flash size first, then that of nodes from older releases. */
const PAIRS = [
  { code: 'OVMF_CODE_4M.fd', variables: 'OVMF_VARS_4M.fd' },
  { code: 'OVMF_CODE.fd', variables: 'OVMF_VARS.fd' },
] as const;

/** @throws Failure `conflict` (`QemuError`) if the firmware is missing */
export async function prepareFirmware(directory: string, images: string): Promise<{ code: string; variables: string }> {
  const own = await namesIn(directory);
  const pair = own.includes(PAIRS[1].variables) ? PAIRS[1] : PAIRS[0];
  const code = await find(pair.code, images);
  const variables = join(directory, pair.variables);
  if (!own.includes(pair.variables))
    await writeFileAtomically(variables, createReadStream(await find(pair.variables, images)));
  return { code, variables };
}

/** The firmware code of new machines, if there is any. */
export function findFirmware(images: string): Promise<string | undefined> {
  return fileIn(PAIRS[0].code, images);
}

async function fileIn(name: string, images: string): Promise<string | undefined> {
  for (const folder of [SYSTEM, images]) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile()) return path;
  }
  return undefined;
}

async function find(name: string, images: string): Promise<string> {
  const path = await fileIn(name, images);
  if (path !== undefined) return path;
  const message = `uefi: there is no firmware ${name} in ${SYSTEM} (Debian: apt install ovmf), and none among the images.`;
  throw refusal(message);
}
