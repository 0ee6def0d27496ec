// Checks where a request comes from, before every route and upgrade. A web page open in a browser on this network can send requests to this
// host; these rules refuse such pages (DNS rebinding, cross-site requests) and let programs pass.

import { hostname } from 'node:os';

export interface GuardRules {
  /** Allowed host names besides IP literals, localhost, *.localhost and *.local. */
  hosts: readonly string[];
  /** Allowed origins besides the server's own. */
  origins: readonly string[];
}

/** The parts of a request that decide; missing headers are undefined. */
export interface GuardedRequest {
  method: string;
  /** Without the query. */
  path: string;
  host: string | undefined;
  origin: string | undefined;
  secFetchSite: string | undefined;
  secFetchMode: string | undefined;
  secFetchDest: string | undefined;
  /** Whether the client uses TLS, with this server or a trusted proxy. */
  secure: boolean;
}

/** The host name in a `Host` header, lower case, without port and brackets; undefined if invalid. */
export function hostName(header: string): string | undefined {
  if (!/^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/.test(header)) return undefined;
  return header
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}

function isAddress(name: string): boolean {
  return name.includes(':') || /^\d{1,3}(\.\d{1,3}){3}$/.test(name);
}

function hostAllowed(name: string, rules: GuardRules): boolean {
  if (isAddress(name) || name === 'localhost' || name.endsWith('.localhost') || name.endsWith('.local')) return true;
  return rules.hosts.some((host) => host.toLowerCase() === name);
}

/**
 * Whether pages of this origin may use the server at `host`. The server's own pages have the same scheme, host and port; another port is
 * another program.
 */
function originAllowed(origin: string, { host, secure }: GuardedRequest, rules: GuardRules): boolean {
  if (rules.origins.includes(origin)) return true;
  const own = `${secure ? 'https' : 'http'}://${host}`;
  if (host === undefined || !URL.canParse(origin) || !URL.canParse(own)) return false;
  return /^https?:\/\//i.test(origin) && new URL(origin).origin === new URL(own).origin;
}

/** Why the request is refused; undefined if it may pass. */
export function refusal(request: GuardedRequest, rules: GuardRules): string | undefined {
  const { host, origin } = request;
  if (host !== undefined) {
    const name = hostName(host);
    if (name === undefined) return 'The Host header is not a host name.';
    if (!hostAllowed(name, rules)) {
      return `This server does not answer to the name "${name}": use its address, or add the name to allowed_hosts in the [Server] section.`;
    }
  }
  if (origin !== undefined) {
    if (originAllowed(origin, request, rules)) return undefined;
    return `Pages of ${origin} may not use this server: add it to allowed_origins in the [Server] section if they should. Behind a proxy that speaks HTTPS, name the address that browsers show there, or the proxy in trusted_proxies.`;
  }
  // Without Origin, Sec-Fetch-Site still says where a request comes from. "same-site" is another port, or another name of the same domain.
  if ((request.secFetchSite === 'cross-site' || request.secFetchSite === 'same-site') && !isHarmless(request)) {
    return 'Pages of other sites may not use this server.';
  }
  return undefined;
}

/** Following a link and showing a symbol's picture: the foreign page cannot read the response. */
function isHarmless({ method, path, secFetchMode, secFetchDest }: GuardedRequest): boolean {
  if (method !== 'GET') return false;
  return secFetchMode === 'navigate' || (secFetchDest === 'image' && /^\/v2\/symbols\/.+\/raw$/.test(path));
}

export function ownNames(): string[] {
  const name = hostname().toLowerCase();
  return [...new Set([name, name.split('.')[0] as string])];
}
