// bin/install, into a directory: what an administrator has written is never lost.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const project = join(import.meta.dirname, '../..');
const executable = '/usr/local/bin/labwired';
const unit = '/usr/local/lib/systemd/system/labwired.service';
const config = '/etc/labwire/labwired.conf';

test('an installation can be repeated and taken away, and the configuration survives both', (t) => {
  if (!existsSync(join(project, 'dist/labwired'))) return t.skip('dist/labwired is not built: npm run build');
  const root = mkdtempSync(join(tmpdir(), 'labwire-install-'));
  t.after(() => rmSync(root, { recursive: true }));
  const install = (...words: string[]) => {
    const { status, stderr } = spawnSync(join(project, 'bin/install'), ['--root', root, ...words], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
  };
  install();
  assert.equal(statSync(root + executable).mode & 0o777, 0o755);
  assert.equal(readFileSync(root + unit, 'utf8'), readFileSync(join(project, 'systemd/labwired.service'), 'utf8'));
  // It may hold a password.
  assert.equal(statSync(root + config).mode & 0o777, 0o640);

  appendFileSync(root + config, 'vpcs_path = /opt/vpcs\n');
  install();
  assert.match(readFileSync(root + config, 'utf8'), /\nvpcs_path = \/opt\/vpcs\n$/);

  install('--uninstall');
  assert.equal(existsSync(root + executable), false);
  assert.equal(existsSync(root + unit), false);
  assert.match(readFileSync(root + config, 'utf8'), /\nvpcs_path = \/opt\/vpcs\n$/);
});
