// Runs a script of the executable with V8's code cache from the build, so that a start need not compile.
import { createRequire } from 'node:module';
import { constants, Script } from 'node:vm';
import { embedded, isPackaged } from '../files/assets.ts';

/**
 * Runs the script that build.mjs packs as `scripts/<name>.cjs`, in the main thread or a worker, and returns its
 * exports. V8 checks that `scripts/<name>.cache` matches the script, version and flags; otherwise the script is
 * compiled as usual.
 */
export function runCompiled(name: string): unknown {
  const script = new Script(embedded(`scripts/${name}.cjs`)?.toString('latin1') ?? '', {
    filename: `${name}.cjs`,
    cachedData: embedded(`scripts/${name}.cache`),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const module = { exports: {} };
  const path = process.execPath;
  script.runInThisContext()(module.exports, createRequire(path), module, path, '/');
  return module.exports;
}

/** The exports of a script that only some processes need; `source` is its entry when the sources run unpacked. */
export async function loadScript(name: string, source: URL): Promise<unknown> {
  return isPackaged() ? runCompiled(name) : import(source.href);
}
