// Copies of nodes: while a host changes disks that are fetched, and while a lab is being opened.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Computes } from '../../src/controller/computes/computes.ts';
import type { Project } from '../../src/controller/lab/project.ts';
import type { Node } from '../../src/controller/nodes/node.ts';
import { Checkpoints } from '../../src/controller/placement/checkpoints.ts';
import type { ImageCopies } from '../../src/controller/placement/image-copies.ts';
import type { Projects } from '../../src/controller/projects/projects.ts';
import { eventually } from '../eventually.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { memberHost } from './member-host.ts';

/** Rounds of copies, one after the other, of one lab with nodes on one host. */
async function checkpointsOf(t: TestContext, host: unknown, project: object, round = async (): Promise<void> => {}) {
  const directory = await scratchDirectory(t);
  const checkpoints = new Checkpoints({
    ...{ directory, milliseconds: 20, copiesAll: false },
    computes: { list: () => [host] } as unknown as Computes,
    projects: { list: () => [project], find: () => project } as unknown as Projects,
    images: { round } as unknown as ImageCopies,
  });
  t.after(() => checkpoints.stop());
  return { directory, checkpoints };
}

test('a manifest that has changed meanwhile, with the same size, does not take the place of a whole copy', async (t) => {
  const folder = 'project-files/qemu/n/disk-checkpoint';
  const chunk = (letter: string): string => letter.repeat(64);
  /** Listed and sent by the host: the chunk that is there, and the one that the manifest names. */
  let [listed, named, modified, rounds] = ['a', 'a', 1, 0];
  const sent = (): string => JSON.stringify({ disks: { hda: { size: 512, chunks: { 0: chunk(named) } } } });
  const file = (name: string, size: number) => ({ path: `${folder}/${name}`, size, modified });
  const host = await memberHost(t, 'host', {
    'POST /qemu/nodes/n/checkpoint': {},
    'GET /projects/p/files\\?details=yes': (_, response) => {
      rounds += 1;
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify([file(chunk(listed), 1), file('manifest.json', sent().length)]));
    },
    'GET /projects/p/(stream|files)/.*manifest.json': (_, response) => void response.end(sent()),
    'GET /projects/p/(stream|files)/.*': (_, response) => void response.end('x'),
  });
  const node = { id: 'n', name: 'N', type: 'qemu', status: 'started', path: '/qemu/nodes/n', compute: host };
  const project = { id: 'p', isOpen: true, state: 'opened', nodesOn: () => [node], nodes: new Map([['n', node]]) };
  const { directory, checkpoints } = await checkpointsOf(t, host, project);
  const kept = async (): Promise<string> => {
    const own = join(directory, 'p/n');
    const { files } = JSON.parse(await readFile(join(own, 'manifest.json'), 'utf8').catch(() => '{"files":[]}'));
    const { key } = files.find(({ path }: { path: string }) => path.endsWith('/manifest.json')) ?? {};
    return key === undefined ? '' : readFile(join(own, key), 'utf8').catch(() => '');
  };
  checkpoints.start();
  await eventually('the first copy', kept, (text) => text.includes(chunk('a')));
  [named, modified] = ['b', 2];
  const before = rounds;
  await eventually('two whole rounds', () => rounds > before + 2);
  assert.match(await kept(), /aaaa/);
  listed = 'b';
  await eventually('the next copy', kept, (text) => text.includes(chunk('b')));
});

test('a changed file for which there is no room leaves its last copy, with the time of that', async (t) => {
  let [text, rounds] = ['old', 0];
  const host = await memberHost(t, 'host', {
    'GET /projects/p/files\\?details=yes': (_, response) => {
      rounds += 1;
      response.setHeader('Content-Type', 'application/json');
      const path = 'project-files/vpcs/n/startup.vpc';
      response.end(JSON.stringify([{ path, size: text.length, modified: text.length }]));
    },
    'GET /projects/p/(stream|files)/.*': (_, response) => void response.end(text),
    'POST /projects/p/files/.*': {},
  });
  const node = { id: 'n', type: 'vpcs', status: 'started', compute: host };
  const other = { id: 'o', type: 'vpcs', status: 'started', compute: { id: 'other', place: {} } };
  const nodes = new Map(Object.entries({ n: node, o: other }));
  const project = { id: 'p', isOpen: true, state: 'opened', nodesOn: () => [node], nodes };
  const { directory, checkpoints } = await checkpointsOf(t, host, project);
  const own = join(directory, 'p/n');
  const copy = async (): Promise<string> => {
    const keys = (await readdir(own).catch(() => [])).filter((name) => /^[0-9a-f]{64}$/.test(name));
    return (await Promise.all(keys.map((key) => readFile(join(own, key), 'utf8')))).join();
  };
  const full = async (room: number): Promise<void> => {
    const files = [{ path: 'a', key: 'k', size: 2 ** 31 - room }];
    await mkdir(join(directory, 'p/o'), { recursive: true });
    await writeFile(join(directory, 'p/o/manifest.json'), JSON.stringify({ taken: '', files, missing: 0 }));
  };
  const next = async (): Promise<void> => {
    const before = rounds;
    await eventually('two whole rounds', () => rounds > before + 2);
  };
  const takenAt = async (): Promise<number | undefined> =>
    (await checkpoints.restore(project as unknown as Project, node as unknown as Node, host))?.taken.getTime();
  checkpoints.start();
  await eventually('the first copy', copy, (found) => found === 'old');
  await full(5);
  await next();
  text = 'longer';
  await next();
  assert.equal(await copy(), 'old');
  const taken = await takenAt();
  await next();
  assert.equal(await takenAt(), taken);
  // The former one makes room for the new one.
  await full(6);
  await eventually('the next copy', copy, (found) => found === 'longer');
});

test('copies stay while their lab is being opened, and those of deleted nodes go afterwards', async (t) => {
  const host = await memberHost(t, 'host', {});
  const project = { id: 'p', isOpen: true, state: 'opening', nodesOn: () => [], nodes: new Map() };
  let rounds = 0;
  const { directory, checkpoints } = await checkpointsOf(t, host, project, async () => {
    rounds += 1;
  });
  const copy = join(directory, 'p/n');
  await mkdir(copy, { recursive: true });
  checkpoints.start();
  await eventually('several rounds', () => rounds > 3);
  assert.ok(existsSync(copy));
  project.state = 'opened';
  await eventually('the end of the copy', () => !existsSync(copy));
});
