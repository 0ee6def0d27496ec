// The text of answers: sorted, ASCII, indented, whatever is kept of the last answer, and however long a list is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { answerBody, answerText, forgetTexts } from '../../src/events/json.ts';
import { frozen } from '../../src/host/values/frozen.ts';
import { sorted } from '../../src/host/values/sorted.ts';

const escaped = (text: string): string =>
  text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
const plain = (value: unknown): string => escaped(JSON.stringify(sorted(value), null, 4));

const ODD = {
  z: 1,
  a: 'tab\t, quote", backslash\\, line\n, \u2028, ä€😀, lone \ud800, \u007f',
  'ö "': null,
  empty: {},
  none: [],
  left: undefined,
  numbers: [0, -0, 1.5, 1e21, 1e-7, Number.NaN, Number.POSITIVE_INFINITY],
  nested: { list: [[{ b: true, a: [undefined, 'x'] }]], only: { undefined: undefined } },
};

test('every value has the text of its sorted JSON', () => {
  for (const value of [ODD, [ODD, [], {}], 'ä', 1, true, null, []]) assert.equal(answerText(value), plain(value));
});

test('what is kept of an immutable part is used only at the same depth, and never for a part that can change', () => {
  const ports = frozen(Array.from({ length: 20 }, (_, number) => ({ short_name: `e${number}`, port_number: number })));
  const open = { list: Array.from({ length: 50 }, (_, number) => ({ number })) };
  for (const value of [{ ports }, [{ ports, open }], ports, [[{ ports }]], { ports, open }])
    for (let round = 0; round < 2; round++) assert.equal(answerText(value), plain(value));
  open.list[0]!.number = 77;
  assert.equal(answerText({ ports, open }), plain({ ports, open }));
  forgetTexts();
  assert.equal(answerText({ ports, open }), plain({ ports, open }));
});

test('a long list has the same text in parts, and others get their turns while it is written', async () => {
  const list = Array.from({ length: 5_000 }, (_, number) => ({ ...ODD, number, text: `${number}`.repeat(100) }));
  let turns = 0;
  let isWritten = false;
  const count = async (): Promise<void> => {
    for (; !isWritten; turns++) await nextTurn();
  };
  const counting = count();
  const body = await answerBody(list);
  isWritten = true;
  await counting;
  assert.ok(Array.isArray(body) && body.every(({ byteLength }) => byteLength <= 64 * 1024));
  assert.equal(Buffer.concat(body).toString('latin1'), plain(list));
  assert.ok(turns > 5, `${turns} turns`);
});

test('a text longer than a part has a part of its own', async () => {
  const list = Array.from({ length: 60 }, (_, number) => (number === 30 ? 'x'.repeat(200_000) : number));
  assert.equal(Buffer.concat((await answerBody(list)) as Buffer[]).toString(), plain(list));
});
