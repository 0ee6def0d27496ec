// Static files (symbols, base configurations, pages): from src/assets when the sources run unpacked, from the executable's own
// image when packed.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import sea from 'node:sea';
import { systemCode } from '../../failures.ts';

/** Where the files are when the sources run unpacked. */
const SOURCES = join(import.meta.dirname, '../../assets');

/** Whether this process is the packed executable; true in its worker threads as well. */
export function isPackaged(): boolean {
  return sea.isSea();
}

/**
 * Returns the file that build.mjs stored in the executable as `key`: `addons/<file>`, `assets/<path>`,
 * `scripts/<name>.cjs`, `wasm/<package>/<path>`. The buffer is the executable's image itself, not a copy, so it is
 * read-only.
 */
export function embedded(key: string): Buffer | undefined {
  try {
    return Buffer.from(sea.getRawAsset(key) as ArrayBuffer);
  } catch (error) {
    if (systemCode(error) === 'ERR_SINGLE_EXECUTABLE_APPLICATION_ASSET_NOT_FOUND') return undefined;
    throw error;
  }
}

/** Content of `src/assets/<name>` (such as `symbols/computer.svg`), or undefined if the file does not exist. */
export function asset(name: string): Buffer<ArrayBuffer> | undefined {
  // Packed names are a closed list, but paths on disk are not: reject every name with `..`.
  if (name.split('/').includes('..')) return undefined;
  if (isPackaged()) {
    const image = embedded(`assets/${name}`);
    return image && Buffer.from(image); // a copy that the caller may change
  }
  try {
    return readFileSync(join(SOURCES, name));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}

/** A WebAssembly module of a package, such as `node-liblzma/wasm/liblzma.wasm`; build.mjs packs it. */
export function wasmFile(specifier: string): Buffer {
  const packed = isPackaged() ? embedded(`wasm/${specifier}`) : undefined;
  return packed ? Buffer.from(packed) : readFileSync(createRequire(import.meta.url).resolve(specifier));
}

/** Names of all static files below `folder` (such as `symbols`), sorted, as `asset()` takes them. */
export function assetNames(folder: string): string[] {
  const names = isPackaged()
    ? sea
        .getAssetKeys()
        // biome-ignore lint/plugin: names of assets, no paths
        .filter((key) => key.startsWith(`assets/${folder}/`))
        .map((key) => key.slice('assets/'.length))
    : readdirSync(join(SOURCES, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(SOURCES, join(entry.parentPath, entry.name)));
  return names.sort();
}
