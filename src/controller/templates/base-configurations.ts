// Installs the configurations that templates name in the configs directory at start; existing files are never replaced (as in release 2.2.57).
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf } from '../../failures.ts';
import { asset, assetNames } from '../../host/files/assets.ts';
import { writeFileAtomically } from '../../host/files/atomic-file.ts';
import { exists } from '../../host/files/exists.ts';
import { removeLeftoversBelow } from '../../host/files/leftovers.ts';
import { log } from '../../host/log.ts';

/**
 * Adds missing files. If the directory is not writable the server starts all the same: nodes then begin without
 * configuration.
 */
export async function installBaseConfigurations(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true });
    await removeLeftoversBelow(directory, Date.now() - performance.now());
    await Promise.all(
      assetNames('configs').map(async (name) => {
        const path = join(directory, basename(name));
        if (!(await exists(path))) await writeFileAtomically(path, asset(name)!);
      }),
    );
  } catch (thrown) {
    log.warn('base configurations not installed: make the directory writable, or choose another by configs_path', {
      directory,
      reason: messageOf(thrown),
    });
  }
}
