import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatJson, parseJsonBounded } from '../../src/store/json.ts';
import { failure } from './scratch.ts';

test('JSON nested a million levels deep is refused instead of exhausting the stack', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const deep = open.repeat(1_000_000);
    assert.throws(() => parseJsonBounded(deep), failure('invalid', /deeper than 100 levels/));
    assert.throws(() => parseJsonBounded(`${deep}1${close.repeat(1_000_000)}`), failure('invalid', /deeper/));
  }
});

test('many small values are refused by their number, before any of them is made', () => {
  const many = (item: string, count: number): string => `[${Array(count).fill(item).join(',')}]`;
  for (const [text, reason] of [
    [many('{}', 200_000), /more than 200000 objects and lists/],
    [many('[]', 1_000_000), /more than 200000 objects and lists/],
    [many('{"a":{}}', 100_000), /more than 200000 objects and lists/],
    [many('1', 1_000_000), /more than 1000000 values/],
    [`{${many('"a":1', 1_000_000).slice(1, -1)}}`, /more than 1000000 values/],
  ] as const) {
    assert.throws(() => parseJsonBounded(text), failure('invalid', reason), text.slice(0, 20));
  }
});

test('values are counted as what they can be at most, and commas inside of strings do not count', () => {
  const bounds = { maxContainers: 3, maxValues: 5 };
  assert.deepEqual(parseJsonBounded('[[1],{"a":2}]', bounds), [[1], { a: 2 }]);
  assert.deepEqual(parseJsonBounded('[1,2,3,4]', bounds), [1, 2, 3, 4]);
  assert.deepEqual(parseJsonBounded('["a,b,c,d,e,f,[,{"]', bounds), ['a,b,c,d,e,f,[,{']);
  assert.throws(() => parseJsonBounded('[[[[]]]]', bounds), failure('invalid', /more than 3 objects and lists/));
  assert.throws(() => parseJsonBounded('[1,2,3,4,5]', bounds), failure('invalid', /more than 5 values/));
});

test('half of a surrogate pair is refused where that is asked for, and whole pairs are not', () => {
  const [bounds, refused] = [{ wellFormed: true }, failure('invalid', /half of a surrogate pair/)];
  assert.deepEqual(parseJsonBounded('{"a":["\\ud83d\\ude00","\\\\ud800"]}', bounds), { a: ['😀', '\\ud800'] });
  for (const text of ['"\\ud800"', '["\\uDFFFx"]', '{"\\ud83d":1}', '{"a":{"b":"\\ude00\\ud83d"}}'])
    assert.throws(() => parseJsonBounded(text, bounds), refused, text);
  assert.equal(parseJsonBounded('"\\ud800"'), '\ud800');
});

test('depth is counted exactly, and brackets inside of strings do not count', () => {
  assert.deepEqual(parseJsonBounded('[[1]]', { maxDepth: 2 }), [[1]]);
  assert.throws(() => parseJsonBounded('[[[1]]]', { maxDepth: 2 }), failure('invalid', /deeper than 2 levels/));
  assert.deepEqual(parseJsonBounded('[[],[],[[]]]', { maxDepth: 3 }), [[], [], [[]]]);
  for (const text of ['[[[[', '"[[[[', '\\"[[[', '\\\\\\"{{{{', ']]]]']) {
    const document = { member: text, [text]: [text] };
    assert.deepEqual(parseJsonBounded(JSON.stringify(document), { maxDepth: 2 }), document);
  }
});

test('a member named __proto__ is refused in every spelling, as a value it is just a text', () => {
  for (const name of ['__proto__', '\\u005f_proto__', '_\\u005Fproto__', '__prot\\u006f__']) {
    assert.throws(
      () => parseJsonBounded(`{"a": [{"${name}": {"polluted": true}}]}`),
      failure('invalid', /'__proto__' is not allowed/),
      name,
    );
  }
  assert.deepEqual(parseJsonBounded('{"a": "__proto__", "b__proto__": 1}'), { a: '__proto__', b__proto__: 1 });
});

test('malformed JSON is refused with the place of the fault', () => {
  for (const text of [
    '',
    '{',
    '{"a": }',
    '[1,]',
    "{'a': 1}",
    '{"a": NaN}',
    '"\u0000"',
    '"unended',
    '1 2',
    ']',
    '\ufeff{}',
  ]) {
    assert.throws(
      () => parseJsonBounded(text),
      failure('invalid', /not valid JSON: .*(position|Unexpected|end of JSON)/s),
      text,
    );
  }
});

test('a long string full of quotation marks and backslashes takes time in proportion to its length', () => {
  const text = JSON.stringify(['\\"'.repeat(2_000_000)]);
  assert.equal((parseJsonBounded(text) as string[])[0]!.length, 4_000_000);
  // An open string of nothing but backslashes before each quotation mark.
  assert.throws(() => parseJsonBounded(`"${'\\\\\\"'.repeat(1_000_000)}`), failure('invalid'));
});

test('members come out sorted and indented by four', () => {
  assert.equal(
    formatJson({ b: [{ d: 1, c: 'ü' }], a: null, gone: undefined }),
    '{\n    "a": null,\n    "b": [\n        {\n            "c": "ü",\n            "d": 1\n        }\n    ]\n}',
  );
});
