// Makes the Debian package of dist/labwired: bin/node bin/package.mjs [--build] [--arch amd64|arm64] [--out DIR] [--fast]
//
// --build makes the executable first. dpkg-deb does the packing (Debian package dpkg). Two packages of the same sources are equal: every file has the time of the
// release, and its owner is root. --fast is for tests: compressed in seconds rather than in a minute, and a fifth larger.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { bashCompletion, commandManual, configurationManual, fishCompletion, zshCompletion } from './completions.mjs';
import { RECOMMENDED } from './recommended.mjs';

const root = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** When this version was released; to be changed with it. Seconds since 1970. */
const RELEASED = 1_795_392_000;
const { values: options } = parseArgs({
  options: {
    arch: { type: 'string', default: process.arch === 'arm64' ? 'arm64' : 'amd64' },
    out: { type: 'string', default: join(root, 'dist') },
    fast: { type: 'boolean', default: false },
    build: { type: 'boolean', default: false },
  },
});
const architectures = { amd64: 'x64', arm64: 'arm64' };
const machine = architectures[options.arch];
if (machine === undefined) fail(`--arch ${options.arch}: amd64 and arm64 are the architectures that Labwire runs on`);
const executable = join(root, 'dist', machine === process.arch ? 'labwired' : `labwired-linux-${machine}`);
if (options.build) {
  const words = [join(root, 'build.mjs'), '--target', `linux-${machine}`];
  // Standard output has the name of the package alone.
  execFileSync(process.execPath, words, { stdio: ['ignore', 2, 'inherit'] });
}
if (!existsSync(executable))
  fail(`${executable} is not there: npm run build${machine === process.arch ? '' : ` -- --target linux-${machine}`}`);

function fail(message) {
  process.stderr.write(`bin/package.mjs: ${message}\n`);
  process.exit(1);
}

const read = (path) => readFileSync(join(root, path), 'utf8');
/** As a man page or a changelog has to be. */
const packed = (text) => gzipSync(text, { level: 9 });

const MAINTAINER = 'Labwire <labwire@localhost>';

// Debian starts a NATS of its own, open to the network, wherever nats-server is installed.
const SUGGESTS = 'docker.io, dynamips, cpulimit, mtools, tigervnc-standalone-server, tshark, nats-server';

const control = (size) => `Package: labwired
Version: ${version}
Architecture: ${options.arch}
Maintainer: ${MAINTAINER}
Installed-Size: ${size}
Depends: libc6 (>= 2.34), libstdc++6, init-system-helpers (>= 1.52), systemd | systemd-standalone-sysusers
Recommends: ${RECOMMENDED.join(', ')}
Suggests: ${SUGGESTS}
Section: net
Priority: optional
Description: server for network labs
 Virtual PCs, routers, machines and containers of one lab host, joined by
 virtual cables, with consoles, captures and impairments. It speaks the GNS3
 API, version 2, so that its clients and scripts work with it, and has a page
 of its own for browsers.
 .
 One executable, run by systemd; no network is needed.
`;

const copyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Labwire
Comment: The executable holds other free software, Node.js first of all. All
 licences are in licenses.txt.gz beside this file.

Files: *
Copyright: 2026 the authors of Labwire
License: GPL-3+
 On Debian systems the full text of the GNU General Public License, version 3,
 is in /usr/share/common-licenses/GPL-3.
`;

const changelog = `labwired (${version}) stable; urgency=medium

  * Release ${version}.

 -- ${MAINTAINER}  ${new Date(RELEASED * 1000).toUTCString().replace('GMT', '+0000')}
`;

const place = mkdtempSync(join(tmpdir(), 'labwired-package-'));
try {
  const tree = join(place, 'tree');
  const put = (path, content, mode = 0o644) => {
    const file = join(tree, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    chmodSync(file, mode);
  };
  put('usr/bin/labwired', readFileSync(executable), 0o755);
  put(
    'lib/systemd/system/labwired.service',
    read('systemd/labwired.service')
      .replace('ExecStart=/usr/local/bin/labwired', 'ExecStart=/usr/bin/labwired')
      .replace('Installed by bin/install; changes', 'Changes'),
  );
  put('lib/systemd/system/labwire-nats.service', read('systemd/labwire-nats.service'));
  put('usr/lib/sysusers.d/labwired.conf', read('systemd/labwired.sysusers'));
  put('usr/lib/tmpfiles.d/labwired.conf', read('systemd/labwired.tmpfiles'));
  for (const name of ['interfaces', 'kvm', 'docker', 'kernel-links'])
    put(`usr/lib/labwired/${name}.conf`, read(`systemd/${name}.conf`));
  put('etc/labwire/labwired.conf', read('systemd/labwired.conf'));
  put('usr/share/bash-completion/completions/labwired', bashCompletion);
  put('usr/share/zsh/vendor-completions/_labwired', zshCompletion);
  put('usr/share/fish/vendor_completions.d/labwired.fish', fishCompletion);
  put('usr/share/man/man1/labwired.1.gz', packed(commandManual(version)));
  put('usr/share/man/man5/labwired.conf.5.gz', packed(configurationManual(version, read('systemd/labwired.conf'))));
  put('usr/share/doc/labwired/copyright', copyright);
  put('usr/share/doc/labwired/licenses.txt.gz', packed(readFileSync(`${executable}.licenses`)));
  put('usr/share/doc/labwired/changelog.gz', packed(changelog));
  cpSync(join(root, 'docs'), join(tree, 'usr/share/doc/labwired'), { recursive: true });
  put('usr/share/lintian/overrides/labwired', read('systemd/debian/lintian-overrides'));
  for (const name of ['postinst', 'prerm', 'postrm']) put(`DEBIAN/${name}`, read(`systemd/debian/${name}`), 0o755);
  put('DEBIAN/conffiles', '/etc/labwire/labwired.conf\n');

  const files = readdirSync(tree, { recursive: true }).sort();
  const bytes = files.reduce((sum, name) => sum + statSync(join(tree, name)).size, 0);
  put('DEBIAN/control', control(Math.ceil(bytes / 1024)));
  for (const name of ['', ...readdirSync(tree, { recursive: true })]) {
    const path = join(tree, name);
    if (statSync(path).isDirectory()) chmodSync(path, 0o755);
    else if (!name.startsWith('DEBIAN/') && name !== 'usr/bin/labwired') chmodSync(path, 0o644);
    lutimesSync(path, RELEASED, RELEASED);
  }
  mkdirSync(options.out, { recursive: true });
  const file = join(resolve(options.out), `labwired_${version}_${options.arch}.deb`);
  execFileSync(
    'dpkg-deb',
    ['--root-owner-group', ...(options.fast ? ['-Zgzip', '-z1'] : ['-Zxz', '-z6']), '--build', tree, file],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, SOURCE_DATE_EPOCH: String(RELEASED) },
    },
  );
  process.stdout.write(`${file}\n`);
} finally {
  rmSync(place, { recursive: true, force: true });
}
