// A built-in symbol's picture, made when it is asked for.
import type { BuiltinSymbol } from './catalogue.ts';
import { affinitySymbol } from './drawing/affinity.ts';
import { classicSymbol } from './drawing/classic.ts';

/** The symbol as an SVG document of exactly its size. */
export function drawSymbol(symbol: BuiltinSymbol): string {
  return symbol.set === 'affinity' ? affinitySymbol(symbol) : classicSymbol(symbol);
}
