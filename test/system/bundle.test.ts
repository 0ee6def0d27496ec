// From a bare host to a running lab without a network: the bundle, on a minimal Debian in a namespace that has no route.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { executable } from './executable.ts';
import { makeDebian, skip, within } from './minimal-debian.ts';

const run = promisify(execFile);
const project = join(import.meta.dirname, '../..');
/** Less than what is recommended, so that the test takes less time. */
const CHOSEN = 'vpcs,libpcap0.8,nftables';

/** What is done to the bundle, and what `install` says to it. A copy is spoilt, of links, so that it costs nothing. */
const SPOILT: readonly (readonly [string, RegExp])[] = [
  ['cp documents.html d && echo x >>d && mv d documents.html', /copy the archive again\. documents\.html: FAILED/],
  ['rm packages/vpcs_*', /packages\/vpcs_\S+: FAILED open or read/],
  ['f=$(echo packages/vpcs_*); head -c 1000 $f >f; mv f $f', /packages\/vpcs_\S+: FAILED/],
  ['rm SHA256SUMS', /SHA256SUMS is missing/],
  ['head -n 5 SHA256SUMS >s; mv s SHA256SUMS', /SHA256SUMS has no sum of packages\/Packages/],
  ['sed /vpcs_/d SHA256SUMS >s; mv s SHA256SUMS', /SHA256SUMS has not the \d+ sums/],
  ['head -c 40 SHA256SUMS >s; mv s SHA256SUMS', /SHA256SUMS itself cannot be read/],
  ["again \"s/architecture='.*'/architecture='s390x'/\"", /for s390x, and this host is \w+: make one with --arch/],
  ["again \"s/release='.*'/release='sid'/\"", /for \w+ sid, and this host is \w+ \w+/],
];

/** What is installed in it, and the package lists that it has. */
const STATE = 'dpkg --list | cat; ls /var/lib/apt/lists';

/** In a folder whose name has a blank; `again` changes the contents and writes the sum of that again. */
const SPOIL = `cd '/srv/air gap' && rm -rf spoilt && cp -al bundle spoilt && cd spoilt
again() {
  sed "$1" contents >c; mv c contents
  grep -v '  contents$' SHA256SUMS >s; sha256sum contents >>s; mv s SHA256SUMS
}
`;

test('a bundle is made, verified, installed without a network, and a lab runs on it', { skip }, async (t) => {
  executable();
  const directory = mkdtempSync(join(tmpdir(), 'labwire-bundle-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const root = join(directory, 'root');
  const words = [join(project, 'bin/bundle.mjs'), '--fast', '--only', CHOSEN, '--out', directory];
  const [debian, bundle] = await Promise.allSettled([makeDebian(root), run(process.execPath, words)]);
  if (debian.status === 'rejected') throw debian.reason;
  if (debian.value !== undefined) return t.skip(`a minimal Debian cannot be made here: ${debian.value}`);
  if (bundle.status === 'rejected') throw bundle.reason;
  const archive = readdirSync(directory).find((name) => name.endsWith('.tar'))!;
  mkdirSync(join(root, 'srv/air gap'));
  await run('tar', ['-xf', join(directory, archive), '-C', join(root, 'srv/air gap')]);
  const inRoot = (line: string) => within(root, line);
  await inRoot("cd '/srv/air gap' && mv labwired-bundle_* bundle");

  const before = await inRoot(STATE);
  for (const [spoil, refusal] of SPOILT) {
    const { code, text } = await inRoot(`${SPOIL}${spoil}\nexec ./install`);
    assert.equal(code, 1, `${spoil}: ${text}`);
    assert.match(text, refusal, spoil);
  }
  const bundled = (line: string) => inRoot(`cd '/srv/air gap/bundle' && ${line}`);
  assert.match(
    (await bundled('setpriv --reuid 65534 --clear-groups ./install')).text,
    /not root: run sudo \.\/install/,
  );
  assert.match((await bundled('./install emacs')).text, /'emacs' is not in this bundle; it has: labwired vpcs/);
  assert.match((await bundled('./install --force')).text, /'--force' is not known/);
  assert.deepEqual(await inRoot(STATE), before, 'nothing was done');

  const first = await bundled('./install');
  assert.equal(first.code, 0, first.text);
  const installed = await inRoot(STATE);
  for (const name of ['labwired', ...CHOSEN.split(',')])
    assert.match(installed.text, new RegExp(`^ii +${name}[ :]`, 'm'));
  const second = await bundled('./install');
  assert.match(second.text, /\n0 upgraded, 0 newly installed, 0 to remove/);
  assert.deepEqual(await inRoot(STATE), installed);

  const ran = await inRoot(`export LABWIRE_SERVER_PORT=3081
    LABWIRE_VPCS_ENGINE=program; labwired doctor; echo "doctor: $?"
    labwired serve --state /var/tmp/state >/var/tmp/log & for try in $(seq 300); do
      labwired node list --server http://127.0.0.1:3081 2>&1 | grep -q reach || break; sleep 0.2
    done
    labwired demo http://127.0.0.1:3081; echo "demo: $?"; labwired help install#without-a-network`);
  assert.match(ran.text, /^ok +vpcs +virtual PCs are run by \/usr\/bin\/vpcs/m);
  assert.match(ran.text, /^ok +libpcap/m);
  assert.match(ran.text, /^doctor: 0$/m, ran.text);
  assert.match(ran.text, / 10\.0\.0\.2 icmp_seq=3 ttl=64 /, ran.text);
  assert.match(ran.text, /^demo: 0$/m);
  assert.match(ran.text, /^## Without a network$/m);

  const page = readFileSync(join(root, 'srv/air gap/bundle/documents.html'), 'utf8');
  const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  const links = [...page.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id!);
  assert.ok(links.length > 100);
  assert.deepEqual(
    links.filter((id) => !ids.has(id)),
    [],
  );
  assert.deepEqual(page.match(/ src="(?!data:image)[^"]*"/g), null, 'every picture is in the page');
});
