// From a bare host to a running lab. The bundle, made once: installed on a minimal Debian in a namespace that has no route, and over an
// older version under a real systemd, where the package's service is upgraded under a lab that runs, removed, installed again, purged.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { Booted, skip as cannotBoot } from './booted.ts';
import { executable } from './executable.ts';
import { missing } from './lab.ts';
import { makeDebian, skip as noDebian, within } from './minimal-debian.ts';

const run = promisify(execFile);
const project = join(import.meta.dirname, '../..');
/** Less than what is recommended, so that the test takes less time. */
const CHOSEN = 'vpcs,libpcap0.8,nftables';

const directory = mkdtempSync(join(tmpdir(), 'labwire-package-'));
after(() => rmSync(directory, { recursive: true, force: true }));

/** The archive, and the package that is in it. */
interface Bundle {
  archive: string;
  own: string;
}

let making: Promise<Bundle> | undefined;

/** Made once, of Debian packages that the network has, or an earlier bundle. */
function bundle(): Promise<Bundle> {
  executable();
  const words = [join(project, 'bin/bundle.mjs'), '--fast', '--only', CHOSEN, '--out', directory];
  making ??= run(process.execPath, words).then(async ({ stdout }) => {
    const archive = stdout.trim();
    await run('tar', ['-xf', archive, '--wildcards', '--strip-components=2', '-C', directory, '*/labwired_*.deb']);
    return { archive, own: join(directory, readdirSync(directory).find((name) => name.startsWith('labwired_'))!) };
  });
  return making;
}

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

test('a bundle is made, verified, installed without a network, and a lab runs on it', { skip: noDebian }, async (t) => {
  const root = join(directory, 'root');
  const [debian, made] = await Promise.allSettled([makeDebian(root), bundle()]);
  if (debian.status === 'rejected') throw debian.reason;
  if (debian.value !== undefined) return t.skip(`a minimal Debian cannot be made here: ${debian.value}`);
  if (made.status === 'rejected') throw made.reason;
  mkdirSync(join(root, 'srv/air gap'));
  await run('tar', ['-xf', made.value.archive, '-C', join(root, 'srv/air gap')]);
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

/** The package alone, where the others of a bundle cannot be had. */
async function packageAlone(): Promise<string> {
  const words = [join(project, 'bin/package.mjs'), '--fast', '--out', directory];
  return (await run(process.execPath, words)).stdout.trim();
}

/** The same package as an older version, whose configuration was another. */
async function older(own: string): Promise<string> {
  const tree = join(directory, 'tree');
  await run('dpkg-deb', ['--raw-extract', own, tree]);
  const control = join(tree, 'DEBIAN/control');
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*$/m, 'Version: 0.0.1'));
  writeFileSync(join(tree, 'etc/labwire/labwired.conf'), '# as it was\n');
  const file = join(directory, 'older.deb');
  await run('dpkg-deb', ['--root-owner-group', '-Znone', '--build', tree, file]);
  rmSync(tree, { recursive: true });
  return file;
}

const SOCKET = '/run/labwire/labwired.sock';
/** What a user gets at the local socket, 0 for nothing, and at the server's port. */
const ASK = `ask() {
  for server in "--unix-socket ${SOCKET} http://localhost" http://127.0.0.1:3080; do
    printf '%d ' "$(setpriv --reuid "$1" --clear-groups curl -s -o /dev/null -w '%{http_code}' $server/v2/projects)"
  done
}
`;

test('the bundle’s package brings the service, is upgraded under nodes that run, keeps labs until it is purged', {
  skip: cannotBoot || missing('dpkg-deb', 'lintian'),
}, async (t) => {
  const made = await bundle().catch(() => undefined);
  const own = made?.own ?? (await packageAlone());
  const lint = run('lintian', ['--fail-on', 'error,warning', own]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout || 'lintian has failed',
  );
  const [booted, old] = await Promise.all([Booted.boot(t, { bare: true }), older(own)]);
  assert.equal(await lint, '');
  if (typeof booted === 'string') return t.skip(`systemd cannot be booted here: ${booted}`);
  const shell = (line: string): Promise<string> => booted.run('sh', '-c', `cd /; ${line}`);
  await shell('rm -f /usr/sbin/policy-rc.d; mkdir /bundle');
  await booted.copyIn(old, '/older.deb');
  await booted.copyIn(own, '/own.deb');
  if (made) await booted.feed(made.archive, 'tar', '-x', '--strip-components=1', '-C', '/bundle');

  await shell('dpkg -i /older.deb </dev/null');
  const started = await booted.active();
  assert.equal(await shell('systemctl is-enabled labwired'), 'enabled\n');
  assert.equal(await shell('stat -c "%U %G %a" /etc/labwire/labwired.conf'), 'root labwire 640\n');
  assert.equal(
    await shell('labwired version; ls /usr/share/doc/labwired/api.md'),
    `labwired ${JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')).version}\n/usr/share/doc/labwired/api.md\n`,
  );
  const { path, stillRuns } = await booted.lab();
  const pids = (): Promise<string> => shell('pidof vpcs || true');
  const vpcs = await pids();
  assert.notEqual(vpcs, '');

  // Both have changed the configuration: whoever asked which is to be kept would wait for ever.
  await shell('echo "# ours" >>/etc/labwire/labwired.conf');
  const upgrade = made ? '/bundle/install labwired' : 'dpkg --force-confold -i /own.deb';
  const said = await shell(`${upgrade} </dev/null`);
  if (made) assert.match(said, /1 upgraded, 0 newly installed, 0 to remove/);
  else t.diagnostic('upgraded by the package alone: a bundle cannot be made here');
  const upgraded = await booted.active(started['MainPID']);
  assert.equal(upgraded['Result'], 'success');
  assert.doesNotMatch(await shell('dpkg-query -W labwired'), /0\.0\.1$/m);
  await stillRuns();
  assert.equal(await pids(), vpcs);
  assert.equal((await booted.ask('GET', path)).status, 'opened');
  assert.equal(await shell('tail -n 1 /etc/labwire/labwired.conf'), '# ours\n');

  // What the package ships beyond the unit is taken by systemd, each alone.
  for (const name of ['interfaces', 'kvm', 'docker']) {
    const before = await booted.show();
    await shell(`mkdir -p /etc/systemd/system/labwired.service.d
      for group in kvm docker; do getent group "$group" >/dev/null || groupadd --system "$group"; done
      ln -sf /usr/lib/labwired/${name}.conf /etc/systemd/system/labwired.service.d/50-labwired.conf
      systemctl daemon-reload; systemctl reload labwired`);
    await booted.active(before['MainPID']);
    await stillRuns();
  }

  // The local socket of a service that has been upgraded in place, and files that root's commands write for the service's user.
  assert.equal(await shell(`stat -c "%U %G %a" /run/labwire ${SOCKET}`), 'labwire labwire 750\nlabwire labwire 600\n');
  assert.equal(await shell(`${ASK}ask root; ask labwire; ask nobody`), '200 200 200 200 0 200 ');
  await shell('labwired password --generate; labwired user add ada --role admin --generate');
  assert.equal(await shell(`${ASK}ask root; ask labwire; ask nobody`), '200 401 200 401 0 401 ');
  assert.match(await shell('labwired lab list'), /^Service /m, 'a command of root needs no password');
  assert.equal(await shell('find /var/lib/labwire ! -user labwire'), '');
  assert.match(await shell('labwired audit'), /labwired user add account="ada"/);

  // Nodes that a stop would leave running, and a NATS.
  const running = (): Promise<string> => shell('ps -u labwire -o args= || true');
  await shell(`printf '[Server]\\nnodes_on_stop = keep\\n' >/etc/labwire/labwired.conf
    mkdir -p /var/lib/labwire/cluster /etc/systemd/system/labwire-nats.service.d; touch /var/lib/labwire/cluster/nats.conf
    printf '[Service]\\nExecStart=\\nExecStart=/bin/sleep infinity\\n' >/etc/systemd/system/labwire-nats.service.d/test.conf
    systemctl daemon-reload; systemctl enable --now labwire-nats`);
  const { MainPID: former } = await booted.show();
  await shell('systemctl reload labwired');
  await booted.active(former);
  assert.match(await running(), /^(?=.*vpcs )(?=.*sleep infinity)/s);
  await shell('dpkg -r labwired </dev/null');
  assert.equal(await running(), '');
  assert.equal(await shell('ls -d /run/labwire 2>/dev/null || true'), '', 'the socket went with the service');
  assert.equal(
    await shell('test ! -e /usr/bin/labwired && ls /etc/labwire/labwired.conf'),
    '/etc/labwire/labwired.conf\n',
  );
  await shell('dpkg -i /own.deb </dev/null');
  await booted.active();
  assert.match(await shell('labwired lab list'), /^Service /m);

  await shell('systemctl start labwire-nats');
  await shell('dpkg -P labwired </dev/null');
  assert.equal(await running(), '');
  assert.equal(await shell('find /etc/systemd/system -name "labwire*.service" -type l'), '');
  assert.equal(await shell('ls -d /var/lib/labwire /etc/labwire 2>/dev/null || true'), '');
});
