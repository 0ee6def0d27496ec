// Packs the daemon into one executable: node build.mjs [--target linux-x64|linux-arm64] [--out FILE] [--entry FILE]
//
// esbuild makes one script of src/main.ts, one of the supervisor and one of each worker, and V8 what it compiles them to;
// @yao-pkg/pkg in SEA mode puts scripts, addons and static files into a copy of the pinned Node. Two builds of the same sources
// give the same bytes, wherever they are made.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { buildAddons, packageFor, toolPrefix } from './bin/addons.mjs';
import { bundleWeb, LARGEST_GZIP_BYTES, LARGEST_SHELL_GZIP_BYTES } from './bin/web.mjs';

const root = import.meta.dirname;
const own = `linux-${process.arch}`;
const SERVER = join(root, 'src/main.ts');
const { values: options } = parseArgs({
  options: {
    target: { type: 'string', default: own },
    out: { type: 'string' },
    entry: { type: 'string', default: SERVER },
  },
});
const arch = options.target.replace(/^linux-/, '');
const out = resolve(
  options.out ?? join(root, 'dist', options.target === own ? 'labwired' : `labwired-${options.target}`),
);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Scripts beside the one of the entry: the supervisor's, the client's, the cluster's, and those of threads, as src/host/processes/worker-threads.ts asks for them. */
const SCRIPTS = {
  supervisor: 'src/start/supervise.ts',
  client: 'src/client/main.ts',
  cluster: 'src/cluster/main.ts',
  fabric: 'src/fabric/worker.ts',
  checksum: 'src/host/files/checksum-worker.ts',
  decoding: 'src/store/archive/decoding-worker.ts',
  'audit-merge': 'src/store/audit-merge-worker.ts',
  'lab-text': 'src/store/topology/lab-text-worker.ts',
  'topology-parsing': 'src/store/topology/parsing-worker.ts',
};

const WASM = ['node-liblzma/wasm/liblzma.wasm'];

/** A small nursery: 5 MB less of a daemon that mostly idles, for collections that are short but more frequent under load. */
const V8_OPTIONS = ['--max-semi-space-size=1'];

/** The packages that look for their addon on disk are handed our loader instead. */
const addonPlugin = {
  name: 'addons',
  setup(bundler) {
    const loader = JSON.stringify(join(root, 'src/host/processes/addons.ts'));
    const virtual = (contents) => () => ({ resolveDir: root, contents });
    for (const name of ['bindings', 'koffi'])
      bundler.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: name, namespace: 'addon' }));
    bundler.onLoad(
      { filter: /^bindings$/, namespace: 'addon' }, // sqlite3
      virtual(`module.exports = require(${loader}).loadAddon;`),
    );
    bundler.onLoad(
      { filter: /^koffi$/, namespace: 'addon' },
      virtual(`module.exports = require(${loader}).loadAddon('koffi.node');`),
    );
    bundler.onLoad(
      { filter: /node-pty\/lib\/utils\.js$/ },
      virtual(`exports.assign = Object.assign;
        exports.loadNativeModule = (name) => ({ dir: '', module: require(${loader}).loadAddon(name + '.node') });`),
    );
    bundler.onLoad({ filter: /node-pty\/lib\/windowsTerminal\.js$/ }, virtual(''));
  },
};

/** The HTTP adaptor asks of each request whether it came by HTTP/2, which is not spoken here: Node's part for it need not be read. */
const withoutHttp2 = {
  name: 'without-http2',
  setup(bundler) {
    bundler.onResolve({ filter: /^node:http2$/ }, ({ importer }) =>
      /node_modules\/@hono\/node-server\//.test(importer) ? { path: 'http2', namespace: 'without-http2' } : undefined,
    );
    const contents = 'export class Http2ServerRequest {} export const constants = {};';
    bundler.onLoad({ filter: /^http2$/, namespace: 'without-http2' }, () => ({ contents }));
  },
};

/** How scripts of the executable are bundled, each with all that it imports, as CommonJS. */
const BUNDLE = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  // V8 keeps the source: without comments and indentation it is a third smaller, and without a character beyond Latin-1,
  // which comments have, half of that. Names stay, so that traces can be read.
  charset: 'ascii',
  minifyWhitespace: true,
  lineLimit: 160,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  plugins: [addonPlugin, withoutHttp2],
  define: {
    LABWIRE_VERSION: JSON.stringify(version),
    'import.meta.dirname': '__dirname',
    'import.meta.filename': '__filename',
    'import.meta.url': 'bundleUrl',
    // ws does without these two addons, which are not here.
    'process.env.WS_NO_BUFFER_UTIL': '"1"',
    'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
  },
};

/** Bundles `entry` as src/host/processes/compiled-script.ts calls it, and gives the paths of what went in. */
async function bundle(entry, outfile) {
  const { metafile } = await build({
    ...BUNDLE,
    entryPoints: [resolve(entry)],
    outfile,
    banner: {
      js: "(function(exports,require,module,__filename,__dirname){const bundleUrl = require('node:url').pathToFileURL(__filename).href;",
    },
    footer: { js: '})' },
  });
  return Object.keys(metafile.inputs);
}

/** The script that the executable and each thread begin with: it does nothing but run another one. */
async function starter(outfile) {
  await build({ ...BUNDLE, entryPoints: [join(root, 'src/start/starter.ts')], outfile });
}

/**
 * What V8 makes of a script, for the same Node on the same kind of processor; elsewhere V8 refuses it and compiles. With a
 * fixed seed, and without threads beside the one that compiles, two builds give the same bytes.
 */
function codeCache([program, ...before], script, cache, list, words) {
  const tool = join(root, 'bin/code-cache.mjs');
  // Node does other things first with other variables, or on a terminal, and counts the functions: always the same here.
  const run = (...parts) =>
    execFileSync(program, [...before, ...parts], { env: {}, stdio: ['ignore', 'ignore', 'pipe'] });
  run('--random-seed=1', '--predictable', tool, 'make', script, cache, list, ...words);
  run(...V8_OPTIONS, tool, 'check', script, cache);
}

/** Words that run the Node of the target here; undefined where that is of another architecture, which nothing here emulates. */
function nodeOfTarget(nodePackage) {
  if (options.target === own) return [process.execPath];
  const machine = arch === 'arm64' ? 'aarch64' : 'x86_64';
  // The libraries are those of the cross compiler.
  const words = [`qemu-${machine}-static`, '-L', `/usr/${machine}-linux-gnu`, join(nodePackage, 'bin/node')];
  const { stdout } = spawnSync(words[0], [...words.slice(1), '--version'], { encoding: 'utf8' });
  return stdout?.trim() === process.version ? words : undefined;
}

/** The licences of everything that is inside the executable. */
function licences(inputs, nodePackage) {
  const folders = new Set(['node_modules/koffi']);
  for (const path of inputs) {
    const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0];
    if (folder !== undefined) folders.add(folder);
  }
  const texts = [['Labwire', join(root, 'LICENSE')]];
  for (const folder of [...folders].sort()) {
    const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry));
    texts.push([`${manifest.name} ${manifest.version} (${manifest.license})`, file && join(root, folder, file)]);
  }
  texts.push([`Node.js ${process.version}`, join(nodePackage, 'LICENSE')]);
  const line = '='.repeat(100);
  return texts
    .map(([title, file]) => `${line}\n${title}\n${line}\n\n${file ? readFileSync(file, 'utf8').trim() : ''}\n`)
    .join('\n');
}

/** The page's files, gzipped, by the name under which src/pages asks for them. Gzip writes no date: builds stay equal. */
async function webFiles(place, inputs) {
  const web = await bundleWeb();
  inputs.push(...web.inputs);
  const assets = {};
  let shell = 0;
  for (const [name, content] of web.files) {
    const packed = gzipSync(content, { level: 9 });
    if (web.shell.includes(name)) shell += packed.length;
    const [start, limit] = Object.entries(LARGEST_GZIP_BYTES).find(([start]) => name.includes(start)) ?? ['', Infinity];
    if (packed.length > limit)
      throw new Error(`${name} has ${packed.length} bytes; ${start} may have ${limit} (bin/web.mjs)`);
    const file = join(place, `${name.replaceAll('/', '-')}.gz`);
    writeFileSync(file, packed);
    assets[`web/${name}.gz`] = file;
  }
  if (shell > LARGEST_SHELL_GZIP_BYTES)
    throw new Error(`the list of labs has ${shell} bytes; it may have ${LARGEST_SHELL_GZIP_BYTES} (bin/web.mjs)`);
  return assets;
}

/** Static files, by the name under which src/host/files/assets.ts asks for them. */
function staticFiles() {
  const folder = join(root, 'src/assets');
  if (!existsSync(folder)) return {};
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [`assets/${relative(folder, file)}`, file]),
  );
}

/** Modules of packages in WebAssembly, as src/host/files/assets.ts asks for them. */
function wasmFiles() {
  const { resolve: find } = createRequire(import.meta.url);
  return Object.fromEntries(WASM.map((specifier) => [`wasm/${specifier}`, find(specifier)]));
}

/** README.md and the documents, in one file, as src/help/documents.ts reads it. */
function documents(place) {
  const names = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  const files = [['readme', 'README.md'], ...names.map((name) => [name.slice(0, -3), `docs/${name}`])];
  const texts = Object.fromEntries(files.map(([topic, path]) => [topic, readFileSync(join(root, path), 'utf8')]));
  const file = join(place, 'documents.json.br');
  writeFileSync(file, brotliCompressSync(JSON.stringify(texts)));
  return { 'documents.json.br': file };
}

/**
 * Puts Node where pkg looks for it before it downloads; the empty *.ok files say that what is there is complete. Without its
 * symbol and debug sections, which is 18 MB less: only before the blob goes in, afterwards it would break the file.
 */
function fillCache(home, nodePackage) {
  const folder = join(home, '.pkg-cache/sea', `node-${process.version}-${options.target}`);
  const base = join(folder, 'bin/node');
  mkdirSync(dirname(base), { recursive: true });
  execFileSync(`${toolPrefix(arch)}strip`, ['--strip-all', '-o', base, join(nodePackage, 'bin/node')]);
  chmodSync(base, 0o755);
  for (const mark of [`${folder}.tar.gz`, `${folder}.tar.gz.ok`, `${base}.ok`]) writeFileSync(mark, '');
}

/**
 * Node records the path of its script in the executable. So the script is handed over in a directory with a name of constant
 * length, and that name is then replaced by a constant one, or no two builds would be equal.
 */
function forgetPlace(file, place) {
  const bytes = readFileSync(file);
  const constant = Buffer.from(place.replace(/[^/]{6}$/, '000000'));
  let found = 0;
  for (let at = bytes.indexOf(place); at !== -1; at = bytes.indexOf(place, at + 1), found++) constant.copy(bytes, at);
  if (found === 0) throw new Error(`${file} does not name ${place}: is it not built by this version of pkg?`);
  writeFileSync(file, bytes);
}

/** pkg's SEA mode, with the Node that npm has brought. */
async function pack(place, script, assets, nodePackage) {
  // Not by pkg's command line: that takes static files only together with its own layer over node:fs, which would then stand
  // between the daemon and every file, and lets NODE_OPTIONS act on the executable.
  const { default: sea } = createRequire(import.meta.url)('@yao-pkg/pkg/lib-es5/sea.js');
  const fresh = `${out}.new`;
  try {
    process.env.HOME = join(place, 'home');
    fillCache(process.env.HOME, nodePackage);
    await sea(script, {
      targets: [{ nodeRange: `node${process.versions.node}`, platform: 'linux', arch, output: fresh }],
      seaConfig: { assets, execArgvExtension: 'none', execArgv: V8_OPTIONS },
    });
    forgetPlace(fresh, place);
    chmodSync(fresh, 0o755);
    renameSync(fresh, out); // a running daemon keeps the file that it was started from
  } finally {
    rmSync(fresh, { force: true });
  }
}

const nodePackage = packageFor(`node-${options.target}`, arch);
const nodeVersion = JSON.parse(readFileSync(join(nodePackage, 'package.json'), 'utf8')).version;
if (`v${nodeVersion}` !== process.version)
  throw new Error(
    `run by Node ${process.version}, packs v${nodeVersion}: use 'npm run build', which runs on the pinned one`,
  );
const addons = Object.entries(await buildAddons(arch)).map(([name, file]) => [`addons/${name}`, file]);
const place = mkdtempSync('/tmp/labwired-build-');
try {
  const inputs = [];
  const scripts = { program: options.entry };
  for (const [name, source] of Object.entries(SCRIPTS)) scripts[name] = join(root, source);
  const assets = {
    ...Object.fromEntries(addons),
    ...staticFiles(),
    ...wasmFiles(),
    ...documents(place),
    ...(await webFiles(place, inputs)),
  };
  for (const [name, source] of Object.entries(scripts)) {
    const script = join(place, `${name}.cjs`);
    inputs.push(...(await bundle(source, script)));
    assets[`scripts/${name}.cjs`] = script;
  }
  const texts = licences(inputs, nodePackage);
  const shown = join(place, 'licences.txt.gz');
  writeFileSync(shown, gzipSync(texts, { level: 9 }));
  assets['web/assets/licences.txt.gz'] = shown;
  const list = join(place, 'assets.json');
  writeFileSync(list, JSON.stringify(assets));
  const node = nodeOfTarget(nodePackage);
  if (node === undefined)
    process.stdout.write(
      `without compiled code, as qemu-user-static is not here to make it for ${arch}: starts take longer\n`,
    );
  for (const name of node ? Object.keys(scripts) : []) {
    const cache = join(place, `${name}.cache`);
    const isServer = name === 'program' && options.entry === SERVER;
    codeCache(node, assets[`scripts/${name}.cjs`], cache, list, isServer ? ['evaluate'] : []);
    assets[`scripts/${name}.cache`] = cache;
  }
  const script = join(place, 'labwired.cjs');
  await starter(script);
  assets['scripts/starter.cjs'] = script;
  mkdirSync(dirname(out), { recursive: true });
  await pack(place, script, Object.fromEntries(Object.entries(assets).sort()), nodePackage);
  writeFileSync(`${out}.licenses`, texts);
} finally {
  rmSync(place, { recursive: true, force: true });
}
process.stdout.write(`${relative(process.cwd(), out)}: Labwire ${version} for ${options.target}\n`);
