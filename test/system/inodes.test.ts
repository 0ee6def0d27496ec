// A disk that has space, but no inode left: no file can be made there.
import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { scratchFileSystem } from '../store/scratch.ts';
import { eventually, ownDaemon } from './daemon.ts';
import { FROM_SOURCE } from './executable.ts';

/** Makes files until there can be no more, those `made` before included. */
function useUp(directory: string, made: string[]): void {
  for (;;) {
    const path = join(directory, `ballast-${made.length}`);
    try {
      closeSync(openSync(path, 'wx'));
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
      return;
    }
    made.push(path);
  }
}

test('without an inode a change is refused whole, but labs close, go, and are there after a start', async (t) => {
  const disk = await scratchFileSystem(t, '64m,nr_inodes=300');
  if (disk === undefined) return;
  const state = join(disk, 'state');
  const daemon = ownDaemon(t, { program: FROM_SOURCE, flags: ['--state', state] });
  await daemon.start();
  const { project_id: id } = await daemon.post('/v2/projects', { name: 'lab', auto_close: false });
  const { project_id: other } = await daemon.post('/v2/projects', { name: 'other', auto_close: false });
  const hub = (name: string) => ({ name, node_type: 'ethernet_hub', compute_id: 'local' });
  for (const name of ['H1', 'H2']) await daemon.post(`/v2/projects/${id}/nodes`, hub(name));
  const namesOf = async (): Promise<string[]> => {
    const nodes: { name: string }[] = await daemon.get(`/v2/projects/${id}/nodes`);
    return nodes.map(({ name }) => name);
  };
  const ballast: string[] = [];
  useUp(disk, ballast);
  const { status, json } = await daemon.ask('POST', '/v2/projects', { body: { name: 'another' } });
  assert.equal(status, 507, JSON.stringify(json));
  // Records take no inode: the lab goes on.
  await daemon.post(`/v2/projects/${id}/nodes`, hub('H3'));
  // A start needs some, which are kept for it.
  for (let start = 0; start < 2; start++) {
    await daemon.kill();
    useUp(disk, ballast);
    await daemon.start();
    await eventually('the lab to be open', async () => (await daemon.get(`/v2/projects/${id}`)).status === 'opened');
    assert.deepEqual(await namesOf(), ['H1', 'H2', 'H3']);
  }
  // So does what gives inodes free, however often others take them.
  for (const path of ['close', 'open', 'close']) {
    useUp(disk, ballast);
    const answer = await daemon.ask('POST', `/v2/projects/${id}/${path}`);
    assert.ok([201, 204].includes(answer.status), `${path}: ${JSON.stringify(answer.json)}`);
  }
  useUp(disk, ballast);
  const deletion = await daemon.ask('DELETE', `/v2/projects/${other}`);
  assert.equal(deletion.status, 204, JSON.stringify(deletion.json));
  assert.equal(existsSync(join(state, 'projects', other)), false);
  // Without those that are kept, a start that has a file to create says what is missing.
  await daemon.kill();
  for (const name of ['reserve-inodes', 'labwired.pid']) rmSync(join(state, name), { recursive: true });
  useUp(disk, ballast);
  const { code, said } = await daemon.refusal();
  assert.equal(code, 1, said);
  assert.match(said, /^labwired: the disk of \S+ has too few inodes left \(\d+\), .*delete files.*\n$/);
  for (const path of ballast) rmSync(path);
  await daemon.start();
  await daemon.post(`/v2/projects/${id}/open`);
  assert.deepEqual(await namesOf(), ['H1', 'H2', 'H3']);
  const projects: { name: string }[] = await daemon.get('/v2/projects');
  assert.deepEqual(
    projects.map(({ name }) => name),
    ['lab'],
  );
});
