// A router's configurations as files of its node, written to its NVRAM and saved from it.
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeContained } from '../../../host/files/contained-files.ts';
import { readBytes } from '../../nodes/files.ts';
import { replaceHostname } from '../../nodes/renaming.ts';
import { refusal } from './image.ts';
import { readNvram, writeNvram } from './nvram.ts';

export const STARTUP = 'startup-config.cfg';
export const PRIVATE = 'private-config.cfg';

/** A file that exists while the NVRAM may have configurations that are not saved: from a start to the save at the end. */
const UNSAVED = 'unsaved-configuration';

/** Limits of an image's NVRAM in KiB. */
const NVRAM = { least: 8, most: 1024 };
/** The private configuration that a router writes if it has none. */
const EMPTY_PRIVATE = Buffer.from('\nend\n');

const number = (applicationId: number): string => `${applicationId}`.padStart(5, '0');
export const nvramName = (applicationId: number): string => `nvram_${number(applicationId)}`;
const vlanName = (applicationId: number): string => `vlan.dat-${number(applicationId)}`;

/** A node's directory: the project's, and the path below it. */
export interface NodePlace {
  root: string;
  path: string;
}

/** More than any configuration has. */
const MOST_BYTES = 1024 * 1024;

/** The bytes of a configuration, if it exists. */
export const readConfiguration = ({ root, path }: NodePlace, name: string): Promise<Buffer | undefined> =>
  readBytes(root, `${path}/${name}`, MOST_BYTES);

/** Stores a configuration. A new start-up configuration invalidates the switch's VLAN data. */
export async function writeConfiguration(place: NodePlace, name: string, text: string | Buffer): Promise<void> {
  await writeContained(place.root, `${place.path}/${name}`, text, { createParents: true });
  if (name !== STARTUP) return;
  const directory = join(place.root, place.path);
  for (const file of await namesBeginning(directory, 'vlan.dat-')) await rm(join(directory, file), { force: true });
}

/** Replaces the router's name. */
export async function renameIn(place: NodePlace, name: string, undo?: AsyncDisposableStack): Promise<void> {
  const text = (await readConfiguration(place, STARTUP))?.toString('latin1');
  if (text === undefined) return;
  const renamed = replaceHostname(text, name);
  if (renamed !== text) {
    undo?.defer(() => writeConfiguration(place, STARTUP, Buffer.from(text, 'latin1')));
    await writeConfiguration(place, STARTUP, Buffer.from(renamed, 'latin1'));
  }
}

/** Renames files of the router with a former id to the present one. */
export async function adoptFiles(directory: string, applicationId: number): Promise<void> {
  for (const [beginning, wanted] of [
    ['nvram_', nvramName(applicationId)],
    ['vlan.dat-', vlanName(applicationId)],
  ] as const) {
    const names = await namesBeginning(directory, beginning);
    if (names.includes(wanted)) continue;
    const [former] = names;
    if (former !== undefined) await rename(join(directory, former), join(directory, wanted));
  }
}

/**
 * Writes the configurations into the NVRAM that the image reads at its start.
 * @param kibibytes size of the NVRAM
 * @param undo of a start that fails: nothing ran that could have saved anything
 * @throws Failure `conflict` (`IOUError`)
 */
export async function fillNvram(
  place: NodePlace,
  applicationId: number,
  kibibytes: number,
  undo: AsyncDisposableStack,
): Promise<void> {
  const startup = await readConfiguration(place, STARTUP);
  if (!startup?.length) return;
  if (kibibytes < NVRAM.least || kibibytes > NVRAM.most) {
    throw refusal(`nvram: ${kibibytes} KB cannot hold a configuration; use ${NVRAM.least} to ${NVRAM.most}.`);
  }
  const own = await readConfiguration(place, PRIVATE);
  const former = await nvramOf(place, applicationId);
  const nvram = writeNvram(former, { startup, private: own }, kibibytes);
  await writeContained(place.root, `${place.path}/${nvramName(applicationId)}`, nvram, { createParents: true });
  undo.defer(() => allSaved(place));
  await writeContained(place.root, `${place.path}/${UNSAVED}`, '', { createParents: true });
}

/** Saves the router's configurations, if the node has any. */
export async function saveFromNvram(place: NodePlace, applicationId: number): Promise<void> {
  const [startup, own] = [await readConfiguration(place, STARTUP), await readConfiguration(place, PRIVATE)];
  if (!startup?.length && !own?.length) return;
  const nvram = await nvramOf(place, applicationId);
  if (nvram === undefined) return;
  const saved = readNvram(nvram);
  if (saved.startup.length > 0 && !startup?.equals(saved.startup)) {
    // The switch's VLAN data belongs to it.
    await writeContained(place.root, `${place.path}/${STARTUP}`, saved.startup, { createParents: true });
  }
  if (!saved.private?.length || saved.private.equals(EMPTY_PRIVATE) || own?.equals(saved.private)) return;
  await writeConfiguration(place, PRIVATE, saved.private);
}

/** The same after the router's end. */
export async function saveLast(place: NodePlace, applicationId: number): Promise<void> {
  await saveFromNvram(place, applicationId);
  await allSaved(place);
}

const allSaved = (place: NodePlace): Promise<void> => rm(join(place.root, place.path, UNSAVED), { force: true });

/** The same before the next start, if an earlier end left something unsaved that is newer than the node's file. */
export async function saveLeft(place: NodePlace, applicationId: number): Promise<void> {
  const changed = async (name: string): Promise<number | undefined> =>
    (await stat(join(place.root, place.path, name)).catch(() => undefined))?.mtimeMs;
  const [unsaved, nvram, startup = 0] = await Promise.all([UNSAVED, nvramName(applicationId), STARTUP].map(changed));
  if (unsaved !== undefined && nvram !== undefined && nvram > startup) await saveFromNvram(place, applicationId);
}

const nvramOf = ({ root, path }: NodePlace, applicationId: number): Promise<Buffer | undefined> =>
  readBytes(root, `${path}/${nvramName(applicationId)}`, NVRAM.most * 1024);

async function namesBeginning(directory: string, beginning: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => name.startsWith(beginning)).sort();
}
