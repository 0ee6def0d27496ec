// Symbols over HTTP (interface of release 2.2.57, sections 11 and 23.7).
import { extname } from 'node:path';
import { type Route, route } from '../../http/route.ts';
import { defaultSymbols } from './catalogue.ts';
import type { Symbols } from './symbols.ts';

/** Pictures that browsers show; anything else that was uploaded is bytes to them. */
const TYPES: Record<string, string> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.gif': 'image/gif',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.bmp': 'image/bmp',
  '.ico': 'image/vnd.microsoft.icon',
};

/** An SVG can hold a script; opened by itself it must not run as a page of this server. */
const HARMLESS = {
  'Content-Security-Policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
  'X-Content-Type-Options': 'nosniff',
};

export function symbolRoutes(symbols: Symbols): Route[] {
  return [
    route('GET /v2/symbols', {}, () => symbols.list()),
    route('GET /v2/default_symbols', {}, () => defaultSymbols()),
    route('GET /v2/symbols/{symbol_id:.+}/raw', { raw: true }, async ({ params }) => {
      const { filename, size, modified, body } = await symbols.read(params.symbol_id);
      return new Response(body, {
        headers: {
          'Content-Type': TYPES[extname(filename).toLowerCase()] ?? 'application/octet-stream',
          'Content-Length': String(size),
          ...(modified && { 'Last-Modified': modified.toUTCString() }),
          ...HARMLESS,
        },
      });
    }),
    route('GET /v2/symbols/{symbol_id:.+}/dimensions', { raw: true }, ({ params }) => {
      return symbols.dimensions(params.symbol_id) ?? new Response(null, { status: 404 });
    }),
    route('POST /v2/symbols/{symbol_id:.+}/raw', { raw: true }, async ({ params, stream }) => {
      await symbols.write(params.symbol_id, stream ?? []);
      return undefined;
    }),
  ];
}
