// The native frame loop under the compiler's sanitizers, with tables that make no sense.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const source = join(import.meta.dirname, '../../addons/frame-loop');
const directory = mkdtempSync(join(tmpdir(), 'labwire-sanitizers-'));
after(() => rmSync(directory, { recursive: true }));
const FLAGS = ['-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'];

function compile(program: string, ...sources: string[]) {
  const words = [...FLAGS, '-I', source, '-o', join(directory, program), ...sources, '-lm'];
  return spawnSync('cc', words, { encoding: 'utf8' });
}

/** Why there are no sanitizers here; false when there are. */
function missingSanitizers(): string | false {
  const nothing = join(directory, 'nothing.c');
  writeFileSync(nothing, 'int main(void) { return 0; }\n');
  const { status } = compile('nothing', nothing);
  if (status !== 0) return 'this host has no compiler with sanitizers';
  return spawnSync(join(directory, 'nothing')).status !== 0 && 'programs with sanitizers do not run here';
}

test('no table and no packet makes the loop touch memory that is not its own', { skip: missingSanitizers() }, (t) => {
  const compiled = compile('fuzz', join(import.meta.dirname, 'frame-loop-fuzz.c'), join(source, 'frame_loop.c'));
  assert.equal(compiled.status, 0, compiled.stderr);
  const seed = process.env['SEED'] ?? String(process.pid);
  t.diagnostic(`SEED=${seed}`);
  const { status, signal, stdout, stderr } = spawnSync(join(directory, 'fuzz'), [seed, '500'], { encoding: 'utf8' });
  assert.equal(status, 0, `SEED=${seed} ${signal} ${stderr}`);
  const [, packets, handed] = /(\d+) packets, (\d+) handed over/.exec(stdout)!;
  assert.ok(Number(packets) > 500 && Number(handed) > 10, stdout);
});
