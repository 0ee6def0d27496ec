// A damaged database: what can be read of it is there after `recover` and the next start, and labs that were open are open again.
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { cp, open, readFile, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect, settle } from '../../src/store/database.ts';
import { repairRecords, salvageDatabase } from '../../src/store/salvage.ts';
import { failure, scratchDirectory } from '../store/scratch.ts';
import { LabServer } from './lab-server.ts';

/** Changes the database of a server that has stopped. */
async function change(state: string, sql: string): Promise<void> {
  const database = await connect(join(state, 'labwire.db'));
  await settle((done) => database.exec(sql, done));
  await settle((done) => database.close(done));
}

/** Runs what a stopped server's directory is given, as `labwired recover` does. */
async function recover(state: string) {
  return { salvage: await salvageDatabase(state), repair: await repairRecords(state) };
}

/** A state directory as a kill leaves it, all of it in one file: an open lab whose file lacks the hub's last place, a template, a compute. */
async function killed(t: TestContext) {
  const { server, project } = await LabServer.withLab(t, { auto_close: false });
  const { node_id: id } = await server.hub(project, 'H1');
  const hub = `/v2/projects/${project.project_id}/nodes/${id}`;
  const compute = { compute_id: 'away', name: 'Away', protocol: 'http', host: '127.0.0.1', port: 9 };
  await server.call('POST', '/v2/computes', compute);
  const template = { name: 'T', template_type: 'vpcs', compute_id: 'local' };
  const { template_id: templateId } = await server.expect(201, 'POST', '/v2/templates', template);
  await server.expect(200, 'PUT', hub, { x: 77 });
  const state = join(await scratchDirectory(t), 'state');
  // At once, as the server, which is in this process, would write the lab's file in the middle of it.
  cpSync(server.state, state, { recursive: true, filter: (path) => !path.endsWith('labwired.sock') });
  await server.stop();
  await change(state, `PRAGMA wal_checkpoint(TRUNCATE); UPDATE project SET body = json_set(body, '$.scene_width', 77)`);
  return { server, state, project, hub, templateId };
}

type Killed = Awaited<ReturnType<typeof killed>>;

/** Starts the server again on the directory, in its own place, and says what is there. */
async function startOn({ server, project, hub, templateId }: Killed, state: string) {
  await server.stop();
  await rm(server.state, { recursive: true });
  await cp(state, server.state, { recursive: true });
  await server.start();
  // Answers when the lab is open again.
  await server.call('GET', `/v2/projects/${project.project_id}/stats`);
  const [lab, templates, computes, node] = await Promise.all([
    server.call('GET', `/v2/projects/${project.project_id}`),
    server.call('GET', '/v2/templates'),
    server.call('GET', '/v2/computes'),
    server.call('GET', hub),
  ]);
  return {
    lab: lab.json.status,
    template: templates.json.some(({ template_id: id }: { template_id: string }) => id === templateId),
    compute: computes.json.some(({ compute_id: id }: { compute_id: string }) => id === 'away'),
    x: node.json.x,
  };
}

const WHOLE = { lab: 'opened', template: true, compute: true, x: 77 };
const PAGE = 4096;

/** Page where a table or an index begins. */
async function pageOf(path: string, name: string): Promise<number> {
  const database = await connect(path);
  const rows = await settle<{ rootpage: number }[]>((done) =>
    database.all('SELECT rootpage FROM sqlite_schema WHERE name = ?', name, done as (error: Error | null) => void),
  );
  await settle((done) => database.close(done));
  return rows[0]!.rootpage;
}

async function overwrite(path: string, at: number, length: number): Promise<void> {
  await using file = await open(path, 'r+');
  await file.write(Buffer.alloc(length, 0xa5), 0, length, at);
}

/** Damages that cost no row. */
const harmless: Record<string, (path: string) => Promise<void>> = {
  'its last byte is cut off': async (path) => truncate(path, (await stat(path)).size - 1),
  'its header is overwritten': (path) => overwrite(path, 0, 100),
  'its first page is overwritten': (path) => overwrite(path, 0, PAGE),
  'the index of its documents is overwritten': async (path) =>
    overwrite(path, ((await pageOf(path, 'sqlite_autoindex_document_1')) - 1) * PAGE, PAGE),
  'a page that its header counts is cut off': async (path) => {
    // A page of the end of which nothing is used.
    const { size } = await stat(path);
    await using file = await open(path, 'r+');
    const count = Buffer.alloc(4);
    count.writeUInt32BE(size / PAGE + 1);
    await file.write(count, 0, 4, 28);
  },
};

test('a damaged database loses nothing that can be read: templates, computes, and changes of open labs', async (t) => {
  const left = await killed(t);
  for (const [what, damage] of Object.entries(harmless)) {
    const state = join(await scratchDirectory(t), 'state');
    await cp(left.state, state, { recursive: true });
    await damage(join(state, 'labwire.db'));
    await recover(state);
    assert.deepEqual(await startOn(left, state), WHOLE, what);
  }
});

test('the last byte of any record may be lost: the next start reads it, and recover writes it whole', async (t) => {
  const left = await killed(t);
  const cut = 'SET body = substr(body, 1, length(body) - 1) || char(0)';
  await change(left.state, `UPDATE document ${cut}; UPDATE project ${cut}; UPDATE lab_record ${cut}`);
  assert.deepEqual(await startOn(left, left.state), WHOLE, 'without recover');
  const { repair } = await recover(left.state);
  assert.deepEqual([repair?.mended.length, repair?.removed, repair?.left], [3, [], []]);
  assert.deepEqual(await startOn(left, left.state), WHOLE);
});

test('a record that is no JSON takes no other with it: the lab is open again with its changes, with and without recover', async (t) => {
  const left = await killed(t);
  await change(left.state, "UPDATE project SET body = 'not json'");
  assert.deepEqual(await startOn(left, left.state), WHOLE, 'a project, without recover');
  const { repair } = await recover(left.state);
  assert.deepEqual(
    repair?.left.map(({ table, id }) => [table, id]),
    [['project', left.project.project_id]],
  );
  assert.deepEqual(await startOn(left, left.state), WHOLE, 'a project');
  await change(left.state, "UPDATE document SET body = x'00ff' WHERE kind = 'templates'");
  assert.deepEqual(await startOn(left, left.state), { ...WHOLE, template: false });
  await change(left.state, "UPDATE document SET body = '[]' WHERE kind = 'computes'");
  const { repair: second } = await recover(left.state);
  assert.deepEqual(second?.removed.map(({ table }) => table).sort(), ['computes', 'templates']);
  assert.deepEqual(await startOn(left, left.state), { ...WHOLE, template: false, compute: false });
});

test('records missing in a rebuilt database are named, and a lab whose records are not known opens from its file', async (t) => {
  const left = await killed(t);
  const path = join(left.state, 'labwire.db');
  await overwrite(path, ((await pageOf(path, 'document')) - 1) * PAGE, PAGE);
  for (const name of ['lab_record', 'sqlite_autoindex_lab_record_1'])
    await overwrite(path, ((await pageOf(path, name)) - 1) * PAGE, PAGE);
  const { salvage } = await recover(left.state);
  assert.deepEqual(salvage?.lost.sort(), ['computes away', `templates ${left.templateId}`]);
  assert.deepEqual([salvage?.fromFiles, salvage?.incomplete], [[left.project.project_id], true]);
  const { lab, template, compute } = await startOn(left, left.state);
  assert.deepEqual({ lab, template, compute }, { lab: 'opened', template: false, compute: false });
});

test('recover removes records that no start can read, and keeps them beside the database', async (t) => {
  const { server, project } = await LabServer.withLab(t, { auto_close: false });
  await assert.rejects(repairRecords(server.state), failure('conflict', /./));
  await server.stop();
  assert.equal(await repairRecords(server.state), undefined);
  await change(
    server.state,
    "UPDATE project SET body = '{half'; INSERT INTO document (kind, id, body) VALUES ('templates', 'x', '[]')",
  );
  const repair = await repairRecords(server.state);
  assert.deepEqual(
    repair?.removed.map(({ table, id }) => [table, id]),
    [
      ['project', project.project_id],
      ['templates', 'x'],
    ],
  );
  assert.match(await readFile(repair!.keptAs, 'utf8'), /\{half/);
  assert.equal(await repairRecords(server.state), undefined);
  await server.start();
  assert.equal((await server.expect(200, 'GET', `/v2/projects/${project.project_id}`)).name, 'lab');
});
