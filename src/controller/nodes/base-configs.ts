// Base configurations: properties that name a file whose text goes to the compute (interface of release 2.2.57, section 15.5).
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Failure, type FailureCode } from '../../failures.ts';
import { fileFailure } from '../../host/atomic-file.ts';

/** Property that names a file -> property that carries its text. */
const FILES = {
  base_script_file: 'startup_script',
  startup_config: 'startup_config_content',
  private_config: 'private_config_content',
} as const;

const LEFT_OUT: readonly FailureCode[] = ['not-found', 'forbidden', 'conflict'];

/**
 * Takes the file names out of a node's properties and gives what the compute is sent instead; a file that cannot be read is left out.
 * Relative names stand below `directory`.
 */
export async function takeBaseConfigs(
  properties: Record<string, unknown>,
  directory: string,
): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [name, carrier] of Object.entries(FILES)) {
    const file = properties[name];
    if (!(name in properties)) continue;
    delete properties[name];
    if (typeof file !== 'string' || file === '') continue;
    const text = await readFile(resolve(directory, file), 'utf8').catch((error: unknown) => {
      const failure = fileFailure(error, `${name}: ${file}`);
      // What is wrong with the name leaves the file out; what is wrong with the host does not make a node without its configuration.
      if (failure instanceof Failure && LEFT_OUT.includes(failure.code)) return undefined;
      throw failure;
    });
    if (text !== undefined) texts[carrier] = text;
  }
  return texts;
}
