// Routes outside of /v2: the web page, the documents, and the version for clients of API 1.

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { notFound } from '../failures.ts';
import { LOGOUT } from '../http/access/logout-requests.ts';
import { acceptsGzip } from '../http/app/compression.ts';
import { namesTag } from '../http/app/entity-tags.ts';
import { type Route, route } from '../http/app/route.ts';
import { documentRoutes } from './document-routes.ts';
import { type WebFile, webFile } from './web-files.ts';

const unzip = promisify(gunzip);

/** Allows only the page's own scripts, styles, pictures and sockets; other sites may not show it in a frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  // It accepts the address of the page's own worker, and nothing else.
  'trusted-types labwire',
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  Vary: 'Accept-Encoding',
};

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

/** Paths of the page: `main.tsx` shows the screen for each. Any other path stays a 404. */
const SCREENS = [
  '/',
  '/labs/{project_id}',
  '/labs/{project_id}/nodes/{node_id}/console',
  '/labs/{project_id}/links/{link_id}/capture',
  '/labs/{project_id}/captures',
  '/templates',
  '/images',
  '/hosts',
  '/people',
  '/account',
  '/help',
] as const;

const IMMUTABLE = 'private, max-age=31536000, immutable';

/** Only where browsers honour it: over plain HTTP from another host they log a warning. Such requests have no `Sec-Fetch-` headers. */
function openerPolicy(headers: Headers): Record<string, string> {
  return headers.has('sec-fetch-mode') ? { 'Cross-Origin-Opener-Policy': 'same-origin' } : {};
}

async function answer(name: string, file: WebFile, headers: Headers, caching: string): Promise<Response> {
  const tag = `"${file.tag}"`;
  const common = { ...HEADERS, ...openerPolicy(headers), 'Cache-Control': caching, ETag: tag };
  if (namesTag(headers.get('if-none-match'), tag)) return new Response(null, { status: 304, headers: common });
  const type = { 'Content-Type': TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream' };
  if (acceptsGzip(headers.get('accept-encoding'))) {
    return new Response(new Uint8Array(file.content), { headers: { ...common, ...type, 'Content-Encoding': 'gzip' } });
  }
  return new Response(new Uint8Array(await unzip(file.content)), { headers: { ...common, ...type } });
}

/** Filled by `bin/development.mjs` when the server runs from its sources. */
export const developmentRoutes: Route[] = [];

const READ = { access: 'read' } as const;

/** `version` is the release reported to clients. */
export function pageRoutes(version: string): Route[] {
  const page = async ({ headers }: { headers: Headers }): Promise<Response> => {
    const file = await webFile('index.html');
    if (!file) throw new Error('the page has no index.html');
    return answer('index.html', file, headers, 'no-cache');
  };
  return [
    // Clients of API 1 ask here and tell their users to upgrade.
    route('GET /v1/version', READ, () => ({ version })),
    ...SCREENS.map((path) => route(`GET ${path}`, READ, page)),
    ...documentRoutes,
    ...developmentRoutes,
    // A client that gets here has logged in again.
    route(`GET ${LOGOUT}`, READ, () => new Response(null, { status: 302, headers: { Location: '/' } })),
    // The release's page is here: saved links to its labs lead to the same labs.
    route('GET /static/web-ui/{path:.+}', READ, ({ params }) => {
      const id = /(?:^|\/)project\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\/|$)/.exec(params.path)?.[1];
      return new Response(null, { status: 302, headers: { Location: id === undefined ? '/' : `/labs/${id}` } });
    }),
    // A name without a hash, and not of every server: one that runs from its sources has no such text.
    route('GET /assets/licences.txt', READ, async ({ headers }) => {
      const file = await webFile('assets/licences.txt');
      if (!file) throw notFound('A server that runs from its sources has no list of licences; the build makes it.');
      return answer('licences.txt', file, headers, 'no-cache');
    }),
    // Names contain a hash of the content: an unknown name belongs to another version and must not return the page.
    route('GET /assets/{name}', READ, async ({ params, headers }) => {
      const name = `assets/${params.name}`;
      const file = await webFile(name);
      if (!file) throw notFound(`name: this release has no file ${params.name}; load the page again.`);
      return answer(name, file, headers, IMMUTABLE);
    }),
  ];
}
