// The styles of the page use the values of src/web/style/tokens.css, and none of their own; docs/design.md describes each.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const TOKENS = 'src/web/style/tokens.css';

/** Colours that are written out instead of named. */
const COLOUR = /#[\da-f]{3,8}\b|\b(rgba?|hsla?|oklch|light-dark)\(/i;
/** Properties whose lengths and fonts are tokens. */
const PROPERTY = /^(padding|margin|gap|row-gap|column-gap|font|border-radius|border-[a-z-]*radius|box-shadow)/;
/** One pixel is the width of a line. */
const LENGTH = /(?<![\w.-])-?\d*\.?\d+(rem|px|em)\b/g;
const FONT = /ui-monospace|monospace|system-ui|sans-serif/;

/** The declarations of a style sheet that have values of their own, as `line: property: value`. */
function rawValues(sheet: string): string[] {
  const found: string[] = [];
  const lines = sheet.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, '')).split('\n');
  for (const [index, line] of lines.entries()) {
    const [, property, value] = /^\s+([a-z-]+):\s*(.+?);?$/.exec(line) ?? [];
    if (property === undefined || value === undefined) continue;
    const lengths = (value.match(LENGTH) ?? []).filter((length) => !/^-?1px$/.test(length));
    // Heights of lines are those of rows, which scripts know.
    const isLength = PROPERTY.test(property) && lengths.length > 0 && !/\/ \d+px/.test(value);
    if (COLOUR.test(value) || isLength || (property.startsWith('font') && FONT.test(value)))
      found.push(`${index + 1}: ${property}: ${value}`);
  }
  return found;
}

test('styles have no colours, distances, radii, shadows and fonts but those of the design', () => {
  const planted =
    'a {\n  color: #123456;\n  padding: 0 5px;\n  border: 1px solid var(--edge);\n  font-family: monospace;\n}';
  assert.deepEqual(rawValues(planted), ['2: color: #123456', '3: padding: 0 5px', '5: font-family: monospace']);
  const sheets = globSync('src/web/**/*.css', { cwd: root }).filter((file) => file !== TOKENS);
  assert.ok(sheets.length > 10);
  const found = sheets.flatMap((file) =>
    rawValues(readFileSync(join(root, file), 'utf8')).map((line) => `${file}:${line}`),
  );
  assert.deepEqual(found, []);
});

test('a rem is what the browser makes of it: the lengths of the tokens are those that docs/design.md has', () => {
  const sized = /(?:^|[,}\s])(?:html|:root)\s*(?:,[^{}]*)?\{[^}]*\bfont(?:-size)?:/;
  assert.match(':root {\n  font: 14px serif;\n}', sized);
  const sheets = globSync('src/web/**/*.css', { cwd: root });
  assert.deepEqual(
    sheets.filter((file) => sized.test(readFileSync(join(root, file), 'utf8'))),
    [],
  );
});

test('each token is described in docs/design.md and used; what is used is a token', () => {
  const tokens = [...readFileSync(join(root, TOKENS), 'utf8').matchAll(/^\s+(--[\w-]+):/gm)].map(([, name]) => name!);
  const names = new Set(tokens);
  const design = readFileSync(join(root, 'docs/design.md'), 'utf8');
  assert.deepEqual(
    [...names].filter((name) => !design.includes(`\`${name}\``)),
    [],
    'tokens that docs/design.md does not describe',
  );
  const sources = globSync('src/web/**/*.{css,ts,tsx}', { cwd: root }).map((file) =>
    readFileSync(join(root, file), 'utf8'),
  );
  const used = new Set(sources.flatMap((text) => [...text.matchAll(/var\((--[\w-]+)/g)].map(([, name]) => name!)));
  assert.deepEqual(
    [...names].filter((name) => !used.has(name)),
    [],
    'tokens that nothing uses',
  );
  // Set by scripts for one element: the style of a link, the size of a column.
  const own = new Set(
    sources.flatMap((text) => [...text.matchAll(/['"`\s](--[\w-]+)['"`:]/g)].map(([, name]) => name!)),
  );
  assert.deepEqual(
    [...used].filter((name) => !names.has(name) && !own.has(name)),
    [],
  );
});

// The browser would look at all elements after each change of the map: 3 ms with 5,000 nodes.
test('no style asks whether something is anywhere in the page', () => {
  const isWide = (sheet: string): boolean => /(?<![\w-])(:root|html|body):has\(/.test(sheet);
  assert.equal(isWide(':root:has(dialog[open]) .toast {}'), true);
  const sheets = globSync('src/web/**/*.css', { cwd: root });
  assert.deepEqual(
    sheets.filter((file) => isWide(readFileSync(join(root, file), 'utf8'))),
    [],
  );
});
