// What the next controller has of an acknowledged change: one stream of events for clients that come back, and the files.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { createAnnouncer } from '../../src/controller/events.ts';
import { KeptEvents } from '../../src/controller/kept-events.ts';
import type { Message } from '../../src/events/message.ts';
import type { Fabric } from '../../src/fabric/fabric.ts';
import { configureLog } from '../../src/host/log.ts';
import { assembleController, assembleHost, type Turns } from '../../src/start/assembly.ts';
import { AuditFile } from '../../src/store/audit.ts';
import { Database } from '../../src/store/database.ts';
import { StoredEvents } from '../../src/store/events.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import { Store } from '../../src/store/store.ts';
import { scratchDirectory } from '../store/scratch.ts';

configureLog({ write: () => {} });

const LAB = { project_id: 'p1' };

interface Log {
  fails: boolean;
  /** Statements of the changes that it was asked to take. */
  asked: number[];
}

/** A database whose changes go into a log, as that of a controller of a cluster. */
async function opened(t: TestContext): Promise<{ database: Database; log: Log }> {
  const database = await Database.open(join(await scratchDirectory(t), 'labwire.db'), MIGRATIONS);
  t.after(() => database.close());
  const log = { fails: false, last: 0, asked: [] as number[] };
  await database.keepIn({
    append: async (statements) => {
      log.asked.push(statements.length);
      if (log.fails) throw new Error('NATS is not reached');
      return ++log.last;
    },
    fellBehind: () => {},
  });
  return { database, log };
}

/** The next controller. */
async function controller(database: Database, { leftOpen = [] as string[], isReopening = (): boolean => false } = {}) {
  const announcer = createAnnouncer();
  const kept = new KeptEvents({
    ...{ announcer, stored: new StoredEvents(database), leftOpen: () => leftOpen, isReopening },
  });
  await kept.start();
  const { project } = announcer;
  return {
    ...{ announcer, kept },
    now: () => `${project.epoch}-${project.emitted}`,
    /** A request that changes the lab, and emits an event of it. */
    change: (name: string) =>
      kept.during(async () => {
        await database.run("INSERT INTO project (project_id, body) VALUES (?, '{}')", name);
        project.relay({ action: 'node.created', event: { ...LAB, name }, project_id: LAB.project_id });
      }),
    missed: (since: string, admits?: (message: Message) => boolean) => {
      const subscription = project.subscribe(LAB.project_id, since, false, admits);
      const messages = subscription.takeAll(10_000);
      const told = messages.map(({ action, event }) => ('name' in event ? `${action} ${event.name}` : action));
      return [...(subscription.gap ? ['gap'] : []), ...told];
    },
  };
}

test('the next controller has each event of an acknowledged change once, in order, also the one after it', async (t) => {
  const { database } = await opened(t);
  const first = await controller(database);
  await first.change('A');
  const since = first.now();
  await Promise.all([first.change('B'), first.change('C')]);
  const second = await controller(database);
  assert.deepEqual(second.missed(since), ['node.created B', 'node.created C']);
  const later = second.now();
  await second.change('D');
  const third = await controller(database);
  assert.deepEqual(third.missed(since), ['node.created B', 'node.created C', 'node.created D']);
  assert.deepEqual(third.missed(later), ['node.created D']);
  assert.deepEqual(third.missed('0123456789ab-3'), ['gap']);
});

test('the number of an event that a client has, but that is not kept, is known', async (t) => {
  const { database } = await opened(t);
  const first = await controller(database);
  first.announcer.project.emit('log.info', { message: 'Hello' }, LAB.project_id);
  const since = first.now();
  const second = await controller(database);
  await second.change('A');
  assert.deepEqual(second.missed(since), ['node.created A']);
});

test('after a change whose events may be missing, a gap follows the events that are known', async (t) => {
  const { database } = await opened(t);
  const first = await controller(database);
  const since = first.now();
  await first.change('A');
  // The host dies between the change and its event.
  await database.run("INSERT INTO project (project_id, body) VALUES ('B', '{}')");
  const second = await controller(database);
  assert.deepEqual(second.missed(since), ['node.created A', 'notifications.gap']);
  assert.deepEqual((await controller(database)).missed(second.now()), [], 'once');
});

test('events that could not be kept are kept with the next ones', async (t) => {
  const { database, log } = await opened(t);
  const first = await controller(database);
  const since = first.now();
  log.fails = true;
  first.announcer.project.relay({ action: 'node.updated', event: { ...LAB, name: 'A' }, project_id: LAB.project_id });
  await first.kept.settled();
  log.fails = false;
  await first.change('B');
  assert.deepEqual((await controller(database)).missed(since), ['node.updated A', 'node.created B']);
});

test('for a lab that opens again only the state of its nodes is reported', async (t) => {
  const { database } = await opened(t);
  const first = await controller(database);
  const since = first.now();
  let isReopening = true;
  const second = await controller(database, { leftOpen: [LAB.project_id], isReopening: () => isReopening });
  const { announcer, missed } = second;
  for (const action of ['node.created', 'link.created', 'drawing.created'])
    announcer.project.relay({ action, event: { ...LAB, name: 'A' }, project_id: LAB.project_id });
  isReopening = false;
  await second.change('B');
  assert.deepEqual(missed(since), ['node.updated A', 'node.created B']);
});

test('events of a deleted lab, and of labs that are not shared with the client, are not sent', async (t) => {
  const { database } = await opened(t);
  const first = await controller(database);
  const since = first.now();
  await first.change('A');
  const second = await controller(database);
  assert.deepEqual(
    second.missed(since, () => false),
    [],
  );
  second.announcer.forgotten?.(LAB.project_id);
  await second.kept.settled();
  assert.deepEqual((await controller(database)).missed(since), []);
});

test('of thousands of events the last 4,096 are kept; a client from before them gets a gap', async (t) => {
  const { database } = await opened(t);
  const first = await controller(database);
  const begin = first.now();
  for (let batch = 0; batch < 12; batch += 1)
    await first.kept.during(async () => {
      for (let n = 0; n < 512; n += 1)
        first.announcer.project.relay({ action: 'node.updated', event: LAB, project_id: LAB.project_id });
    });
  const [epoch, last] = first.now().split('-');
  const second = await controller(database);
  assert.deepEqual(second.missed(begin), ['gap']);
  assert.equal(second.missed(`${epoch}-${Number(last) - 4_000}`).length, 4_000);
});

test('while the log is full only the last events wait, and each attempt is small; clients from before get a gap', async (t) => {
  const { database, log } = await opened(t);
  const first = await controller(database);
  const since = first.now();
  log.fails = true;
  for (let batch = 0; batch < 3; batch += 1)
    await first.kept.during(async () => {
      for (let n = 0; n < 4_000; n += 1)
        first.announcer.project.relay({ action: 'node.updated', event: LAB, project_id: LAB.project_id });
    });
  log.fails = false;
  log.asked = [];
  await first.change('A');
  const sum = log.asked.reduce((total, count) => total + count, 0);
  assert.ok(sum < 5_000 && Math.max(...log.asked) < 512, `${log.asked}`);
  const afterwards = first.now();
  await first.change('B');
  const second = await controller(database);
  assert.deepEqual(second.missed(since), ['gap']);
  // The gap is over for a client that came after it.
  assert.deepEqual(second.missed(afterwards), ['node.created B']);
});

test('an event with a large picture is not kept: clients from before get a gap, also while the log fails', async (t) => {
  const { database, log } = await opened(t);
  const first = await controller(database);
  const since = first.now();
  await first.change('A');
  const draw = (): void =>
    first.announcer.project.relay({
      action: 'drawing.created',
      event: { ...LAB, svg: 'x'.repeat(100_000) },
      project_id: LAB.project_id,
    });
  await first.kept.during(async () => draw());
  const drawn = first.now();
  assert.equal((await database.all("SELECT * FROM event WHERE action = 'drawing.created'")).length, 0);
  await first.change('B');
  const second = await controller(database);
  assert.deepEqual(second.missed(since), ['gap']);
  assert.deepEqual(second.missed(drawn), ['node.created B']);

  log.fails = true;
  const failing = first.change('C').catch(() => {});
  first.announcer.project.relay({ action: 'node.updated', event: { ...LAB, name: 'D' }, project_id: LAB.project_id });
  await new Promise(setImmediate);
  draw();
  await failing;
  log.fails = false;
  await first.change('E');
  assert.deepEqual((await controller(database)).missed(drawn), ['gap']);
});

test('controllers that end soon leave no more events than others', async (t) => {
  const { database } = await opened(t);
  for (let turn = 0; turn < 12; turn += 1) {
    const { kept, announcer } = await controller(database);
    await kept.during(async () => {
      for (let n = 0; n < 500; n += 1)
        announcer.project.relay({ action: 'node.updated', event: LAB, project_id: LAB.project_id });
    });
  }
  const [row] = await database.all<{ count: number }>("SELECT COUNT(*) AS count FROM event WHERE bus = 'project'");
  assert.ok(row!.count <= 4_096 + 512, `${row!.count}`);
});

test('a change is acknowledged when the files of its lab are kept, however a client spells the lab', async (t) => {
  const state = await scratchDirectory(t);
  const flags = [{ section: 'Server' as const, key: 'port', value: '0', flag: '--port' }];
  const { config } = loadConfig({ flags, environment: {}, workingDirectory: state, home: state, state });
  await using store = await Store.open({ stateDirectory: state });
  const kept: string[] = [];
  const turns: Turns = {
    obstacle: () => undefined,
    filesOf: async (_kind, id = '') => ((await store.projects.get(id)) ? [{ path: id }] : []),
    keep: async (shared) => void kept.push(...shared.map(({ path }) => path)),
    audit: new AuditFile(state),
  };
  // A lab without nodes needs no fabric.
  const host = assembleHost({ config, store, fabric: {} as Fabric });
  const { app, controller: labs } = assembleController(host, { store, shutdown: () => {}, turns });
  await labs.start(0);
  try {
    const made = await app.request('/v2/projects', { method: 'POST', body: '{"name":"lab"}' });
    const { project_id: id } = (await made.json()) as { project_id: string };
    const encoded = `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`;
    const changes = [
      ...[id, encoded].map((spelled) => `POST /v2/projects/${spelled}/files/a`),
      ...[id, encoded, id.toUpperCase(), id.replaceAll('-', '')].map(
        (spelled) => `POST /v3/projects/${spelled}/files/a`,
      ),
      `DELETE /v3/projects/${encoded.toUpperCase()}`,
    ];
    for (const change of changes) {
      const [method, path] = change.split(' ') as [string, string];
      kept.length = 0;
      const answer = await app.request(path, { method, body: method === 'POST' ? 'x' : null });
      assert.deepEqual([answer.ok, kept], [true, [id]], change);
    }
  } finally {
    await labs.stop();
  }
});
