// Symbols: the bodies and the routes.
import { answers, type RouteDefinitions } from './definition.ts';

/** A symbol in the list. */
export interface SymbolEntry {
  symbol_id: string;
  filename: string;
  theme: string;
  builtin: boolean;
}

// biome-ignore format: a table
export const SYMBOL_ROUTES = {
  'GET /v2/symbols': { access: 'read', privilege: 'Symbol.Audit', answer: answers<SymbolEntry[]>(), summary: 'List symbols' },
  'GET /v2/default_symbols':
    { access: 'read', privilege: 'Symbol.Audit', entryPath: '/symbols/default_symbols', answer: answers<object>(),
      summary: 'List the symbols of each theme' },
  'GET /v2/symbols/{symbol_id:.+}/raw':
    { access: 'read', raw: true, summary: 'Get the symbol file', answerType: 'image/*' },
  'GET /v2/symbols/{symbol_id:.+}/dimensions':
    { access: 'read', privilege: 'Symbol.Audit', raw: true, answer: answers<object>(), summary: 'Size of a symbol',
      answerType: 'application/json' },
  'POST /v2/symbols/{symbol_id:.+}/raw':
    { privilege: 'Symbol.Allocate', raw: true, summary: 'Write the symbol file', errors: [400, 408, 413, 507],
      answerType: '' },
} as const satisfies RouteDefinitions;
