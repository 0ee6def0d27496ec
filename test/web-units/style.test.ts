// Styles of labels: what people choose is written as GNS3's clients do, and what those wrote beside it stays.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lookOf, readStyle, restyled } from '../../src/web/model/lab/label-style.ts';

const USUAL = 'font-family: TypeWriter;font-size: 10.0;font-weight: bold;fill: #000000;fill-opacity: 1.0;';

test('the look of a label is read and changed part by part, and what is not known stays', () => {
  assert.deepEqual(lookOf(USUAL), { colour: '#000000', size: 10, isBold: true, isItalic: false });
  const red = restyled(USUAL, { colour: '#ff0000', size: 14 });
  assert.equal(red, 'font-family: TypeWriter;font-size: 14.0;font-weight: bold;fill: #ff0000;fill-opacity: 1.0;');
  assert.equal(readStyle(red).fill, '#ff0000');
  const slanted = restyled(`${red}letter-spacing: 2;`, { isBold: false, isItalic: true });
  assert.deepEqual(lookOf(slanted), { colour: '#ff0000', size: 14, isBold: false, isItalic: true });
  assert.match(slanted, /letter-spacing: 2;/);
});

test('of a label without a style, or with an unreadable one, only the chosen members are written', () => {
  assert.equal(restyled(null, { size: 7.5 }), 'font-size: 7.5;');
  assert.equal(restyled('', { isBold: false }), '');
  assert.deepEqual(lookOf('fill: red;font-size: 1000;;:x'), {
    colour: '#000000',
    size: 10,
    isBold: false,
    isItalic: false,
  });
});
