// Symbols over HTTP.
import { Failure } from '../../failures.ts';
import { entityTag, namesTag } from '../../http/app/entity-tags.ts';
import { downloadFile, uploadFile } from '../../http/app/files.ts';
import { type Route, route } from '../../http/app/route.ts';
import { defaultSymbols } from './catalogue.ts';
import type { Symbols } from './symbols.ts';

/** The largest upload in bytes; a symbol usually has a few thousand. */
const UPLOAD_LIMIT_BYTES = 10 * 1024 * 1024;

/** Built-in symbols change only with a new version of the server. */
const BUILT_IN = 'private, max-age=86400';

/** An SVG can contain a script; opened on its own it must not run as a page of this server. */
const POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

export function symbolRoutes(symbols: Symbols): Route[] {
  return [
    route('GET /v2/symbols', {}, () => symbols.list()),
    route('GET /v2/default_symbols', {}, () => defaultSymbols()),
    route('GET /v2/symbols/{symbol_id:.+}/raw', { raw: true }, async ({ params, headers }) => {
      const picture = symbols.read(params.symbol_id);
      // The fallback of an unknown symbol is not cached, so that a later upload shows at once.
      if ('svg' in picture)
        return svgResponse(picture.svg, headers, symbols.has(params.symbol_id) ? BUILT_IN : 'no-cache');
      const response = await downloadFile(symbols.directory, picture.file);
      response.headers.set('Content-Security-Policy', POLICY);
      // Pictures declare their text encoding themselves.
      response.headers.set('Content-Type', response.headers.get('Content-Type')!.replace(/^(image\/[^;]*);.*/, '$1'));
      return response;
    }),
    route(
      'GET /v2/symbols/{symbol_id:.+}/dimensions',
      { raw: true },
      ({ params }) => symbols.dimensions(params.symbol_id) ?? new Response(null, { status: 404 }),
    ),
    route('POST /v2/symbols/{symbol_id:.+}/raw', { raw: true }, ({ params, stream, signal }) => {
      const content = stream?.pipeThrough(bounded()) ?? null;
      return uploadFile(symbols.directory, symbols.uploadName(params.symbol_id), {
        content,
        signal,
        createParents: false,
      });
    }),
  ];
}

function svgResponse(svg: Buffer<ArrayBuffer>, asked: Headers, caching: string): Response {
  const tag = entityTag(svg);
  const headers = { 'Cache-Control': caching, ETag: tag };
  if (namesTag(asked.get('if-none-match'), tag)) return new Response(null, { status: 304, headers });
  return new Response(svg, {
    headers: {
      ...headers,
      'Content-Type': 'image/svg+xml',
      'Content-Length': String(svg.byteLength),
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
    },
  });
}

/** Limits the bytes of an upload. */
function bounded(): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform(piece, controller) {
      size += piece.byteLength;
      if (size > UPLOAD_LIMIT_BYTES)
        throw new Failure('too-large', `A symbol may have at most ${UPLOAD_LIMIT_BYTES} bytes.`);
      controller.enqueue(piece);
    },
  });
}
