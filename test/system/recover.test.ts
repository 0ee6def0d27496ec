// `labwired recover` on a state directory whose database is damaged while labs were open and PCs ran.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually, startDaemon } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, missing } from './lab.ts';
import { processesIn } from './processes.ts';
import { pidsOf } from './survivors.ts';

const [program] = executable() as [string];

/** Writes over each page of a file but its first `kept` bytes. */
function damage(file: string, kept: number): void {
  const descriptor = openSync(file, 'r+');
  for (let at = kept; at < statSync(file).size; at += 1024) writeSync(descriptor, Buffer.alloc(512, 0x5a), 0, 512, at);
  closeSync(descriptor);
}

test('recover brings back open labs from a damaged database and their files, leaves no program without an owner, and keeps what was damaged', {
  skip: missing('vpcs'),
}, async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  const { pcs } = await lab.pcsOnHub(2);
  const other = await Lab.create(daemon, 'Other');
  await other.pc('PC1');
  const file = join(lab.project.path, lab.project.filename);
  await eventually('the file of the lab', () => existsSync(file) && readFileSync(file, 'utf8').includes('"PC2"'));
  const otherFile = join(other.project.path, other.project.filename);
  await eventually(
    'the file of the other',
    () => existsSync(otherFile) && readFileSync(otherFile, 'utf8').includes('"PC1"'),
  );
  await daemon.post('/v2/templates', { name: 'T', template_type: 'vpcs', compute_id: 'local' });
  const recover = () =>
    execFileSync(program, ['recover', '--state', daemon.state], { encoding: 'utf8', stdio: 'pipe' });
  assert.throws(recover, /./, 'the database is in use');

  await daemon.kill();
  assert.match(recover(), /is sound: there is nothing to recover/);
  const database = join(daemon.state, 'labwire.db');
  damage(database, 0);
  const refusal = await daemon.refusal();
  assert.equal(refusal.code, 1);
  assert.match(refusal.said, /recover/);
  assert.doesNotMatch(refusal.said, /\n +at /);
  const pids = pidsOf(pcs);
  assert.ok(pids.every(Boolean), 'a start that is refused ends no program');

  assert.match(recover(), /rebuilt from what could be read/);
  const kept = readdirSync(daemon.state).filter((name) => name.startsWith('labwire.db') && name !== 'labwire.db');
  assert.ok(kept.length > 0, 'the damaged files are kept');
  await daemon.start();
  for (const each of [lab, other]) {
    if ((await daemon.get(each.path)).status !== 'opened') await daemon.post(`${each.path}/open`);
  }
  assert.deepEqual((await lab.nodes()).map(({ name }) => name).sort(), ['Hub1', 'PC1', 'PC2']);
  assert.equal((await lab.links()).length, 2);
  assert.deepEqual(
    (await other.nodes()).map(({ name }) => name),
    ['PC1'],
  );
  assert.doesNotMatch(daemon.log, /cannot be used/, 'the process that holds the programs is known again');
  // Programs of a node run on under that node, or have ended: none runs twice or without one.
  for (const pc of await lab.nodes()) {
    if (pc.name === 'Hub1') continue;
    await eventually(
      'its programs',
      () => processesIn(pc.node_directory).length,
      (count) => count === (pc.status === 'started' ? 1 : 0),
    );
  }
  await daemon.post(`${lab.path}/nodes/start`);
  assert.deepEqual(pidsOf(pcs).map(Boolean), [true, true]);
});

test('recover says what it cannot read, with the exit code 1', (_t, done) => {
  execFile(program, ['recover', '--state', '/proc/self/fd'], (error, _out, said) => {
    assert.equal(error?.code, 1);
    assert.doesNotMatch(said, /\n +at /);
    done();
  });
});
