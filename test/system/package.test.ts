// The Debian package under a real systemd: installed, upgraded under a lab that runs, removed, installed again, purged.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Booted, skip } from './booted.ts';
import { executable } from './executable.ts';
import { missing } from './lab.ts';

const project = join(import.meta.dirname, '../..');

/** The package, and the same one as a later version, in `directory`. */
function packages(directory: string): { first: string; later: string } {
  executable();
  const words = ['bin/package.mjs', '--fast', '--out', directory];
  const first = execFileSync(process.execPath, words, { cwd: project, encoding: 'utf8' }).trim();
  const tree = join(directory, 'tree');
  execFileSync('dpkg-deb', ['--raw-extract', first, tree]);
  const control = join(tree, 'DEBIAN/control');
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*$/m, 'Version: 99.0'));
  const later = join(directory, 'later.deb');
  execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '--build', tree, later], { stdio: 'ignore' });
  return { first, later };
}

test('the package brings the service, is upgraded under nodes that run, keeps labs until it is purged', {
  skip: skip || missing('dpkg-deb', 'lintian'),
}, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'labwire-package-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const { first, later } = packages(directory);
  const lint = spawnSync('lintian', ['--fail-on', 'error,warning', first], { encoding: 'utf8' });
  assert.equal(lint.status, 0, lint.stdout);
  const booted = await Booted.boot(t, { bare: true });
  if (typeof booted === 'string') return t.skip(`systemd cannot be booted here: ${booted}`);
  const shell = (line: string): Promise<string> => booted.run('sh', '-c', line);
  await shell('rm -f /usr/sbin/policy-rc.d');
  await booted.copyIn(first, '/first.deb');
  await booted.copyIn(later, '/later.deb');

  await shell('dpkg -i /first.deb </dev/null');
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

  await shell('echo "# ours" >>/etc/labwire/labwired.conf; dpkg -i /later.deb </dev/null');
  const upgraded = await booted.active(started['MainPID']);
  assert.equal(upgraded['Result'], 'success');
  await stillRuns();
  assert.equal(await pids(), vpcs);
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

  await shell('dpkg -r labwired </dev/null');
  assert.equal(await pids(), '');
  assert.equal(
    await shell('test ! -e /usr/bin/labwired && ls /etc/labwire/labwired.conf'),
    '/etc/labwire/labwired.conf\n',
  );
  await shell('dpkg -i /first.deb </dev/null');
  await booted.active();
  assert.equal((await booted.ask('GET', path)).name, 'Service');

  await shell('dpkg -P labwired </dev/null');
  assert.equal(await shell('ls -d /var/lib/labwire /etc/labwire 2>/dev/null || true'), '');
});
