// The replicated log over a real NATS: another host's copy of the database equals the controller's, and only one host can write.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { connectMember } from '../../src/cluster/connection.ts';
import { changesStream, LogWriter } from '../../src/cluster/log.ts';
import { createObjects } from '../../src/cluster/objects.ts';
import { Replica, storeCopy } from '../../src/cluster/replica.ts';
import { Database } from '../../src/store/database.ts';
import { becomeLocal, localHost } from '../../src/store/host-change.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import { LEFT_LABS } from '../../src/store/state-paths.ts';
import { Store } from '../../src/store/store.ts';
import { seededIntegers } from '../seeded.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { eventually } from '../system/daemon.ts';
import { threeMembers } from './hosts.ts';
import { Nats } from './nats.ts';

const schema = MIGRATIONS.length;
const TABLES = ['setting', 'project', 'document', 'lab', 'lab_record', 'remote_object'];

/** All rows of all tables. */
async function contentOf(database: Database): Promise<Record<string, unknown>> {
  const content: Record<string, unknown> = {};
  for (const table of TABLES) {
    const rows = await database.all<Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY 1, 2`);
    content[table] = rows.filter(({ name }) => name !== 'log-position');
  }
  return content;
}

interface Bench {
  nats: NatsConnection;
  server: Nats;
  directory: string;
  /** Why copies are not followed. */
  said: string[];
  /** A host's copy, which follows. */
  /** @param opened opens its copy */
  follower(name: string, opened?: (path: string) => Promise<Database>): Promise<Replica>;
  /** A host that may write, from its copy. */
  writer(replica: Replica): { log: LogWriter; lost: string[] };
  caughtUp(replica: Replica, database: Database): Promise<void>;
}

async function bench(t: TestContext): Promise<Bench> {
  const { files, members } = await threeMembers(t);
  const server = await new Nats(t, files.path('nats.conf')).start();
  // A test stops NATS for longer than pings may be without answers.
  const nats = await connectMember(files, members[0]!, { pingInterval: 60_000 });
  t.after(() => nats.close());
  const directory = await scratchDirectory(t);
  await createObjects(nats);
  await changesStream(nats);
  const open = (path: string): Promise<Database> => Database.open(path, MIGRATIONS);
  const said: string[] = [];
  return {
    said,
    nats,
    server,
    directory,
    follower: async (name, openedBy = open) => {
      const failed = (reason: string): void => {
        said.push(reason);
        t.diagnostic(`${name}: ${reason}`);
      };
      const replica = new Replica({ directory: join(directory, name), nats, open: openedBy, schema, failed });
      replica.start();
      t.after(async () => {
        await replica.stop();
        await replica.database?.close();
      });
      await eventually(
        `the copy of ${name}`,
        () => replica.database,
        (database) => database !== undefined,
      );
      return replica;
    },
    writer: (replica) => {
      const lost: string[] = [];
      const log = new LogWriter(nats, { schema, last: replica.seen, lost: (reason) => void lost.push(reason) });
      return { log, lost };
    },
    caughtUp: async (replica, database) => {
      const position = await database.position();
      await eventually(
        'the copy',
        () => replica.seen,
        (seen) => seen >= position,
      );
    },
  };
}

/** The store of a controller that writes into the log. */
async function controllerOf(
  t: TestContext,
  { nats, directory }: Bench,
): Promise<{ database: Database; store: Store; log: LogWriter; lost: string[] }> {
  const host = await Store.open({ stateDirectory: join(directory, 'state') });
  const database = await Database.open(join(directory, 'state', 'cluster.db'), MIGRATIONS);
  t.after(async () => {
    await database.close();
    await host.close();
  });
  await storeCopy(nats, database, directory);
  const lost: string[] = [];
  const log = new LogWriter(nats, { schema, last: 0, lost: (reason) => void lost.push(reason) });
  await log.begin(() => true);
  await database.keepIn(log);
  return { database, store: host.withDatabase(database), log, lost };
}

test('a copy that follows the log has what the controller has, after any changes, and after the log was shortened', async (t) => {
  const parts = await bench(t);
  const { database, store } = await controllerOf(t, parts);
  const early = await parts.follower('early');
  const seed = Number(process.env['LABWIRE_SEED'] ?? Date.now() % 100_000);
  t.diagnostic(`LABWIRE_SEED=${seed}`);
  const roll = seededIntegers(seed);
  const ids = Array.from({ length: 6 }, () => randomUUID());
  const names = Array.from({ length: 30 }, (_, index) => `n${index}`);
  const open = new Set<string>();
  const begin = async (id: string, name: string): Promise<void> => {
    const project = { project_id: id, name, path: join(parts.directory, 'state/projects', id), filename: 'x.gns3' };
    const nodes = Array.from({ length: 1 + roll(40) }, (_, index) => ({ node_id: `n${index}`, name: `N${roll(99)}` }));
    await store.labs.begin(id, { nodes, links: [], drawings: [], computes: [] }, { project: project as never });
    open.add(id);
  };
  const change = async (): Promise<void> => {
    const id = ids[roll(ids.length)]!;
    const name = names[roll(names.length)]!;
    const verb = roll(12);
    if (verb === 0) await store.documents.put('templates', name, { text: `Ä "${roll(1000)}"`, none: null });
    else if (verb === 1) await store.documents.delete('templates', name);
    else if (verb === 2) await begin(id, name);
    else if (verb === 3) {
      await store.labs.end(id);
      open.delete(id);
    } else if (verb === 4) await store.labs.recordWritten(id, `f${roll(9)}`, roll(50));
    else if (verb === 5) {
      await store.projects.delete(id);
      open.delete(id);
    } else if (verb === 6)
      await store.remoteObjects.note({ compute_id: name, project_id: id, path: `/projects/${id}` });
    else if (verb === 7)
      await store.remoteObjects.settle({ compute_id: name, project_id: id, path: `/projects/${id}` });
    else if (open.has(id))
      await store.labs.apply(id, [
        { node: { node_id: name, x: roll(999) } as { node_id: string } },
        { delete: 'node', id: names[roll(names.length)]! },
      ]);
  };
  for (let round = 0; round < 40; round += 1) {
    await Promise.allSettled(Array.from({ length: 10 }, change));
    // One that fails changes nothing anywhere.
    const failing = database.transaction(async ({ run }) => {
      await run("INSERT INTO document (kind, id, body) VALUES ('settings', 'half', '{}')");
      throw new Error('no');
    });
    await assert.rejects(failing, /no/);
    if (round === 20) await storeCopy(parts.nats, database, parts.directory);
  }
  await begin(ids[0]!, 'Last');
  // Larger than a message of NATS.
  const long = 'labwire '.repeat(300_000);
  await store.documents.put('settings', 'long', { long });
  await parts.caughtUp(early, database);
  const expected = await contentOf(database);
  assert.ok((expected['lab_record'] as object[]).length > 0);
  assert.ok(JSON.stringify(expected).includes(long));
  assert.deepEqual(await contentOf(early.database!), expected);
  const late = await parts.follower('late');
  await parts.caughtUp(late, database);
  assert.deepEqual(await contentOf(late.database!), expected);
});

test('a copy is replaced when the log was shortened by changes that it does not have', async (t) => {
  const parts = await bench(t);
  const { database, store } = await controllerOf(t, parts);
  const put = (id: string): Promise<void> => store.documents.put('settings', id, { id });
  await put('one');
  const early = await parts.follower('host');
  await parts.caughtUp(early, database);
  await early.stop();
  let isFirst = true;
  // After it has looked where the log begins.
  const late = await parts.follower('host', async (path) => {
    if (isFirst) {
      isFirst = false;
      for (const id of ['two', 'three', 'four']) await put(id);
      await storeCopy(parts.nats, database, parts.directory);
      await put('last');
    }
    return Database.open(path, MIGRATIONS);
  });
  await eventually(
    'all changes',
    () => contentOf(late.database!).catch(() => undefined),
    (content) => JSON.stringify(content?.['document'] ?? '').includes('last'),
  );
  assert.deepEqual(await contentOf(late.database!), await contentOf(database));
});

test('a host that another one has replaced cannot change anything', async (t) => {
  const parts = await bench(t);
  const { database, store, lost } = await controllerOf(t, parts);
  await store.documents.put('settings', 'one', { of: 'a' });
  const replica = await parts.follower('b');
  await parts.caughtUp(replica, database);
  const { log } = parts.writer(replica);
  await log.begin(() => true);
  await replica.stop();
  await replica.database!.keepIn(log);
  await assert.rejects(store.documents.put('settings', 'two', { of: 'a' }), /controller no more: another host/);
  assert.deepEqual(lost, ['another host has changed the labs']);
  await assert.rejects(store.documents.put('settings', 'three', { of: 'a' }), /controller no more/);
  assert.deepEqual(
    (await store.documents.list('settings')).map(({ id }) => id),
    ['one'],
  );
  await replica.database!.run("INSERT INTO document (kind, id, body) VALUES ('settings', 'four', '{}')");
  const third = await parts.follower('c');
  await parts.caughtUp(third, replica.database!);
  assert.deepEqual(await contentOf(third.database!), await contentOf(replica.database!));
  // One that has not read all cannot take over.
  const behind = new LogWriter(parts.nats, { schema, last: 1, lost: () => {} });
  await assert.rejects(
    behind.begin(() => true),
    /another host/,
  );
});

test('a host that has the key repeats the beginning until the log takes it, once, and no longer than it has the key', async (t) => {
  const parts = await bench(t);
  const { database, store } = await controllerOf(t, parts);
  await store.documents.put('settings', 'one', {});
  const replica = await parts.follower('b');
  await parts.caughtUp(replica, database);
  const { log, lost } = parts.writer(replica);
  // NATS gets all the requests, and answers none of them in time.
  await parts.server.pause();
  let questions = 0;
  const before = replica.seen;
  const position = await log.begin(() => {
    questions += 1;
    if (questions === 9) process.kill(parts.server.pid, 'SIGCONT');
    return true;
  });
  assert.equal(position, before + 1);
  const { streams } = await jetstreamManager(parts.nats, { timeout: 60_000 });
  const { state } = await streams.info('labwire-changes');
  assert.equal(state.last_seq, position);
  await replica.stop();
  await replica.database!.keepIn(log);
  await replica.database!.run("INSERT INTO document (kind, id, body) VALUES ('settings', 'two', '{}')");
  assert.deepEqual(lost, []);

  const late = parts.writer(replica).log;
  late.isReached = false;
  let isHeld = true;
  await assert.rejects(
    late.begin(() => {
      const wasHeld = isHeld;
      isHeld = false;
      return wasHeld;
    }),
    /holds the key of the controller no more/,
  );
});

test('a change that the log may not have is refused as a whole, and readers drop half of one', async (t) => {
  const parts = await bench(t);
  const { database, store, log } = await controllerOf(t, parts);
  const replica = await parts.follower('b');
  await store.documents.put('settings', 'one', {});
  await parts.server.stop();
  log.isReached = false;
  const both = [store.documents.put('settings', 'two', {}), store.documents.put('settings', 'three', {})];
  for (const each of both)
    await assert.rejects(each, { code: 'unavailable', message: /NATS is not reached.*Labs run on/ });
  assert.equal((await store.documents.list('settings')).length, 1, 'reads go on');
  await parts.server.start();
  await eventually(
    'NATS',
    () => parts.nats.rtt().catch(() => undefined),
    (answer) => answer !== undefined,
  );
  log.isReached = true;
  // The first message of two, whose writer ended then.
  await parts.nats.request('labwire.changes', '{"schema":', {
    headers: halfHeaders(),
    timeout: 2_000,
  });
  const next = new LogWriter(parts.nats, { schema, last: (await database.position()) + 1, lost: () => {} });
  await database.keepIn(next);
  await store.documents.put('settings', 'four', {});
  await parts.caughtUp(replica, database);
  assert.deepEqual(await contentOf(replica.database!), await contentOf(database));
});

test('a change without an answer of NATS is refused as one that may still be made', async (t) => {
  const parts = await bench(t);
  const { store } = await controllerOf(t, parts);
  const replica = await parts.follower('b');
  await store.documents.put('settings', 'one', {});
  await parts.server.pause();
  const change = store.documents.put('settings', 'two', {});
  await assert.rejects(change, {
    code: 'unavailable',
    message: /has not confirmed the change, which may still be made/,
  });
  process.kill(parts.server.pid, 'SIGCONT');
  await eventually(
    'the change',
    () => replica.database!.all("SELECT id FROM document WHERE id = 'two'"),
    (rows) => rows.length === 1,
  );
});

function halfHeaders(): MsgHdrs {
  const labels = headers();
  labels.set('Labwire-Change', 'half');
  labels.set('Labwire-Following', '1');
  return labels;
}

test('a host of an older release takes no changes of a later one, says so, and cannot take over', async (t) => {
  const parts = await bench(t);
  const database = await Database.open(join(parts.directory, 'own.db'), MIGRATIONS);
  t.after(() => database.close());
  await storeCopy(parts.nats, database, parts.directory);
  const older = await parts.follower('older');
  const later = new LogWriter(parts.nats, { schema: schema + 1, last: 0, lost: () => {} });
  await later.append([]);
  await eventually('the refusal', () =>
    /runs a later release of Labwire .* install it here, too/.test(parts.said.join()),
  );
  assert.equal(older.seen, 0);
  const { log } = parts.writer(older);
  await assert.rejects(
    log.begin(() => true),
    /another host has changed the labs/,
  );
});

test('a full log refuses changes as a whole with the reason, and takes them again after a copy of the database', async (t) => {
  const parts = await bench(t);
  const { streams } = await jetstreamManager(parts.nats);
  await streams.update('labwire-changes', { max_bytes: 64 * 1024 });
  const { database } = await controllerOf(t, parts);
  const put = (id: string): Promise<unknown> =>
    database.run("INSERT INTO document (kind, id, body) VALUES ('settings', ?, ?)", id, 'x'.repeat(20_000));
  for (const id of ['one', 'two']) await put(id);
  const ids = async (): Promise<string> =>
    (await database.all<{ id: string }>('SELECT id FROM document ORDER BY position')).map(({ id }) => id).join();
  await assert.rejects(
    async () => {
      for (const id of ['three', 'four']) await put(id);
    },
    { code: 'unavailable', message: /The change is not made: the cluster cannot keep it \(.*maximum bytes/ },
  );
  const before = await ids();
  assert.match(before, /^one,two(,three)?$/);
  await storeCopy(parts.nats, database, parts.directory);
  await put('last');
  assert.equal(await ids(), `${before},last`);
});

test('a next controller that cannot read the rest of the log lets the server work meanwhile', async (t) => {
  const parts = await bench(t);
  await controllerOf(t, parts);
  const replica = await parts.follower('next');
  await parts.nats.close();
  let turns = 0;
  const ticking = setInterval(() => {
    turns += 1;
  }, 20);
  t.after(() => clearInterval(ticking));
  const end = performance.now() + 500;
  await assert.rejects(
    replica.finish(() => performance.now() < end),
    /holds the key of the controller no more/,
  );
  assert.ok(turns >= 3, `${turns} turns`);
});

test('a cluster that ends leaves its labs to the host where it began', async (t) => {
  const parts = await bench(t);
  const { database, store } = await controllerOf(t, parts);
  await becomeLocal(database, 'a');
  await store.documents.put('templates', 'ours', { name: 'Ours' });
  const state = join(parts.directory, 'after');
  await (await Store.open({ stateDirectory: state })).close();
  mkdirSync(join(state, LEFT_LABS));
  await database.copyTo(join(state, LEFT_LABS, 'labwire.db'));
  const host = await Store.open({ stateDirectory: state });
  t.after(() => host.close());
  assert.deepEqual(
    (await host.documents.list('templates')).map(({ id }) => id),
    ['ours'],
  );
  assert.ok(!existsSync(join(state, LEFT_LABS)));
  await host.copyTo(join(state, 'copy.db'));
  const copy = await Database.open(join(state, 'copy.db'), MIGRATIONS);
  t.after(() => copy.close());
  assert.deepEqual([await copy.position(), await localHost(copy)], [0, undefined]);
});

test('another host is local after a change of the controller, and the files of open labs count as not written', async (t) => {
  const parts = await bench(t);
  const { database, store } = await controllerOf(t, parts);
  await becomeLocal(database, 'a');
  const id = randomUUID();
  const project = { project_id: id, name: 'x', path: join(parts.directory, 'state/projects', id), filename: 'x.gns3' };
  const nodes = ['local', 'b', 'c'].map((compute_id) => ({ node_id: `on ${compute_id}`, compute_id }));
  const contents = { nodes, links: [], drawings: [], computes: [] };
  await store.labs.begin(id, contents, { fingerprint: 'f', project: project as never });
  assert.equal((await store.labs.state(id))?.dirty, false);
  for (const compute_id of ['local', 'b'])
    await store.remoteObjects.note({ compute_id, project_id: id, path: `/projects/${id}/vpcs/nodes/n` });
  const onB = { compute_id: 'b', project_id: id };
  await store.remoteObjects.note({ ...onB, path: '/projects/open' });
  await store.remoteObjects.note({ ...onB, path: '/projects/deleted', deleted: true });
  await becomeLocal(database, 'b');
  const lab = await store.labs.load(id);
  assert.deepEqual(
    lab?.nodes.map((node) => [node.node_id, node['compute_id']]),
    [
      ['on local', 'a'],
      ['on b', 'local'],
      ['on c', 'c'],
    ],
  );
  assert.deepEqual([lab?.dirty, lab?.fingerprint], [true, undefined]);
  const left = (await store.remoteObjects.list()).map(({ compute_id, path }) => `${compute_id} ${path}`);
  const ofNode = `/projects/${id}/vpcs/nodes/n`;
  assert.deepEqual(left.sort(), [`a ${ofNode}`, `local ${ofNode}`, 'local /projects/deleted'].sort());
});
