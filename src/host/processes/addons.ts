// Loads native addons from the packed executable. (Run from source, packages find their own addons.)
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, constants as osConstants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { internal, messageOf, unavailable } from '../../failures.ts';
import { embedded } from '../files/assets.ts';

/** Worker threads inherit the value of this key (node:worker_threads, environment data). */
const DIRECTORY = 'labwire.addon-directory';

const loaded = new Map<string, unknown>();

/** Sets the directory that is tried first (`LABWIRE_ADDON_DIR`). Call this before the first addon is loaded. */
export function useAddonDirectory(directory: string): void {
  setEnvironmentData(DIRECTORY, directory);
}

/** The directory that is tried first: the configured one, or the one that worked before. */
export function addonDirectory(): string | undefined {
  const chosen = getEnvironmentData(DIRECTORY);
  return typeof chosen === 'string' && chosen !== '' ? chosen : undefined;
}

/** The directories in which an addon may be stored, in the order of trying. */
function places(): string[] {
  const chosen = addonDirectory();
  const first = chosen === undefined ? [] : [chosen];
  return [...new Set([...first, tmpdir(), '/dev/shm', '/var/tmp', homedir()])];
}

/**
 * Loads the addon `name` (such as `pty.node`) from the executable and returns its exports.
 *
 * The dynamic loader needs a file. So the bytes go into a new directory that only this user can enter, are loaded, and
 * are removed at once: no file stays, and other users cannot replace it. The first place that is writable and not
 * mounted noexec is used.
 */
export function loadAddon(name: string): unknown {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const bytes = embedded(`addons/${name}`);
  if (bytes === undefined) throw internal(`this executable holds no addon '${name}'`);
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
      // Use the same place for the next addon.
      useAddonDirectory(place);
      return module.exports;
    } catch (error) {
      refusals.push(`${place}: ${messageOf(error).split('\n', 1)[0]}`);
    } finally {
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    }
  }
  throw unavailable(
    `no place to load ${name} from; set LABWIRE_ADDON_DIR to a directory that can be written and is not mounted noexec (${refusals.join('; ')})`,
  );
}
