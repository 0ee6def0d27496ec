// Compiles the native addons (node-pty, sqlite3, and our own frame loop) into native/<architecture>/ against the headers that come with the pinned
// Node, and puts them where the packages look for them when the sources run unpacked. Nothing is downloaded for this machine.
//   node bin/addons.mjs            for this machine
//   node bin/addons.mjs arm64      cross-compiled (Debian: g++-aarch64-linux-gnu)
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..');
const modules = join(root, 'node_modules');

/** Addons that are compiled here: the file's name -> the directory that holds its source. */
const COMPILED = {
  'node_sqlite3.node': join(modules, 'sqlite3'),
  'pty.node': join(modules, 'node-pty'),
  'frame_loop.node': join(root, 'addons/frame-loop'),
};

/** Prefix of the binutils and compilers for `arch`; empty on a machine of that architecture. */
export function toolPrefix(arch) {
  if (arch === process.arch) return '';
  if (arch === 'arm64') return 'aarch64-linux-gnu-';
  if (arch === 'x64') return 'x86_64-linux-gnu-';
  throw new Error(`cannot build for ${arch}: the targets are linux-x64 and linux-arm64`);
}

/**
 * Directory of the package `name` for `arch`. npm installs only what fits this machine, so the other architecture's package is
 * fetched here as npm would: the version and the hash are those of package-lock.json.
 */
export function packageFor(name, arch) {
  const installed = join(modules, name);
  if (existsSync(installed)) return installed;
  const { version, integrity } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages[
    `node_modules/${name}`
  ];
  const place = join(root, 'native', arch, 'packages', `${name.replace('/', '+')}-${version}`);
  if (existsSync(place)) return place;
  const unpacked = `${place}.new`;
  rmSync(unpacked, { recursive: true, force: true });
  mkdirSync(unpacked, { recursive: true });
  const archive = execFileSync('npm', ['pack', '--silent', '--pack-destination', unpacked, `${name}@${version}`], {
    cwd: root,
    encoding: 'utf8',
  }).trim();
  const hash = createHash('sha512')
    .update(readFileSync(join(unpacked, archive)))
    .digest('base64');
  if (`sha512-${hash}` !== integrity)
    throw new Error(`${archive} is not the package of package-lock.json: sha512-${hash}, expected ${integrity}`);
  execFileSync('tar', ['xzf', archive, '--strip-components=1'], { cwd: unpacked });
  rmSync(join(unpacked, archive));
  renameSync(unpacked, place);
  return place;
}

/** What an addon's bytes depend on; a change of any of it makes a new build. */
function stampOf(source, compiler) {
  const release = execFileSync(compiler, ['-dumpfullversion'], { encoding: 'utf8' }).trim();
  return `${versionOf(source)} Node ${process.version} ${compiler} ${release}\n`;
}

/** Version of a package; of sources of our own, which have none, what is in them. */
function versionOf(source) {
  const manifest = join(source, 'package.json');
  if (existsSync(manifest)) return JSON.parse(readFileSync(manifest, 'utf8')).version;
  const hash = createHash('sha256');
  for (const file of readdirSync(source).sort()) hash.update(`${file}\0`).update(readFileSync(join(source, file)));
  return hash.digest('hex');
}

async function compile(file, source, arch, out) {
  const work = join(root, 'native', arch, 'work', file);
  rmSync(work, { recursive: true, force: true });
  // In a copy: a build in the package itself could be watched half done by whoever runs the sources at that moment.
  cpSync(source, work, {
    recursive: true,
    filter: (path) => !['build', 'prebuilds', 'third_party'].includes(relative(source, path).split(sep)[0]),
  });
  const prefix = toolPrefix(arch);
  const tools = prefix ? { CC: `${prefix}gcc`, CXX: `${prefix}g++`, AR: `${prefix}ar` } : {};
  // By environment, not by flag: node-gyp lets npm_config_* (say, nodedir= in somebody's ~/.npmrc) win over its own flags.
  // Node-API headers are the same for every architecture.
  const env = {
    ...process.env,
    ...tools,
    npm_config_nodedir: join(modules, `node-linux-${process.arch}`),
    npm_config_arch: arch,
  };
  const command = [join(modules, 'node-gyp/bin/node-gyp.js'), 'rebuild', '-j', 'max', '--silent'];
  try {
    await promisify(execFile)(process.execPath, command, { cwd: work, env, maxBuffer: 2 ** 26 });
  } catch (thrown) {
    throw new Error(`${file} does not compile:\n${thrown.stdout}${thrown.stderr || thrown.message}`);
  }
  copyFileSync(join(work, 'build/Release', file), `${out}.new`);
  execFileSync(`${prefix}strip`, ['--strip-unneeded', `${out}.new`]);
  chmodSync(`${out}.new`, 0o755);
  renameSync(`${out}.new`, out);
  rmSync(work, { recursive: true, force: true });
}

/** @returns the file's place in native/<architecture>/ */
async function buildAddon(file, source, arch) {
  const compiler = `${toolPrefix(arch)}g++`;
  const out = join(root, 'native', arch, file);
  const stamp = stampOf(source, compiler);
  if (!existsSync(out) || !existsSync(`${out}.stamp`) || readFileSync(`${out}.stamp`, 'utf8') !== stamp) {
    process.stdout.write(`compiling ${file} for ${arch}\n`);
    await compile(file, source, arch, out);
    writeFileSync(`${out}.stamp`, stamp);
  }
  // Ours is loaded from where it was compiled (src/host/network/frame-loop.ts).
  if (arch === process.arch && source.startsWith(modules)) {
    const place = join(source, 'build/Release', file);
    if (!existsSync(place) || !readFileSync(place).equals(readFileSync(out))) {
      mkdirSync(dirname(place), { recursive: true });
      copyFileSync(out, `${place}.new`);
      renameSync(`${place}.new`, place);
    }
  }
  return out;
}

/** Compiles what is missing or out of date; gives the files by the name under which the loader asks for them. */
export async function buildAddons(arch) {
  mkdirSync(join(root, 'native', arch), { recursive: true });
  // Side by side: most of the time is one file of SQLite, which keeps one processor busy.
  const built = Object.entries(COMPILED).map(async ([file, source]) => [file, await buildAddon(file, source, arch)]);
  const files = Object.fromEntries(await Promise.all(built));
  // koffi ships its addon ready-made.
  files['koffi.node'] = join(packageFor(`@koromix/koffi-linux-${arch}`, arch), `linux_${arch}`, 'koffi.node');
  return files;
}

if (process.argv[1] === import.meta.filename) await buildAddons(process.argv[2] ?? process.arch);
