// Symbols: the bodies and the routes.
import * as v from 'valibot';
import { Integer, named } from '../vocabulary.ts';
import { answers, type RouteDefinitions } from './definition.ts';

export const SymbolEntry = named('Symbol', {
  symbol_id: v.string(),
  filename: v.string(),
  theme: v.string(),
  builtin: v.boolean(),
});
export type SymbolEntry = v.InferOutput<typeof SymbolEntry>;

// biome-ignore format: a table
export const SYMBOL_ROUTES = {
  'GET /v2/symbols': { access: 'read', privilege: 'Symbol.Audit', answer: answers(v.array(SymbolEntry)), summary: 'List symbols' },
  'GET /v2/default_symbols':
    { access: 'read', privilege: 'Symbol.Audit', entryPath: '/symbols/default_symbols', answer: answers(v.record(v.string(), v.record(v.string(), v.string()))),
      summary: 'List the symbols of each theme' },
  'GET /v2/symbols/{symbol_id:.+}/raw':
    { access: 'read', raw: true, summary: 'Get the symbol file', answerType: 'image/*' },
  'GET /v2/symbols/{symbol_id:.+}/dimensions':
    { access: 'read', privilege: 'Symbol.Audit', raw: true, answer: answers(named('Size', { width: Integer, height: Integer })), summary: 'Size of a symbol',
      answerType: 'application/json' },
  'POST /v2/symbols/{symbol_id:.+}/raw':
    { keeps: 'symbols', privilege: 'Symbol.Allocate', raw: true, summary: 'Write the symbol file', errors: [400, 408, 413, 507],
      answerType: '' },
} as const satisfies RouteDefinitions;
