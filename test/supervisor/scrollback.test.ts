// What a late client sees of earlier output.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scrollback } from '../../src/supervisor/scrollback.ts';

const LIMIT = 4096;

test('everything is kept, in order, until the limit is reached', () => {
  const scrollback = new Scrollback(LIMIT);
  assert.equal(scrollback.snapshot().length, 0);
  let all = '';
  for (let i = 0; all.length + 100 <= LIMIT; i++) {
    const line = `line ${i}\r\n`.padStart(37, '.');
    scrollback.push(Buffer.from(line));
    all += line;
    assert.equal(scrollback.snapshot().toString(), all);
  }
  scrollback.push(Buffer.alloc(0));
  const rest = 'x'.repeat(LIMIT - all.length);
  scrollback.push(Buffer.from(rest));
  assert.equal(scrollback.snapshot().toString(), all + rest);
});

test('beyond the limit the newest output is kept, whatever the pieces, and begins at the start of a line', () => {
  for (const size of [1, 7, 1000, 4095, 4096, 4097, 10_000]) {
    const scrollback = new Scrollback(LIMIT);
    const all = Buffer.from(Array.from({ length: 3000 }, (_, i) => `line ${i}\n`).join(''));
    for (let at = 0; at < all.length; at += size) scrollback.push(all.subarray(at, at + size));
    const kept = scrollback.snapshot().toString();
    assert.ok(all.toString().endsWith(kept), `pieces of ${size}: the end of the output`);
    assert.match(kept, /^line \d+\n/, `pieces of ${size}`);
    assert.ok(kept.length > LIMIT - 12 && kept.length <= LIMIT, `pieces of ${size}: ${kept.length} bytes`);
  }
});

test('output without line ends is kept up to the limit', () => {
  const scrollback = new Scrollback(LIMIT);
  for (let i = 0; i < 100; i++) scrollback.push(Buffer.alloc(100, 0x61 + (i % 26)));
  assert.equal(scrollback.snapshot().length, LIMIT);
});

test('what was handed out does not change with later output', () => {
  const scrollback = new Scrollback(LIMIT);
  scrollback.push(Buffer.from('before'));
  const before = scrollback.snapshot();
  scrollback.push(Buffer.from(' and after'));
  assert.equal(before.toString(), 'before');
});
