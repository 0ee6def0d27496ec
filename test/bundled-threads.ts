// Loaded before each file of tests: threads of the server start from bundled scripts, as in the executable. From the sources each start would
// load 60 files, and Node would strip their types by a WebAssembly module: that takes three times as long, and a file hung once,
// probably while several threads compiled the module.
import { globSync, readFileSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import workerThreads, { type WorkerOptions } from 'node:worker_threads';
import type { Plugin } from 'esbuild';

/** Names the directory of the scripts to the processes of a run. */
const DIRECTORY = 'LABWIRE_TEST_THREADS';
const root = join(import.meta.dirname, '..');
const sources = join(root, 'src');

/** Where this process bundles them, also after own-network.ts has begun it anew, which keeps its number. */
const own = join(root, `dist/test/threads-${process.pid}`);

/** Files find addons and assets from where they are in the sources. */
const places: Plugin = {
  name: 'places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({
      loader: 'ts',
      contents: readFileSync(path, 'utf8')
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
    })),
};

/** Bundles the scripts of all threads for this process and those that it starts. */
async function bundleThreads(): Promise<string> {
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: root,
    entryPoints: globSync('src/!(web)/**/*worker.ts', { cwd: root }),
    outbase: sources,
    outdir: own,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node24',
    format: 'esm',
    logLevel: 'warning',
    plugins: [places],
  });
  return own;
}

process.env[DIRECTORY] ??= await bundleThreads();
const directory = process.env[DIRECTORY];
if (directory === own) process.on('exit', () => rmSync(own, { recursive: true, force: true }));

workerThreads.Worker = class extends workerThreads.Worker {
  constructor(script: string | URL, options?: WorkerOptions) {
    const place = script instanceof URL && script.protocol === 'file:' ? relative(sources, fileURLToPath(script)) : '';
    super(/^[^.].*worker\.ts$/.test(place) ? join(directory, place.replace(/\.ts$/, '.mjs')) : script, options);
  }
};
syncBuiltinESMExports();
