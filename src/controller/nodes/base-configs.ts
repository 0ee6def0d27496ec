// Base configurations: properties that name a file whose text goes to the compute.
import { isAbsolute, normalize } from 'node:path';
import { Failure, type FailureCode } from '../../failures.ts';
import { openContainedForRead } from '../../host/files/contained-files.ts';
import { openRegularFile, readBounded } from '../../host/files/regular-file.ts';
import { wayBelow } from '../../host/files/relative-path.ts';
import { log } from '../../host/log.ts';

/** Property that names a file -> property that carries its text. */
const FILES = {
  base_script_file: 'startup_script',
  startup_config: 'startup_config_content',
  private_config: 'private_config_content',
} as const;

/** More than the NVRAM of any router holds. */
const LARGEST_BYTES = 1024 * 1024;

const LEFT_OUT: readonly FailureCode[] = ['not-found', 'forbidden', 'conflict', 'too-large'];

export interface ConfigsPlace {
  /** The configs folder: what is named by a relative path, or by an absolute one that leads into it. */
  directory: string;
  /** Local mode: absolute paths may lead anywhere on this host. */
  local: boolean;
}

/**
 * Takes the file names out of a node's properties and gives what the compute is sent instead. A file that is elsewhere, that is no regular
 * one, that is too long or that cannot be read is left out, and the log says why: a lab opens without it.
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
      // What is wrong with the name leaves the file out; what is wrong with the host does not make a node without its configuration.
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
  const way = wayBelow(directory, normalize(file));
  if (way !== undefined) return openContainedForRead(directory, way);
  throw new Failure(
    'forbidden',
    `${file}: it is outside of the configs folder ${directory}; put it there, or start the server with --local`,
  );
}
