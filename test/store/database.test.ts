import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, Database, settle } from '../../src/store/database.ts';
import { failure, remountReadOnly, scratchDirectory, scratchFileSystem } from './scratch.ts';

const TABLE = ['CREATE TABLE word (position INTEGER PRIMARY KEY, text TEXT UNIQUE)'];
const INSERT = 'INSERT INTO word (text) VALUES (?)';

async function words(database: Database): Promise<string[]> {
  return (await database.all<{ text: string }>('SELECT text FROM word ORDER BY position')).map((row) => row.text);
}

test('changes take effect and are answered in the order of the calls, however many are under way', async (t) => {
  await using database = await opened(await scratchDirectory(t));
  const answered: string[] = [];
  const expected: string[] = [];
  for (let wave = 0; wave < 20; wave += 1) {
    const calls = Array.from({ length: 20 }, (_, index) => {
      const text = `${wave}-${index}`;
      expected.push(text);
      const call = index % 3 === 0 ? database.transaction(({ run }) => run(INSERT, text)) : database.run(INSERT, text);
      return call.then(() => answered.push(text));
    });
    if (wave % 4 === 0) await Promise.all(calls);
    else await calls[wave];
  }
  assert.deepEqual(await words(database), expected);
  assert.deepEqual(answered, expected);
});

test('a change is in the file when it is acknowledged: another connection sees it', async (t) => {
  const directory = await scratchDirectory(t);
  await using database = await opened(directory);
  const other = await connect(join(directory, 'test.db'));
  t.after(() => settle((done) => other.close(done)));
  const seen = (text: string) =>
    settle<unknown>((done) =>
      other.get('SELECT 1 FROM word WHERE text = ?', text, done as (error: Error | null) => void),
    );
  const check = async (text: string, call: Promise<unknown>) => {
    await call;
    assert.ok(await seen(text), text);
  };
  // The first is alone, the others are committed together.
  await Promise.all(Array.from({ length: 30 }, (_, index) => check(`w${index}`, database.run(INSERT, `w${index}`))));
});

test('what fails fails alone: others that are committed with it are kept, and nothing of it stays', async (t) => {
  await using database = await opened(await scratchDirectory(t));
  await database.run(INSERT, 'taken');
  const half = () =>
    database.transaction(async ({ run }) => {
      await run(INSERT, 'half');
      await run(INSERT, 'taken');
    });
  const results = await Promise.allSettled([
    database.run(INSERT, 'a'),
    database.run(INSERT, 'taken'),
    database.run(INSERT, 'b'),
    half(),
    database.transaction(async ({ run }) => {
      await run(INSERT, 'c');
      throw new Error('changed my mind');
    }),
    database.run('INSERT INTO nowhere VALUES (1)'),
    database.run(INSERT, 'd'),
  ]);
  assert.deepEqual(
    results.map((result) => result.status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled'],
  );
  assert.match(String((results[4] as PromiseRejectedResult).reason), /changed my mind/);
  await assert.rejects(half());
  assert.deepEqual(await words(database), ['taken', 'a', 'b', 'd']);
});

test('closing finishes earlier requests, and refuses later ones', async (t) => {
  const directory = await scratchDirectory(t);
  const database = await Database.open(join(directory, 'test.db'), TABLE);
  const before = [database.run(INSERT, 'a'), database.run(INSERT, 'b'), database.run(INSERT, 'c')];
  const closed = database.close();
  await assert.rejects(database.run(INSERT, 'late'), failure('unavailable', /stopping/));
  await Promise.all([...before, closed, database.close()]);
  await using again = await opened(directory);
  assert.deepEqual(await words(again), ['a', 'b', 'c']);
});

test('migrations are applied once each, in order, and keep existing data', async (t) => {
  const directory = await scratchDirectory(t);
  await using first = await opened(directory);
  await first.run(INSERT, 'old');
  await first.close();
  const more = [
    ...TABLE,
    "ALTER TABLE word ADD COLUMN mark TEXT; UPDATE word SET mark = text || '!'",
    "INSERT INTO word (text) VALUES ('new')",
  ];
  for (let time = 0; time < 2; time += 1) {
    await using later = await opened(directory, more);
    assert.deepEqual(await later.all('SELECT text, mark FROM word ORDER BY position'), [
      { text: 'old', mark: 'old!' },
      { text: 'new', mark: null },
    ]);
  }
});

test('a migration that fails leaves the database as it was before it', async (t) => {
  const directory = await scratchDirectory(t);
  await (await opened(directory)).close();
  const wrong = [...TABLE, "INSERT INTO word (text) VALUES ('half'); INSERT INTO nowhere VALUES (1)"];
  await assert.rejects(opened(directory, wrong), /nowhere/);
  await using again = await opened(directory);
  assert.deepEqual(await words(again), []);
});

test('a database of a later release is refused with the way out and left as it is', async (t) => {
  const directory = await scratchDirectory(t);
  await (await opened(directory, [...TABLE, 'CREATE TABLE later (id)', 'CREATE TABLE later_still (id)'])).close();
  const before = await readFile(join(directory, 'test.db'));
  await assert.rejects(
    opened(directory),
    failure('conflict', /test\.db was written by a later release .*schema 3.*knows 1.*--state/),
  );
  assert.deepEqual(await readFile(join(directory, 'test.db')), before);
  assert.deepEqual(await readdir(directory), ['test.db']);
});

test('a damaged database is refused with the way out and left as it is', async (t) => {
  const directory = await scratchDirectory(t);
  const path = join(directory, 'test.db');
  const database = await opened(directory);
  for (let index = 0; index < 50; index += 1) await database.run(INSERT, `${index} ${'x'.repeat(500)}`);
  await database.close();
  const sound = await readFile(path);
  const damaged: Record<string, Buffer> = {
    'another file': Buffer.from('this is a diary, not a database. '.repeat(1000)),
    'a short text': Buffer.from('oops'),
    'half of it': sound.subarray(0, sound.length / 2),
    'an overwritten page': Buffer.concat([sound.subarray(0, 8192), Buffer.alloc(4096, 0xa5), sound.subarray(12288)]),
    'an overwritten schema': Buffer.concat([sound.subarray(0, 100), Buffer.alloc(3996, 0xa5), sound.subarray(4096)]),
  };
  for (const [title, content] of Object.entries(damaged)) {
    await writeFile(path, content);
    await assert.rejects(
      opened(directory),
      failure('conflict', /test\.db is damaged \(.+\) and was left as it is: put back/),
      title,
    );
    assert.deepEqual(await readFile(path), content, title);
  }
});

test('on a full disk a change is refused for want of space, what was acknowledged stays, and afterwards all goes on', async (t) => {
  const directory = await scratchFileSystem(t, '1m');
  if (directory === undefined) return;
  const ballast = join(directory, 'ballast');
  await writeFile(ballast, Buffer.alloc(300_000));
  const kept: string[] = [];
  {
    await using database = await opened(directory);
    const fill = async (text: string) => {
      await database.run(INSERT, text);
      kept.push(text);
    };
    const fillAll = async () => {
      for (let index = 0; ; index += 5) {
        await Promise.all([0, 1, 2, 3, 4].map((offset) => fill(`${index + offset} ${'x'.repeat(10_000)}`)));
      }
    };
    await assert.rejects(fillAll(), failure('out-of-space', /test\.db cannot grow: no space is left/));
    assert.ok(kept.length > 10);
    assert.deepEqual((await words(database)).sort(), [...kept].sort());
    await unlink(ballast);
    await fill('there is room again');
  }
  await using again = await opened(directory);
  assert.deepEqual((await words(again)).sort(), kept.sort());
});

test('a change that fails on a disk that is gone is refused, and all goes on when it is there again', async (t) => {
  const directory = await scratchDirectory(t);
  const place = join(directory, 'place');
  await mkdir(place);
  await using database = await opened(place);
  await database.run(INSERT, 'a');
  const ignoring = (): void => {};
  process.on('SIGXFSZ', ignoring);
  // A file that cannot grow, in a directory whose space cannot be asked.
  await rename(place, `${place}.away`);
  limitFileSize('8192');
  try {
    await assert.rejects(
      database.run(INSERT, 'x'.repeat(200_000)),
      failure('internal', /look at the health of the disk/),
    );
  } finally {
    limitFileSize('unlimited');
    await rename(`${place}.away`, place);
    process.off('SIGXFSZ', ignoring);
  }
  assert.deepEqual(await words(database), ['a']);
});

test('a database that cannot be written is refused by its path', async (t) => {
  const directory = await scratchFileSystem(t, '1m');
  if (directory === undefined) return;
  await (await opened(directory)).close();
  remountReadOnly(directory);
  await assert.rejects(opened(directory), failure('conflict', /test\.db cannot be (opened|written).*make it/));
});

test('no other user may read the database, for it holds passwords of computes', async (t) => {
  const directory = await scratchDirectory(t);
  await chmod(directory, 0o755);
  await using database = await opened(directory);
  await database.run(INSERT, 'secret');
  for (const name of await readdir(directory))
    assert.equal((await stat(join(directory, name))).mode & 0o777, 0o600, name);
});

function limitFileSize(bytes: string): void {
  execFileSync('prlimit', [`--fsize=${bytes}:unlimited`, '--pid', String(process.pid)]);
}

async function opened(directory: string, migrations: readonly string[] = TABLE): Promise<Database> {
  return await Database.open(join(directory, 'test.db'), migrations);
}
