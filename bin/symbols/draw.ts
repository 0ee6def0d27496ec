// Draws the built-in symbols, which are kept in src/assets/symbols. After a change of a drawing, `LABWIRE_WRITE=1` with
// test/controller/symbols-sheet.test.ts writes the files again.
import type { BuiltinSymbol } from '../../src/controller/symbols/catalogue.ts';
import { affinitySymbol } from './affinity.ts';
import { classicSymbol } from './classic.ts';

/** The symbol as an SVG document of exactly its size. */
export function drawSymbol(symbol: BuiltinSymbol): string {
  return symbol.set === 'affinity' ? affinitySymbol(symbol) : classicSymbol(symbol);
}
