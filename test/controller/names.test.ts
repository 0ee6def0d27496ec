// Names of nodes: what a client asks for and what it gets (as in release 2.2.57).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NamePool } from '../../src/controller/nodes/names.ts';

test('each name is given once, numbered as the release does', () => {
  const pool = new NamePool();
  const cases: [wanted: string, given: string][] = [
    ['PC{0}', 'PC1'],
    ['PC{0}', 'PC2'],
    ['PC{id}', 'PC3'],
    ['R1', 'R1'],
    ['R1', 'R2'],
    ['R1', 'R3'],
    ['zz', 'zz'],
    ['zz', 'zz1'],
    ['zz', 'zz2'],
    ['my pc', 'mypc'],
    ['{foo}', '{foo}'],
    ['{name}-{0}', 'Node-1'],
    ['case', 'case'],
    ['Case', 'Case'],
  ];
  for (const [wanted, given] of cases) assert.equal(pool.allocate(wanted), given, wanted);
});

test('a name that was given back is given again', () => {
  const pool = new NamePool();
  for (const expected of ['PC1', 'PC2', 'PC3']) assert.equal(pool.allocate('PC{0}'), expected);
  pool.release('PC2');
  assert.equal(pool.allocate('PC{0}'), 'PC2');
  assert.equal(pool.allocate('PC{0}'), 'PC4');
});

test('placeholders that mean nothing are refused beside ones that do', () => {
  const pool = new NamePool();
  for (const name of ['PC{0}{foo}', 'PC{0}{', '}{0}']) assert.throws(() => pool.allocate(name), /placeholder/, name);
});

test('numbering does not slow down with the number of nodes', () => {
  const pool = new NamePool();
  for (let n = 1; n <= 50_000; n += 1) assert.equal(pool.allocate('PC{0}'), `PC${n}`);
});
