// Symbols over HTTP.
import { Failure } from '../../failures.ts';
import { entityTag, namesTag } from '../../http/app/entity-tags.ts';
import { downloadFile, uploadFile } from '../../http/app/files.ts';
import { type Route, route } from '../../http/app/route.ts';
import { defaultSymbols } from './catalogue.ts';
import type { Symbols } from './symbols.ts';

/** Bytes of an upload; a symbol has some thousand. */
const UPLOAD_LIMIT_BYTES = 10 * 1024 * 1024;

/** Built-in symbols change with the release alone. */
const BUILT_IN = 'private, max-age=86400';

/** An SVG can hold a script; opened by itself it must not run as a page of this server. */
const POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

export function symbolRoutes(symbols: Symbols): Route[] {
  return [
    route('GET /v2/symbols', {}, () => symbols.list()),
    route('GET /v2/default_symbols', {}, () => defaultSymbols()),
    route('GET /v2/symbols/{symbol_id:.+}/raw', { raw: true }, async ({ params, headers }) => {
      const picture = symbols.read(params.symbol_id);
      // What stands in for an unknown symbol makes room for it as soon as there is one.
      if ('svg' in picture)
        return svgResponse(picture.svg, headers, symbols.has(params.symbol_id) ? BUILT_IN : 'no-cache');
      const response = await downloadFile(symbols.directory, picture.file);
      response.headers.set('Content-Security-Policy', POLICY);
      // Pictures say themselves how their text is encoded.
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

function svgResponse(svg: string, asked: Headers, caching: string): Response {
  const body = new TextEncoder().encode(svg);
  const tag = entityTag(body);
  const headers = { 'Cache-Control': caching, ETag: tag };
  if (namesTag(asked.get('if-none-match'), tag)) return new Response(null, { status: 304, headers });
  return new Response(body, {
    headers: {
      ...headers,
      'Content-Type': 'image/svg+xml',
      'Content-Length': String(body.byteLength),
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
    },
  });
}

/** Lets at most the bytes of an upload pass. */
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
