// The file of the audit trail: of bounded size, on a full disk, and after a program was killed while it wrote.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configureLog } from '../../src/host/log.ts';
import { AuditFile, type AuditLine } from '../../src/store/audit.ts';
import { eventually } from '../eventually.ts';
import { scratchDirectory, scratchFileSystem } from './scratch.ts';

configureLog({ write: () => {} });

const line = (action: string): AuditLine => ({
  ...{ time: new Date().toISOString(), account: 'ada', address: '127.0.0.1', action, objects: {}, status: 200 },
});

test('a file that is full makes way for a new one, and two together hold what was last', async (t) => {
  const state = await scratchDirectory(t);
  const audit = new AuditFile(state, 4096);
  for (let index = 0; index < 200; index++) {
    audit.note(line(`action ${index}`));
    await audit.settled();
  }
  assert.equal(statSync(audit.path).mode & 0o777, 0o600);
  for (const path of [audit.path, `${audit.path}.1`]) assert.ok(statSync(path).size < 4096 + 200, path);
  const kept = (await audit.last(200)).map(({ action }) => action);
  assert.ok(kept.length > 30);
  assert.deepEqual(
    kept,
    Array.from({ length: kept.length }, (_, index) => `action ${200 - kept.length + index}`),
  );
});

test('no flood of one account pushes out what others have done, or its own other deeds, and refusals are gathered', async (t) => {
  const state = await scratchDirectory(t);
  const audit = new AuditFile(state, 64 * 1024);
  const deeds = ['DELETE a lab', 'PUT a role', 'POST a template'];
  for (const account of ['ada', 'mallory'])
    for (const action of deeds) audit.note({ ...line(action), account, objects: { name: account } });
  const flood = async (status: number): Promise<void> => {
    for (let index = 0; index < 3_000; index++) {
      audit.note({ ...line('PUT a name'), account: 'mallory', status, objects: { name: `${index}` } });
      if (index % 100 === 0) await audit.settled();
    }
  };
  await flood(200);
  await flood(403);
  await audit.settled();
  for (const path of [audit.path, `${audit.path}.1`]) assert.ok(statSync(path).size < 96 * 1024, path);
  const lines = await audit.last(100_000);
  for (const account of ['ada', 'mallory'])
    for (const action of deeds) assert.ok(lines.some((one) => one.account === account && one.action === action));
  const refused = lines.filter(({ status }) => status === 403);
  assert.ok(refused.length < 300, `${refused.length} lines of refusals`);
  const gathered = refused.reduce((sum, { refused: times = 1 }) => sum + times, 0);
  assert.equal(gathered, 3_000);
  assert.equal(refused.at(-1)!.objects['name'], '2999');
});

test('room is made in a large file beside the main thread, and what is noted meanwhile is kept', async (t) => {
  const state = await scratchDirectory(t);
  const largest = 1024 * 1024;
  const audit = new AuditFile(state, largest);
  const old = JSON.stringify(line('old'));
  const count = Math.ceil((2 * largest) / old.length);
  writeFileSync(audit.path, `${old}\n`.repeat(count));
  audit.note(line('first'));
  let isSettled = false;
  const settled = audit.settled().then(() => {
    isSettled = true;
  });
  let turns = 0;
  for (; !isSettled; await new Promise(setImmediate)) {
    if (!existsSync(`${audit.path}.full`)) continue;
    if (turns === 0) audit.note(line('meanwhile'));
    turns += 1;
  }
  await settled;
  await audit.settled();
  assert.ok(turns > 0, 'no turn of this thread while room was made');
  assert.equal(existsSync(`${audit.path}.full`), false);
  assert.ok(statSync(`${audit.path}.1`).size <= largest);
  const kept = (await audit.last(count)).map(({ action }) => action);
  assert.deepEqual(kept.slice(-2), ['first', 'meanwhile']);
  assert.equal(kept.length, Math.floor(largest / (old.length + 1)) + 2);
});

test('a line of which a part was written spoils no other', async (t) => {
  const state = await scratchDirectory(t);
  const audit = new AuditFile(state);
  audit.note(line('whole'));
  await audit.settled();
  appendFileSync(audit.path, JSON.stringify(line('torn')).slice(0, 40));
  const next = new AuditFile(state);
  next.note(line('next'));
  assert.deepEqual(
    (await next.last(10)).map(({ action }) => action),
    ['whole', 'next'],
  );
});

const WRITER = `
  import { AuditFile } from ${JSON.stringify(join(import.meta.dirname, '../../src/store/audit.ts'))};
  const audit = new AuditFile(process.argv[1], 65536);
  for (let index = 0; ; index++) {
    audit.note({ time: '', account: 'ada', address: '', action: 'a'.repeat(index % 3000), objects: {}, status: 200 });
    if (index % 50 === 0) await audit.settled();
  }`;

test('a program that is killed while it writes leaves a file that can be read and written', async (t) => {
  const state = await scratchDirectory(t);
  const audit = new AuditFile(state);
  for (let round = 0; round < 3; round++) {
    rmSync(audit.path, { force: true });
    const child = spawn(process.execPath, ['--input-type=module', '-e', WRITER, state], { stdio: 'inherit' });
    try {
      // It is gone for a moment whenever it becomes the older one.
      const size = () => statSync(audit.path, { throwIfNoEntry: false })?.size ?? 0;
      await eventually('lines', size, (bytes) => bytes >= 10_000);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    const after = new AuditFile(state);
    after.note(line('after it'));
    const lines = await after.last(10_000);
    assert.ok(lines.length > 3);
    assert.equal(lines.at(-1)!.action, 'after it');
    // Only the last line of the killed program may be a part of one.
    const texts = readFileSync(audit.path, 'utf8').trimEnd().split('\n');
    const isWhole = (text: string): boolean => text.endsWith('}') && text.startsWith('{"time"');
    assert.ok(texts.every((text, index) => isWhole(text) || index === texts.length - 2));
  }
});

test('a full disk refuses no line for ever: what was lost is counted, and said as soon as there is room', async (t) => {
  const state = await scratchFileSystem(t, '64k');
  if (state === undefined) return;
  const filler = join(state, 'filler');
  const audit = new AuditFile(state);
  audit.note(line('before'));
  await audit.settled();
  assert.throws(() => writeFileSync(filler, Buffer.alloc(128 * 1024)), /ENOSPC/);
  // The last page of the file takes some of them.
  for (let index = 0; index < 100; index++) {
    audit.note(line(`lost ${index}`));
    await audit.settled();
  }
  rmSync(filler);
  audit.note(line('after'));
  const lines = (await audit.last(200)) as (AuditLine & { lost?: number })[];
  assert.deepEqual([lines[0]?.action, lines.at(-1)?.action], ['before', 'after']);
  const taken = lines.filter(({ action }) => action?.startsWith('lost')).length;
  assert.equal(lines.at(-2)?.lost, 100 - taken);
  assert.ok(taken < 100);
});
