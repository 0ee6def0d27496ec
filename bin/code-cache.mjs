// The cache of compiled code that one script of the executable gets:
//   node --random-seed=1 --predictable bin/code-cache.mjs make SCRIPT CACHE ASSETS.json [evaluate]
//   node bin/code-cache.mjs check SCRIPT CACHE      fails if V8 does not take it
//
// With a fixed seed V8 gives the same bytes each time, and takes them in a process without one. Without --predictable, threads that
// collect garbage on a busy machine sometimes set other bits in them. With `evaluate` the script is run and what it exports as
// `evaluate` is called first: what V8 compiled on the way is in the cache, too.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants, Script } from 'node:vm';

const [, , verb, file, cache, assetList, evaluate] = process.argv;

/** The module node:sea as the executable has it. */
function seaOf(assets) {
  return {
    isSea: () => true,
    getAssetKeys: () => Object.keys(assets),
    getRawAsset: (key) => new Uint8Array(readFileSync(assets[key])).buffer,
  };
}

function compile(cachedData) {
  return new Script(readFileSync(file, 'latin1'), {
    filename: 'script.cjs',
    cachedData,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
}

if (verb === 'check') {
  if (compile(readFileSync(cache)).cachedDataRejected) throw new Error(`V8 does not take the compiled code of ${file}`);
} else {
  const script = compile();
  if (evaluate !== undefined) {
    const sea = seaOf(JSON.parse(readFileSync(assetList, 'utf8')));
    const real = createRequire(import.meta.url);
    const required = (name) => (name === 'node:sea' ? sea : real(name));
    process.argv.splice(2, Number.POSITIVE_INFINITY, 'version');
    const module = { exports: {} };
    script.runInThisContext()(module.exports, required, module, process.execPath, '/');
    await module.exports.evaluate();
  }
  writeFileSync(cache, script.createCachedData());
  process.exit(); // whatever was evaluated may hold something open
}
