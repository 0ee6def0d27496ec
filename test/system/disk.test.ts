// Project directories that others write to, that are damaged, read-only or full: no lab is lost for it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fill, remountReadOnly, scratchFileSystem } from '../store/scratch.ts';
import { type Daemon, eventually, ownDaemon, startDaemon } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, type ProjectObject } from './lab.ts';
import { Listener } from './notifications.ts';

const fileOf = (lab: Lab): string => join(lab.project.path, lab.project.filename);

/** Changes the text of a project's file as an editor does. */
function edit(lab: Lab, from: string, to: string): void {
  const text = readFileSync(fileOf(lab), 'utf8');
  assert.ok(text.includes(from), text);
  writeFileSync(fileOf(lab), text.replaceAll(from, to));
}

function remountReadWrite(directory: string): void {
  execFileSync('mount', ['-o', 'remount,rw', directory]);
}

function project(daemon: Daemon, name: string): Promise<ProjectObject | undefined> {
  return daemon.get('/v2/projects').then((list: ProjectObject[]) => list.find((one) => one.name === name));
}

test('what another program wrote into a project file wins: over a closed lab, and over what a killed daemon still knew', async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  await lab.pc('PC1');
  await daemon.post(`${lab.path}/close`);
  edit(lab, '"PC1"', '"Edited"');
  await daemon.post(`${lab.path}/open`);
  assert.equal((await lab.nodes())[0]!.name, 'Edited');

  await eventually('the file to be as the lab', () => readFileSync(fileOf(lab), 'utf8').includes('"Edited"'));
  await lab.pc('PC2');
  await daemon.kill();
  edit(lab, '"Edited"', '"EditedAgain"');
  await daemon.start();
  await daemon.post(`${lab.path}/open`);
  assert.equal((await lab.nodes())[0]!.name, 'EditedAgain');
  // What the daemon knew is kept beside it.
  assert.match(readFileSync(`${fileOf(lab)}.labwire-backup`, 'utf8'), /"PC2"/);
});

test('a damaged project file stops neither the server nor other projects; it is listed with the reason, left as it is, and opens once repaired', async (t) => {
  const daemon = await startDaemon(t);
  const healthy = await Lab.create(daemon, 'Healthy');
  await healthy.pc('PC1');
  const damaged = await Lab.create(daemon, 'Damaged');
  await damaged.pc('PC1');
  await daemon.end('SIGTERM');
  const good = readFileSync(fileOf(damaged), 'utf8');
  writeFileSync(fileOf(damaged), good.slice(0, 200));

  await daemon.start();
  const listed = await project(daemon, 'Damaged');
  assert.equal(listed?.project_id, damaged.project.project_id);
  assert.match(listed?.damaged ?? '', /Damaged\.gns3.*JSON/);
  assert.equal((await project(daemon, 'Healthy'))?.damaged, undefined);
  await daemon.post(`${healthy.path}/open`);
  assert.equal((await healthy.nodes()).length, 1);
  const refused = await daemon.ask('POST', `${damaged.path}/open`);
  assert.equal(refused.status, 409);
  assert.match(refused.json.message, /Damaged\.gns3/);
  assert.equal(readFileSync(fileOf(damaged), 'utf8'), good.slice(0, 200));

  writeFileSync(fileOf(damaged), good);
  await daemon.post(`${damaged.path}/open`);
  assert.equal((await damaged.nodes()).length, 1);
  assert.equal((await project(daemon, 'Damaged'))?.damaged, undefined);
});

test('a read-only projects directory refuses new projects and keeps the changes of open ones', async (t) => {
  const projects = await scratchFileSystem(t, '1m');
  if (projects === undefined) return;
  const daemon = await startDaemon(t, { config: `[Server]\nprojects_path = ${projects}\n` });
  const lab = await Lab.create(daemon);
  await lab.pc('PC1');
  await eventually('the file', () => readFileSync(fileOf(lab), 'utf8').includes('"PC1"'));
  const before = readdirSync(projects);
  const listener = await Listener.at(t, daemon, `${lab.path}/notifications`);
  remountReadOnly(projects);

  const refused = await daemon.ask('POST', '/v2/projects', { body: { name: 'Another' } });
  assert.equal(refused.status, 409);
  assert.match(refused.json.message, /read-only/);
  assert.equal(await project(daemon, 'Another'), undefined);
  assert.deepEqual(readdirSync(projects), before);
  const upload = await daemon.ask('POST', `${lab.path}/files/note.txt`, { body: 'note' });
  assert.equal(upload.status, 409, upload.text);
  assert.match(upload.json.message, /read-only/);

  await lab.pc('PC2');
  assert.match((await listener.sees('log.warning')).message, /read-only/);
  await daemon.kill();
  await daemon.start();
  assert.match((await daemon.ask('POST', `${lab.path}/open`)).json.message, /read-only/);
  remountReadWrite(projects);
  await daemon.post(`${lab.path}/open`);
  assert.deepEqual((await lab.nodes()).map(({ name }) => name).sort(), ['PC1', 'PC2']);
});

test('a full disk below a project refuses files whole, and no change of its lab is lost', async (t) => {
  const projects = await scratchFileSystem(t, '512k');
  if (projects === undefined) return;
  const daemon = await startDaemon(t, { config: `[Server]\nprojects_path = ${projects}\n` });
  const lab = await Lab.create(daemon);
  await lab.pc('PC1');
  await eventually('the file', () => readFileSync(fileOf(lab), 'utf8').includes('"PC1"'));
  const ballast = join(projects, 'ballast');
  fill(ballast);
  const listener = await Listener.at(t, daemon, `${lab.path}/notifications`);

  const upload = await daemon.ask('POST', `${lab.path}/files/large.bin`, { body: Buffer.alloc(900_000) });
  assert.equal(upload.status, 507);
  assert.match(upload.json.message, /no space/);
  assert.equal(existsSync(join(lab.project.path, 'large.bin')), false);
  assert.deepEqual(
    readdirSync(lab.project.path).filter((name) => name.startsWith('.')),
    [],
  );
  await lab.pc('PC2');
  assert.match((await listener.sees('log.warning')).message, /no space/);
  const closed = await daemon.ask('POST', `${lab.path}/close`);
  assert.equal(closed.status, 507);

  rmSync(ballast);
  await daemon.post(`${lab.path}/open`);
  assert.deepEqual((await lab.nodes()).map(({ name }) => name).sort(), ['PC1', 'PC2']);
});

test('a log that cannot be written, as on a full disk, ends neither the server nor a request', async (t) => {
  for (const redirection of ['2> /dev/full', '--log /dev/full']) {
    const daemon = ownDaemon(t, { program: ['sh', '-c', `exec "$0" "$@" ${redirection}`, ...executable()] });
    await daemon.spawn();
    await eventually(
      'an answer',
      async () => (await daemon.ask('GET', '/v2/version').catch(() => undefined))?.status === 200,
    );
    const lab = await Lab.create(daemon);
    await lab.pc('PC1');
    assert.equal((await daemon.end('SIGTERM')).code, 0);
  }
});
