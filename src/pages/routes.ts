// What stands outside of /v2: the page that a browser finds at the root, and the version for clients of API 1.
import { type Route, route } from '../http/route.ts';

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Labwire</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}code{background:#eee;padding:.1em .3em}</style>
<h1>Labwire</h1>
<p>This is a network-lab server. It speaks the GNS3 API, version 2: point a GNS3 client or a script at this address.</p>
<ul>
<li><a href="/v2/openapi.json"><code>/v2/openapi.json</code></a>: all routes, as an OpenAPI document</li>
<li><a href="/v2/version"><code>/v2/version</code></a>: the release that clients are told</li>
<li><a href="/v2/projects"><code>/v2/projects</code></a>: the labs on this server</li>
<li><a href="/v2/computes"><code>/v2/computes</code></a>: the hosts that run them</li>
</ul>
</html>
`;

/** `version` is the release that clients are told. */
export function pageRoutes(version: string): Route[] {
  return [
    // Clients of API 1 ask here, to tell their users that they are too old.
    route('GET /v1/version', {}, () => ({ version })),
    route(
      'GET /',
      {},
      () =>
        new Response(PAGE, {
          headers: {
            'Content-Type': 'text/html; charset=utf-8',
            'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
          },
        }),
    ),
  ];
}
