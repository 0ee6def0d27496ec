// Where koffi, the foreign function interface, comes from: out of the executable, or, run from source, from its npm package.

import { createRequire } from 'node:module';
import { loadAddon } from './addons.ts';
import { isPackaged } from './assets.ts';

export type Koffi = typeof import('koffi');

/** Loads koffi, in the main thread or in a worker. It costs memory: ask for it only where it is used. */
export function loadKoffi(): Koffi {
  return (isPackaged() ? loadAddon('koffi.node') : createRequire(import.meta.url)('koffi')) as Koffi;
}
