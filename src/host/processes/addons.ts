// Native addons out of the packed executable. (Run from source, the packages find their own addons.)
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, constants as osConstants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { Failure, messageOf } from '../../failures.ts';
import { embedded } from '../files/assets.ts';

/** Worker threads inherit what is set under this key (node:worker_threads, environment data). */
const DIRECTORY = 'labwire.addon-directory';

const loaded = new Map<string, unknown>();

/** Names the directory that is tried first (`LABWIRE_ADDON_DIR`); to be called before the first addon is loaded. */
export function useAddonDirectory(directory: string): void {
  setEnvironmentData(DIRECTORY, directory);
}

/** The directory that is tried first: the one that was named, or that did for an addon before. */
export function addonDirectory(): string | undefined {
  const chosen = getEnvironmentData(DIRECTORY);
  return typeof chosen === 'string' && chosen !== '' ? chosen : undefined;
}

/** The directories in which an addon may be put down, in the order of trying. */
function places(): string[] {
  const chosen = addonDirectory();
  const first = chosen === undefined ? [] : [chosen];
  return [...new Set([...first, tmpdir(), '/dev/shm', '/var/tmp', homedir()])];
}

/**
 * Loads the addon `name` (such as `pty.node`) out of the executable and gives its exports.
 *
 * The dynamic loader wants a file, so the bytes go into a fresh directory that only this user can enter, are loaded, and are
 * removed at once: nothing stays behind, and no other user can put something else in their place. The first place that can
 * be written and is not mounted noexec is used.
 */
export function loadAddon(name: string): unknown {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const bytes = embedded(`addons/${name}`);
  if (bytes === undefined) throw new Failure('internal', `this executable holds no addon '${name}'`);
  const refusals: string[] = [];
  for (const place of places()) {
    let directory: string | undefined;
    try {
      directory = mkdtempSync(join(place, '.labwired-'));
      const file = join(directory, name);
      writeFileSync(file, bytes, { mode: 0o500, flag: 'wx' });
      const module = { exports: {} };
      process.dlopen(module, file, osConstants.dlopen.RTLD_NOW);
      loaded.set(name, module.exports);
      // What did for one addon does for the next.
      useAddonDirectory(place);
      return module.exports;
    } catch (error) {
      refusals.push(`${place}: ${messageOf(error).split('\n', 1)[0]}`);
    } finally {
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    }
  }
  throw new Failure(
    'unavailable',
    `no place to load ${name} from; set LABWIRE_ADDON_DIR to a directory that can be written and is not mounted noexec (${refusals.join('; ')})`,
  );
}
