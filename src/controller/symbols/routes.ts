// Symbols over HTTP.
import { SYMBOL_ROUTES } from '../../api/routes/symbols.ts';
import { tooLarge } from '../../failures.ts';
import { entityTag } from '../../http/app/entity-tags.ts';
import { downloadFile, uploadFile } from '../../http/app/files.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import { PICTURE_POLICY, svgResponse } from '../../http/app/svg-response.ts';
import { defaultSymbols } from './catalogue.ts';
import type { Symbols } from './symbols.ts';

const { route } = routesOf(SYMBOL_ROUTES);

/** The largest upload in bytes; a symbol usually has a few thousand. */
const UPLOAD_LIMIT_BYTES = 10 * 1024 * 1024;

/** Built-in symbols change only with a new version of the server. */
const BUILT_IN = 'private, max-age=86400';

export function symbolRoutes(symbols: Symbols): Route[] {
  return [
    route('GET /v2/symbols', () => symbols.list()),
    route('GET /v2/default_symbols', () => defaultSymbols()),
    route('GET /v2/symbols/{symbol_id:.+}/raw', async ({ params, headers }) => {
      const picture = symbols.read(params.symbol_id);
      // The fallback of an unknown symbol is not cached, so that a later upload shows at once.
      if ('svg' in picture) {
        const { svg } = picture;
        const caching = symbols.has(params.symbol_id) ? BUILT_IN : 'no-cache';
        return svgResponse({ headers, caching, tag: entityTag(svg), read: () => svg });
      }
      const response = await downloadFile(symbols.directory, picture.file);
      response.headers.set('Content-Security-Policy', PICTURE_POLICY);
      // Pictures declare their text encoding themselves.
      response.headers.set('Content-Type', response.headers.get('Content-Type')!.replace(/^(image\/[^;]*);.*/, '$1'));
      return response;
    }),
    route(
      'GET /v2/symbols/{symbol_id:.+}/dimensions',
      ({ params }) => symbols.dimensions(params.symbol_id) ?? new Response(null, { status: 404 }),
    ),
    route('POST /v2/symbols/{symbol_id:.+}/raw', ({ params, stream, signal }) => {
      const content = stream?.pipeThrough(bounded()) ?? null;
      return uploadFile(symbols.directory, symbols.uploadName(params.symbol_id), {
        content,
        signal,
        createParents: false,
      });
    }),
  ];
}

/** Limits the bytes of an upload. */
function bounded(): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform(piece, controller) {
      size += piece.byteLength;
      if (size > UPLOAD_LIMIT_BYTES) throw tooLarge(`A symbol may have at most ${UPLOAD_LIMIT_BYTES} bytes.`);
      controller.enqueue(piece);
    },
  });
}
