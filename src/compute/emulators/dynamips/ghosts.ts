// Memory shared by the routers of one project and image: a file of the project that each router maps, and copies where
// it writes.
import { rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf } from '../../../failures.ts';
import { namesIn } from '../../../host/files/directories.ts';
import { log } from '../../../host/log.ts';
import { KeyedLock } from '../../../host/values/keyed-lock.ts';
import type { Image } from '../../images/references.ts';
import { makeGhost } from './machine.ts';
import type { RouterRuntime } from './runtime.ts';
import type { RouterSetup } from './settings.ts';

/** Lists of a project's files leave these out. */
const SUFFIX = '.ghost';

const making = new KeyedLock();

/**
 * The file for a router, created with its own emulator if missing; undefined (and logged) if that fails.
 * @param directory of the nodes, which contains the files
 * @returns the path relative to the node's directory
 */
export async function ghostOf(
  runtime: RouterRuntime,
  directory: string,
  { platform, chassis, settings }: RouterSetup,
  image: Image,
): Promise<string | undefined> {
  // Other content gets another file: a running router still uses the old one.
  const name = `${basename(image.path)}-${(image.md5sum ?? '').slice(0, 8)}-${settings.ram}${SUFFIX}`;
  const path = join(directory, name);
  return making.run(path, async () => {
    if (await isThere(path)) return `../${name}`;
    const unfinished = `.making-${name}`;
    try {
      await rm(join(directory, unfinished), { force: true });
      const file = `../${unfinished}`;
      const options = { platform: platform.name, chassis, image: image.path, ram: settings.ram, file };
      await makeGhost(runtime.hypervisor, options);
      await rename(join(directory, unfinished), path);
      return `../${name}`;
    } catch (error) {
      log.warn('routers do not share memory', { image: image.path, reason: messageOf(error) });
      await rm(join(directory, unfinished), { force: true });
      return undefined;
    }
  });
}

/** Removes the shared memory in the routers' directory of a project. */
export async function removeGhosts(directory: string): Promise<void> {
  for (const name of await namesIn(directory)) {
    if (name.endsWith(SUFFIX)) await rm(join(directory, name), { force: true });
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
