// Long lists of other servers: read as any JSON is, and nobody waits for the end of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJsonBounded } from '../../src/store/json.ts';
import { parseJsonInTurns } from '../../src/store/json-turns.ts';
import { seeded } from '../seeded.ts';
import { failure } from './scratch.ts';

const files = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({
    path: `project-files/vpcs/"\\${index}],[{}"/startup.vpc`,
    md5sum: '0123456789abcdef0123456789abcdef',
  }));

/** A value of any kind. */
function anything(random: () => number, depth = 0): unknown {
  const dice = Math.floor(random() * (depth > 3 ? 5 : 7));
  const some = (): unknown[] => Array.from({ length: random() * 5 }, () => anything(random, depth + 1));
  if (dice === 5) return some();
  if (dice === 6) return Object.fromEntries(some().map((value, index) => [`m"\\${index}`, value]));
  return [null, true, random() * 1000, '",[]{}\\"', '']![dice];
}

test('lists of all kinds of values are read as JSON.parse does, however they are spaced', async () => {
  const random = seeded(1);
  for (let round = 0; round < 20; round++) {
    const list = Array.from({ length: 4000 * random() }, () => anything(random));
    for (const text of [JSON.stringify(list), ` \n${JSON.stringify(list, undefined, round % 5)}\n `])
      assert.deepEqual(await parseJsonInTurns(text), JSON.parse(text));
  }
});

test('while a list of 60,000 files is read, others have their turns', async () => {
  const text = JSON.stringify(files(60_000));
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const list = (await parseJsonInTurns(text)) as object[];
  isOver = true;
  assert.equal(list.length, 60_000);
  assert.ok(turns > text.length / (64 * 1024), `${turns} turns for ${text.length} characters`);
});

test('what is no JSON is refused wherever the fault is, as is what there is too much of', async () => {
  const whole = JSON.stringify(files(2_000));
  const middle = whole.indexOf('},{', whole.length / 2) + 1;
  for (const text of [
    whole.slice(0, -1),
    `${whole}]`,
    `${whole},1`,
    `${whole.slice(0, -1)},]`,
    `${whole.slice(0, -1)}}`,
    `${whole.slice(0, middle)},${whole.slice(middle)}`,
    `${whole.slice(0, middle)}]${whole.slice(middle)}`,
    `${whole.slice(0, middle)}],[${whole.slice(middle + 1)}`,
    `${whole.slice(0, -1)},{"__proto__":{}}]`,
    `[${' '.repeat(40_000)},1]`,
  ]) {
    assert.throws(() => parseJsonBounded(text));
    await assert.rejects(parseJsonInTurns(text), failure('invalid'), text.slice(-40));
  }
  assert.deepEqual(await parseJsonInTurns(`[${' '.repeat(40_000)}]`), []);
  await assert.rejects(
    parseJsonInTurns(`[${'{},'.repeat(200_000)}{}]`),
    failure('invalid', /more than 200000 objects/),
  );
  await assert.rejects(
    parseJsonInTurns(`[${'1,'.repeat(1_000_000)}1]`),
    failure('invalid', /more than 1000000 values/),
  );
  const wide = `{"nodes":[${'{},'.repeat(60_000)}{}]}`;
  await assert.rejects(parseJsonInTurns(wide), failure('invalid', /more than 50000 objects/));
  await assert.rejects(parseJsonInTurns(`[1,${wide}]`), failure('invalid', /more than 50000 objects/));
});
