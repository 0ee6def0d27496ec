// Loads koffi, the foreign function interface, from the executable or, run from source, from its npm package.

import { createRequire } from 'node:module';
import { isPackaged } from '../files/assets.ts';
import { loadAddon } from '../processes/addons.ts';

export type Koffi = typeof import('koffi');

/** Stack of calls made in another thread: they may look up names, for which the usual 128 KiB are too small. */
const ASYNC_STACK_BYTES = 1024 * 1024;

let loaded: Koffi | undefined;

/** Loads koffi, in the main thread or in a worker. It takes memory, so load it only where it is used. */
export function loadKoffi(): Koffi {
  if (loaded === undefined) {
    loaded = (isPackaged() ? loadAddon('koffi.node') : createRequire(import.meta.url)('koffi')) as Koffi;
    loaded.config({ async_stack_size: ASYNC_STACK_BYTES });
  }
  return loaded;
}
