import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import type { ProjectRecord } from '../../src/store/projects.ts';
import { Store } from '../../src/store/store.ts';
import { seeded } from '../seeded.ts';
import { failure, scratchDirectory, scratchFileSystem } from './scratch.ts';

const ID = '00000000-0000-4000-8000-000000000001';

function project(project_id = ID, name = 'lab'): ProjectRecord {
  return {
    ...{ project_id, name, path: `/projects/${project_id}`, filename: `${name}.gns3` },
    ...{ auto_start: false, auto_open: false, auto_close: true, scene_height: 1000, scene_width: 2000, zoom: 100 },
    ...{ show_layers: false, snap_to_grid: false, show_grid: false, show_interface_labels: false },
    ...{
      grid_size: 75,
      drawing_grid_size: 25,
      supplier: null,
      variables: [{ name: 'ü', value: '\u0000\ud83d\udda7' }],
    },
  };
}

const node = (id: string, more: object = {}) => ({ node_id: id, ...more });
const EMPTY = { nodes: [], links: [], drawings: [], computes: [] };

async function withLab(t: TestContext, fingerprint?: string): Promise<{ store: Store; stateDirectory: string }> {
  const stateDirectory = join(await scratchDirectory(t), 'state');
  const store = await Store.open({ stateDirectory });
  t.after(() => store.close());
  await store.projects.put(project());
  await store.labs.begin(ID, EMPTY, fingerprint === undefined ? {} : { fingerprint });
  return { store, stateDirectory };
}

test('projects, labs and documents are there again after a restart, in the order of their creation', async (t) => {
  const { store, stateDirectory } = await withLab(t);
  await store.projects.put(project('b', 'second'));
  await store.projects.put({ ...project(), zoom: 50 });
  const nodes = ['z', 'a', 'm'].map((id, index) =>
    node(id, { x: index, text: '\u0000 "quoted" \ud83d\udda7', properties: { deep: [{ a: null }] } }),
  );
  for (const it of nodes) await store.labs.apply(ID, [{ node: it }]);
  await store.labs.apply(ID, [{ node: { ...nodes[0]!, x: 100 } as { node_id: string } }]);
  await store.labs.apply(ID, [{ link: { link_id: 'l' } }]);
  await store.labs.apply(ID, [{ drawing: { drawing_id: 'z' } }]);
  for (const id of ['2', '1', '3']) await store.documents.put('computes', id, { id });
  await store.documents.put('computes', '2', { id: 'two' });
  await store.documents.put('templates', '1', { other: true });
  await store.documents.delete('computes', '1');
  await store.close();

  await using again = await Store.open({ stateDirectory });
  assert.equal(again.instance, store.instance);
  assert.deepEqual(await again.projects.list(), [{ ...project(), zoom: 50 }, project('b', 'second')]);
  assert.deepEqual(await again.projects.get('b'), project('b', 'second'));
  const lab = (await again.labs.load(ID))!;
  assert.deepEqual(lab.nodes, [{ ...nodes[0], x: 100 }, nodes[1], nodes[2]]);
  assert.deepEqual([lab.links, lab.drawings, lab.computes], [[{ link_id: 'l' }], [{ drawing_id: 'z' }], []]);
  assert.deepEqual(await again.documents.list('computes'), [
    { id: '2', body: { id: 'two' } },
    { id: '3', body: { id: '3' } },
  ]);
  assert.deepEqual(await again.documents.list('templates'), [{ id: '1', body: { other: true } }]);
  assert.deepEqual(await again.documents.list('settings'), []);
});

test('changes that are applied together take effect together; of one record the last change counts', async (t) => {
  const { store } = await withLab(t);
  await store.labs.apply(ID, [
    { node: node('a') },
    { node: node('b') },
    { link: { link_id: 'l' } },
    { drawing: { drawing_id: 'd' } },
  ]);
  await store.labs.apply(ID, [
    { delete: 'node', id: 'a' },
    { delete: 'link', id: 'l' },
    { node: node('c') },
    { node: node('b', { x: 1 }) },
    { delete: 'node', id: 'c' },
    { delete: 'drawing', id: 'd' },
    { drawing: { drawing_id: 'd' } },
    { compute: { compute_id: 'far' } },
  ]);
  const { nodes, links, drawings, computes } = (await store.labs.load(ID))!;
  assert.deepEqual(
    [nodes, links, drawings, computes],
    [[node('b', { x: 1 })], [], [{ drawing_id: 'd' }], [{ compute_id: 'far' }]],
  );
});

test('the file of a lab does not count as written until this very change was written', async (t) => {
  const { store } = await withLab(t, 'as found');
  const dirty = async () => (await store.labs.state(ID))!.dirty;
  assert.equal(await dirty(), false);
  await store.labs.apply(ID, [{ node: node('a') }]);
  const read = (await store.labs.load(ID))!;
  assert.equal(read.dirty, true);
  await store.labs.apply(ID, [{ delete: 'node', id: 'a' }]); // while the file is being written
  await store.labs.recordWritten(ID, 'written', read.changes);
  assert.equal(await dirty(), true);
  await store.labs.recordWritten(ID, 'written again', (await store.labs.load(ID))!.changes);
  assert.deepEqual(await store.labs.list(), [
    { project_id: ID, dirty: false, changes: 2, fingerprint: 'written again', coming: undefined, closing: false },
  ]);
  await store.projects.put({ ...project(), zoom: 80 });
  assert.equal(await dirty(), true, 'settings of the project are in its file, too');
});

test('a new lab has yet to be written, an ended one is gone, a project takes its lab along', async (t) => {
  const { store } = await withLab(t);
  const fresh = { project_id: ID, dirty: true, changes: 0, fingerprint: undefined, coming: undefined, closing: false };
  assert.deepEqual(await store.labs.state(ID), fresh);
  await store.labs.apply(ID, [{ node: node('old') }]);
  await store.labs.begin(ID, { ...EMPTY, nodes: [node('b'), node('a')] }, { fingerprint: 'file' });
  const lab = (await store.labs.load(ID))!;
  assert.deepEqual([lab.nodes, lab.dirty, lab.fingerprint], [[node('b'), node('a')], false, 'file']);
  await store.labs.end(ID);
  assert.equal(await store.labs.load(ID), undefined);
  await assert.rejects(store.labs.apply(ID, [{ node: node('late') }]), /FOREIGN KEY/);
  await store.labs.begin(ID, EMPTY);
  await store.projects.delete(ID);
  assert.deepEqual(await store.labs.list(), []);
});

test('a lab of thousands of records is stored and read in one piece', async (t) => {
  const { store } = await withLab(t);
  const nodes = Array.from({ length: 5000 }, (_, index) => node(`n${5000 - index}`, { x: index }));
  await store.labs.begin(ID, { ...EMPTY, nodes });
  assert.deepEqual((await store.labs.load(ID))!.nodes, nodes);
});

test('the state directory is made for this user alone, and a place where none can be made is named', async (t) => {
  const { stateDirectory } = await withLab(t);
  assert.equal((await stat(stateDirectory)).mode & 0o777, 0o700);
  await assert.rejects(
    Store.open({ stateDirectory: join(stateDirectory, 'labwire.db', 'below') }),
    failure('conflict', /the state directory .*below cannot be made .*--state/),
  );
});

test('a state directory on a full disk is refused with the reason', async (t) => {
  const directory = await scratchFileSystem(t, '16k');
  if (directory === undefined) return;
  await assert.rejects(
    Store.open({ stateDirectory: join(directory, 'state') }),
    failure('out-of-space', /no space is left/),
  );
});

interface Daemon {
  process: ChildProcess;
  lines: string[];
  /** The first line: `open <instance>` or `refused <message>`. */
  answer: Promise<string>;
  ended: Promise<unknown>;
}

function daemon(...words: string[]): Daemon {
  const script = join(import.meta.dirname, 'daemon-process.ts');
  const process_ = spawn(process.execPath, [script, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const reader = createInterface(process_.stdout);
  reader.on('line', (line) => lines.push(line));
  return {
    process: process_,
    lines,
    answer: once(reader, 'line').then(([line]) => line as string),
    ended: Promise.all([once(process_, 'exit'), once(reader, 'close')]),
  };
}

test('a second daemon on one state directory refuses with the directory and the pid of the first; kill -9 gives it free', async (t) => {
  const { store, stateDirectory } = await withLab(t);
  const message = (pid: number | undefined) =>
    new RegExp(`${stateDirectory} is in use by another labwired \\(pid ${pid}\\): stop it, or .*--state`);
  await assert.rejects(Store.open({ stateDirectory }), failure('conflict', message(process.pid)));
  const refused = daemon(stateDirectory, ID);
  assert.match(await refused.answer, message(process.pid));
  await refused.ended;
  // Having refused, it took nothing away from the holder.
  await assert.rejects(Store.open({ stateDirectory }), failure('conflict', message(process.pid)));
  await store.close();
  assert.deepEqual((await readdir(stateDirectory)).sort(), [...['instance', 'labwire.db', 'labwired.lock']]);

  const holder = daemon(stateDirectory, ID);
  assert.match(await holder.answer, /^open/);
  await assert.rejects(Store.open({ stateDirectory }), failure('conflict', message(holder.process.pid)));
  holder.process.kill('SIGKILL');
  await holder.ended;
  await (await Store.open({ stateDirectory })).close();
});

test('kill -9 at any moment loses no acknowledged change and leaves none of them half done', async (t) => {
  const seed = Number(process.env['LABWIRE_TEST_SEED'] ?? Math.floor(Math.random() * 1e9));
  t.diagnostic(`LABWIRE_TEST_SEED=${seed}`);
  const next = seeded(seed);
  const { store, stateDirectory } = await withLab(t);
  await store.close();
  const said: string[] = [];
  for (let round = 0; round < 30; round += 1) {
    const writer = daemon(stateDirectory, ID, String(round * 1_000_000));
    assert.equal(await writer.answer, `open ${store.instance}`);
    await new Promise((resolve) => setTimeout(resolve, next() * 60));
    writer.process.kill('SIGKILL');
    await writer.ended;
    said.push(...writer.lines.slice(1));
    if (round % 5 === 4) await check(stateDirectory, said);
  }
  assert.ok(said.length > 60, `only ${said.length} changes were acknowledged`);
  t.diagnostic(`${said.length} acknowledged changes`);
});

async function check(stateDirectory: string, said: readonly string[]): Promise<void> {
  await using store = await Store.open({ stateDirectory });
  const lab = (await store.labs.load(ID))!;
  const nodes = new Set(lab.nodes.map((it) => it.node_id));
  const links = new Set(lab.links.map((it) => it.link_id));
  const drawings = new Set(lab.drawings.map((it) => it.drawing_id));
  const templates = new Set((await store.documents.list('templates')).map((it) => it.id));
  const lines = new Set(said);
  for (const line of said) {
    const [kind, id] = line.split(' ') as [string, string];
    // The deletion of every fifth may have happened without having been acknowledged.
    if (kind === 'node' && Number(id) % 5 !== 0) assert.ok(nodes.has(`node-${id}`), line);
    if (kind === 'node' && Number(id) % 5 === 0 && lines.has(`node ${Number(id) + 1}`))
      assert.ok(lines.has(`deleted ${id}`));
    if (kind === 'deleted') assert.ok(!nodes.has(`node-${id}`), line);
    if (kind === 'template') assert.ok(templates.has(`template-${id}`), line);
    if (kind === 'pair') assert.ok(drawings.has(`drawing-${id}`), line);
  }
  for (const link of links) assert.ok(drawings.has(link.replace('link', 'drawing')), `${link} has lost its other half`);
  for (const drawing of drawings) {
    const [number, part] = drawing.slice('drawing-'.length).split('-') as [string, string];
    const removed = drawings.has(`drawing-${Number(number) + 50}-${part}`);
    assert.equal(links.has(`link-${number}-${part}`), !removed, `${drawing}: its link`);
  }
}

test('the identity of an installation outlives its database; a file that holds none is written again', async (t) => {
  const stateDirectory = join(await scratchDirectory(t), 'state');
  const instanceNow = async (): Promise<string> => {
    await using store = await Store.open({ stateDirectory });
    return store.instance;
  };
  const first = await instanceNow();
  for (const name of await readdir(stateDirectory)) {
    if (name.startsWith('labwire.db')) await rm(join(stateDirectory, name));
  }
  assert.equal(await instanceNow(), first);
  for (const content of ['', 'no identity\n', `${first}${'x'.repeat(100_000)}`]) {
    await writeFile(join(stateDirectory, 'instance'), content);
    assert.equal(await instanceNow(), first, 'the database has it');
    assert.equal(await readFile(join(stateDirectory, 'instance'), 'utf8'), `${first}\n`);
  }
});
