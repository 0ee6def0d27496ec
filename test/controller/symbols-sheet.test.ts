// src/assets/symbols and docs/symbols.svg are made here: `LABWIRE_WRITE=1 npm test` writes them again after a drawing has changed.
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { drawSymbol } from '../../bin/symbols/draw.ts';
import { type BuiltinSymbol, builtinSymbol, builtinSymbols } from '../../src/controller/symbols/catalogue.ts';

const ASSETS = join(import.meta.dirname, '../../src/assets');
const SHEET = new URL('../../docs/symbols.svg', import.meta.url);
const CELL = { width: 112, height: 92 };
const COLUMNS = 9;

/** The classic set, and one colour of each affinity glyph, with their names. */
function contactSheet(): string {
  const colours = ['blue', 'gray', 'green', 'red'];
  const symbols = [...builtinSymbols()];
  const classic = symbols.filter(({ set }) => set === 'classic');
  const affinity = symbols.filter((symbol) => symbol.set === 'affinity' && symbol.theme === 'Affinity-circle-blue');
  const shown = affinity.map(({ id }, index) => {
    const shape = index % 2 === 0 ? 'circle' : 'square';
    return builtinSymbol(id.replace('circle/blue', `${shape}/${colours[index % 4]}`))!;
  });
  const classicRows = Math.ceil(classic.length / COLUMNS);
  const rows = classicRows + Math.ceil(shown.length / COLUMNS);
  const [width, height] = [COLUMNS * CELL.width, rows * CELL.height];
  const cells = [
    ...classic.map((symbol, index) => cell(symbol, index)),
    ...shown.map((symbol, index) => cell(symbol, index + classicRows * COLUMNS)),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<rect width="${width}" height="${height}" fill="#ffffff"/>
${cells.join('\n')}
</svg>
`;
}

function cell(symbol: BuiltinSymbol, index: number): string {
  const { width, height } = symbol.size;
  const scale = Math.min(1, (CELL.width - 8) / width);
  const middle = (index % COLUMNS) * CELL.width + CELL.width / 2;
  const bottom = Math.floor(index / COLUMNS) * CELL.height + CELL.height;
  const place = `translate(${middle - (width * scale) / 2} ${bottom - 19 - height * scale}) scale(${scale})`;
  const text = `x="${middle}" y="${bottom - 6}" text-anchor="middle" font-family="sans-serif" font-size="9" fill="#333333"`;
  return `<g transform="${place}">${drawSymbol(symbol)}</g><text ${text}>${symbol.name}</text>`;
}

test('the files of the built-in symbols are as they are drawn', async () => {
  const drawn = new Map([...builtinSymbols()].map((symbol) => [symbol.id.slice(':/'.length), drawSymbol(symbol)]));
  if (process.env['LABWIRE_WRITE']) {
    for (const [name, svg] of drawn) {
      await mkdir(dirname(join(ASSETS, name)), { recursive: true });
      await writeFile(join(ASSETS, name), svg);
    }
  }
  const files = await readdir(join(ASSETS, 'symbols'), { recursive: true });
  assert.deepEqual(
    files.filter((name) => name.endsWith('.svg')).sort(),
    [...drawn.keys()].map((name) => name.slice('symbols/'.length)).sort(),
  );
  for (const [name, svg] of drawn)
    assert.equal(
      await readFile(join(ASSETS, name), 'utf8'),
      svg,
      `${name}: run LABWIRE_WRITE=1 npm test to draw it again`,
    );
});

test('the picture in the documentation shows the symbols as they are', async () => {
  if (process.env['LABWIRE_WRITE']) await writeFile(SHEET, contactSheet());
  assert.equal(await readFile(SHEET, 'utf8'), contactSheet(), 'run LABWIRE_WRITE=1 npm test to draw it again');
});
