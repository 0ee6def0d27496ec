// SVG pictures over HTTP, which the browser keeps until their tag changes.
import { namesTag } from './entity-tags.ts';

/** An SVG can contain a script; opened on its own it must not run as a page of this server. */
export const PICTURE_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

export interface SvgOptions {
  /** Of the request. */
  headers: Headers;
  /** Value of `Cache-Control`. */
  caching: string;
  tag: string;
  /** Called unless the client has the picture with this tag. */
  read(): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>;
}

export async function svgResponse({ headers: asked, caching, tag, read }: SvgOptions): Promise<Response> {
  const headers = { 'Cache-Control': caching, ETag: tag };
  if (namesTag(asked.get('if-none-match'), tag)) return new Response(null, { status: 304, headers });
  const svg = await read();
  return new Response(svg, {
    headers: {
      ...headers,
      'Content-Type': 'image/svg+xml',
      'Content-Length': String(svg.byteLength),
      'Content-Security-Policy': PICTURE_POLICY,
      'X-Content-Type-Options': 'nosniff',
    },
  });
}
