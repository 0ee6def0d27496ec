// Makes an archive from which a host without a network installs Labwire and emulators: bin/node bin/bundle.mjs [options]
//   --with NAME,...     further Debian packages
//   --only NAME,...     these instead of the ones that Labwire's package recommends; '' for none
//   --arch amd64|arm64  of the host that it is for
//   --out DIR           where it goes (dist)
//   --build             Labwire's executable is made first
//   --fast              Labwire's package is packed in seconds, and larger
//
// It is for the release of the machine that makes it, whose package sources it is taken from. apt chooses as for a host on which no
// package is installed: so whatever the other host lacks is in it. Needs apt, dpkg-deb and tar; no root.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, parseEnv } from 'node:util';
import { documentsHtml } from './documents-html.mjs';
import { RECOMMENDED } from './recommended.mjs';

const root = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { values: options } = parseArgs({
  options: {
    with: { type: 'string', default: '' },
    only: { type: 'string', default: RECOMMENDED.join(',') },
    arch: { type: 'string', default: process.arch === 'arm64' ? 'arm64' : 'amd64' },
    out: { type: 'string', default: join(root, 'dist') },
    build: { type: 'boolean', default: false },
    fast: { type: 'boolean', default: false },
  },
});

function fail(message) {
  process.stderr.write(`bin/bundle.mjs: ${message}\n`);
  process.exit(1);
}

const chosen = [...options.only.split(','), ...options.with.split(',')].map((name) => name.trim()).filter(Boolean);
const odd = chosen.find((name) => !/^[a-z0-9][a-z0-9+.-]+$/.test(name));
if (odd !== undefined) fail(`"${odd}" is no name of a Debian package: --with and --only take names between commas`);
const { ID: system, VERSION_CODENAME: release } = parseEnv(readFileSync('/etc/os-release', 'utf8'));
if (!['debian', 'ubuntu'].includes(system) || !release)
  fail(
    'this machine is neither Debian nor Ubuntu: packages are taken from the sources of the release that they are for',
  );

/** Lists and packages of earlier bundles, so that the next one downloads what is new. */
const cache = join(root, 'dist/bundle-cache', `${release}-${options.arch}`);
const archives = join(cache, 'archives');
for (const folder of ['lists/partial', 'archives/partial', 'state'])
  mkdirSync(join(cache, folder), { recursive: true });
writeFileSync(join(cache, 'status'), '');
writeFileSync(
  join(cache, 'apt.conf'),
  `Dir::State "${cache}/state";
Dir::State::status "${cache}/status";
Dir::State::lists "${cache}/lists";
Dir::Cache "${cache}";
Dir::Cache::archives "${archives}";
APT::Architecture "${options.arch}";
APT::Architectures { "${options.arch}"; };
APT::Sandbox::User "";
Acquire::Languages "none";
`,
);

/** apt as it would be on a host without any package; its words only if it fails. */
function apt(...words) {
  try {
    return execFileSync('apt-get', ['-q', '-y', ...words], {
      encoding: 'utf8',
      env: { ...process.env, APT_CONFIG: join(cache, 'apt.conf'), LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    return fail(`apt-get ${words[0]} failed:\n${error.stderr || error.message}`);
  }
}

const sha256 = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');
const place = mkdtempSync(join(tmpdir(), 'labwired-bundle-'));
try {
  const name = `labwired-bundle_${version}_${release}_${options.arch}`;
  const tree = join(place, name);
  const packages = join(tree, 'packages');
  mkdirSync(packages, { recursive: true });
  const words = [join(root, 'bin/package.mjs'), '--arch', options.arch, '--out', packages];
  for (const flag of ['build', 'fast']) if (options[flag]) words.push(`--${flag}`);
  const own = execFileSync(process.execPath, words, { encoding: 'utf8' }).trim();

  apt('update');
  const install = ['install', '--no-install-recommends', own, ...chosen];
  apt(...install, '--download-only');
  // What apt installs now, and not what an earlier bundle has left in the cache.
  for (const [, chosenName, its, architecture] of apt(...install, '--simulate').matchAll(
    /^Inst (\S+) \((\S+) .*\[(\w+)\]\)/gm,
  )) {
    if (chosenName === 'labwired') continue;
    const file = `${chosenName}_${its.replaceAll(':', '%3a')}_${architecture}.deb`;
    copyFileSync(join(archives, file), join(packages, file));
  }

  const files = readdirSync(packages).sort();
  const index = files.map((file) => {
    const path = join(packages, file);
    const control = execFileSync('dpkg-deb', ['--field', path], { encoding: 'utf8' }).trim();
    return `${control}\nFilename: ./${file}\nSize: ${statSync(path).size}\nSHA256: ${sha256(path)}\n`;
  });
  writeFileSync(join(packages, 'Packages'), index.join('\n'));
  writeFileSync(join(tree, 'documents.html'), documentsHtml(version));
  copyFileSync(join(root, 'bin/bundle-install'), join(tree, 'install'));
  // Every file but the sums themselves.
  const listed = ['install', 'documents.html', 'contents', ...[...files, 'Packages'].map((file) => `packages/${file}`)];
  const contents = { version, system, release, architecture: options.arch, files: listed.length };
  const lines = Object.entries(contents).map(([key, value]) => `${key}='${value}'\n`);
  writeFileSync(join(tree, 'contents'), `${lines.join('')}packages='${['labwired', ...chosen].join(' ')}'\n`);
  writeFileSync(join(tree, 'SHA256SUMS'), listed.map((file) => `${sha256(join(tree, file))}  ${file}\n`).join(''));

  mkdirSync(options.out, { recursive: true });
  const archive = join(resolve(options.out), `${name}.tar`);
  // Not compressed: packages are.
  execFileSync('tar', ['--owner=0', '--group=0', '--sort=name', '-cf', archive, '-C', place, name]);
  process.stdout.write(`${archive}\n`);
} finally {
  rmSync(place, { recursive: true, force: true });
}
