// The lists of the page without a page: labs in folders, what the command field finds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matching } from '../../src/web/model/lab/commands.ts';
import { labRows, type RowsOptions, splitName } from '../../src/web/model/lab/lab-rows.ts';
import type { ProjectObject } from '../../src/web/model/server/types.ts';
import { WORDS } from '../../src/web/words.ts';

const project = (name: string, more: Partial<ProjectObject> = {}): ProjectObject =>
  ({ project_id: name, name, status: 'closed', ...more }) as ProjectObject;

const LABS = ['Zoo', 'CCNA/Lab 10', 'CCNA/Lab 2', 'alone', 'CCNP/BGP'].map((name) => project(name));
const PLAIN: RowsOptions = {
  search: '',
  order: { key: 'name', isDown: false },
  figures: new Map(),
  changes: new Map(),
  owners: new Map(),
  closed: new Set(),
};

test('labs without a folder come first, folders after them, numbers in names count as numbers', () => {
  const texts = labRows(LABS, PLAIN).map((row) => (row.kind === 'folder' ? `${row.name} ${row.labs}` : row.name));
  assert.deepEqual(texts, ['alone', 'Zoo', 'CCNA 2', 'Lab 2', 'Lab 10', 'CCNP 1', 'BGP']);
});

test('a folder that is shut hides its labs until something is searched for', () => {
  const closed = new Set(['CCNA']);
  assert.equal(
    labRows(LABS, { ...PLAIN, closed }).some(({ name }) => name === 'Lab 2'),
    false,
  );
  const found = labRows(LABS, { ...PLAIN, closed, search: 'lab ccna' });
  assert.deepEqual(
    found.map(({ name }) => name),
    ['CCNA', 'Lab 2', 'Lab 10'],
  );
});

test('by state, damaged labs come first; by running nodes downwards, the busiest', () => {
  const labs = [
    project('a', { status: 'opened' }),
    project('b'),
    project('c', { damaged: 'why' }),
    project('d', { status: 'opened' }),
  ];
  const names = (key: 'state' | 'nodes', isDown: boolean): string[] => {
    const figures = new Map([['d', { project_id: 'd', nodes: 9, running: 7, closes_in_seconds: null }]]);
    return labRows(labs, { ...PLAIN, figures, order: { key, isDown } }).map(({ name }) => name);
  };
  assert.deepEqual(names('state', false), ['c', 'a', 'd', 'b']);
  assert.deepEqual(names('nodes', true)[0], 'd');
});

test('by their last change, the latest comes first, and what is not known last; how long ago is in words', () => {
  const changes = new Map([
    ['b', 9_000],
    ['c', 20_000],
  ]);
  const names = (isDown: boolean): string[] =>
    labRows([project('a'), project('b'), project('c')], { ...PLAIN, changes, order: { key: 'changed', isDown } }).map(
      ({ name }) => name,
    );
  assert.deepEqual(
    [names(false), names(true)],
    [
      ['c', 'b', 'a'],
      ['a', 'b', 'c'],
    ],
  );
  const { ago } = WORDS.labs;
  const minute = 60_000;
  const said = [0, 5 * minute, 61 * minute, 25 * 60 * minute, 72 * 60 * minute].map((past) => ago(1e12 - past, 1e12));
  assert.deepEqual(said, ['just now', '5 min ago', '1 h ago', 'a day ago', '3 days ago']);
});

test('a slash at an end of a name makes no folder', () => {
  for (const name of ['/etc', 'lab/', '/', 'plain', ' / x']) assert.equal(splitName(name).folder, undefined, name);
  assert.deepEqual(splitName('a/b/c'), { folder: 'a/b', rest: 'c' });
});

test('five thousand labs are sorted and searched in the time of a frame or a few', () => {
  const many = Array.from({ length: 5_000 }, (_, index) => project(`Course ${index % 50}/Lab ${index}`));
  assert.equal(labRows(many, PLAIN).length, 5_050);
  assert.equal(labRows(many, { ...PLAIN, search: 'lab 4999' }).length, 2);
});

test('the command field finds beginnings before middles, and letters in order at last', () => {
  const commands = ['Stop all', 'PC1', 'Start all', 'Spare part', 'Add node'].map((text) => ({
    ...{ id: text, kind: text === 'PC1' ? 'node' : 'verb', text },
    run: () => {},
  }));
  const texts = (typed: string): string[] => matching(commands, typed).map(({ text }) => text);
  assert.deepEqual(texts('star'), ['Start all']);
  assert.deepEqual(texts('all'), ['Stop all', 'Start all']);
  assert.deepEqual(texts('part'), ['Spare part']);
  assert.deepEqual(texts('pt'), ['Spare part']);
  assert.deepEqual(texts('xyz'), []);
  assert.equal(texts(' ').length, 5);
});
