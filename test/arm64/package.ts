// The package for arm64: made by a cross compiler, looked at, and its executable started by an emulator. Compiling and emulating take
// minutes, so this is no part of bin/test: npm run test:arm64
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { scratchDirectory } from '../store/scratch.ts';
import { eventually, ownDaemon } from '../system/daemon.ts';
import { executable } from '../system/executable.ts';
import { missing } from '../system/lab.ts';

const run = promisify(execFile);
const project = join(import.meta.dirname, '../..');
const EMULATOR = 'qemu-aarch64-static';
/** Where Debian's cross compiler has its libraries. */
const LIBRARIES = '/usr/aarch64-linux-gnu';
/** Milliseconds that an emulated start may take on a busy host. */
const PATIENCE_MS = 300_000;
const skip =
  process.arch === 'x64'
    ? missing('aarch64-linux-gnu-g++', EMULATOR, 'dpkg-deb', 'lintian')
    : 'bin/test tries the package of this host itself';

test('the package for arm64 is whole, and its executable serves a lab under emulation', { skip }, async (t) => {
  const directory = await scratchDirectory(t);
  const [native] = executable() as [string];
  const words = ['--build', '--arch', 'arm64', '--fast', '--out', directory];
  const { stdout } = await run(process.execPath, [join(project, 'bin/package.mjs'), ...words]);
  const file = stdout.trim();
  const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  const fields = await run('dpkg-deb', ['--field', file, 'Architecture', 'Version']);
  assert.equal(fields.stdout, `Architecture: arm64\nVersion: ${version}\n`);
  await run('lintian', ['--fail-on', 'error,warning', file]).catch(({ stdout: said }) => assert.fail(String(said)));
  const tree = join(directory, 'tree');
  await run('dpkg-deb', ['--extract', file, tree]);
  for (const path of [
    ...['lib/systemd/system/labwired.service', 'etc/labwire/labwired.conf', 'usr/lib/labwired/kvm.conf'],
    ...[
      'usr/share/man/man1/labwired.1.gz',
      'usr/share/doc/labwired/licenses.txt.gz',
      'usr/share/doc/labwired/install.md',
    ],
  ])
    assert.ok(readFileSync(join(tree, path)).length > 0, path);
  const program = join(tree, 'usr/bin/labwired');
  // ELF, and its machine: AArch64.
  const header = readFileSync(program).subarray(0, 20);
  assert.deepEqual([header.toString('latin1', 1, 4), header.readUInt16LE(18)], ['ELF', 183]);

  const emulated = [EMULATOR, '-L', LIBRARIES, program];
  const said = await run(emulated[0]!, [...emulated.slice(1), '--version']);
  assert.equal(said.stdout.trim().split(' ').at(-1), version);
  const daemon = ownDaemon(t, { program: [...emulated, 'serve'], config: '[VPCS]\nengine = built-in\n' });
  const child = await daemon.spawn();
  await eventually(
    'the server',
    () => child.exitCode !== null || / ready url=/.test(daemon.log),
    (over) => over,
    PATIENCE_MS,
  );
  assert.equal((await daemon.get('/v2/version')).version, '2.2.57');
  // Two virtual PCs, a cable, a capture: all but programs of their own.
  const demo = await run(native, ['demo', daemon.url]);
  assert.match(demo.stdout, / 10\.0\.0\.2 icmp_seq=3 ttl=64 /);
  assert.doesNotMatch(daemon.log, / error /);
  assert.equal((await daemon.end('SIGTERM')).code, 0);
});
