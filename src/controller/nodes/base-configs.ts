// Base configurations: properties that name a file whose text is sent to the compute.
import { isAbsolute, normalize } from 'node:path';
import { Failure, type FailureCode, forbidden } from '../../failures.ts';
import { openContainedForRead } from '../../host/files/contained-files.ts';
import { openRegularFile, readBounded } from '../../host/files/regular-file.ts';
import { relativeBelow } from '../../host/files/relative-path.ts';
import { log } from '../../host/log.ts';

/** Property with a file name -> property with its text. */
const FILES = {
  base_script_file: 'startup_script',
  startup_config: 'startup_config_content',
  private_config: 'private_config_content',
} as const;

/** More than the NVRAM of any router holds. */
const LARGEST_BYTES = 1024 * 1024;

const LEFT_OUT: readonly FailureCode[] = ['not-found', 'forbidden', 'conflict', 'too-large'];

export interface ConfigsPlace {
  /** The configs folder: relative names, and absolute ones below it, are allowed. */
  directory: string;
  /** Local mode: absolute paths may lead anywhere on this host. */
  local: boolean;
}

/**
 * Replaces the file names in a node's properties with the files' texts. A file that is elsewhere, not regular, too long
 * or unreadable is left out, and the reason logged, so that a lab opens without it.
 */
export async function takeBaseConfigs(
  properties: Record<string, unknown>,
  place: ConfigsPlace,
): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [name, carrier] of Object.entries(FILES)) {
    const file = properties[name];
    if (!(name in properties)) continue;
    delete properties[name];
    if (typeof file !== 'string' || file === '') continue;
    const text = await readConfig(file, place).catch((error: unknown) => {
      // A faulty name leaves the file out; a fault of the host fails, as the node would get no configuration.
      if (!(error instanceof Failure && LEFT_OUT.includes(error.code))) throw error;
      log.warn('a base configuration is left out', { property: name, reason: error.message });
      return undefined;
    });
    if (text !== undefined) texts[carrier] = text;
  }
  return texts;
}

async function readConfig(file: string, { directory, local }: ConfigsPlace): Promise<string> {
  const { handle } = await openConfig(file, directory, local);
  await using opened = handle;
  return (await readBounded(opened, LARGEST_BYTES, file)).toString('utf8');
}

function openConfig(file: string, directory: string, local: boolean): ReturnType<typeof openRegularFile> {
  if (!isAbsolute(file)) return openContainedForRead(directory, file);
  if (local) return openRegularFile(file);
  const way = relativeBelow(directory, normalize(file));
  if (way !== undefined) return openContainedForRead(directory, way);
  throw forbidden(
    `${file}: it is outside of the configs folder ${directory}; put it there, or start the server with --local`,
  );
}
