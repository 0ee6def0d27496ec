// Who may talk to this server at all, decided before every route and upgrade. A page that a colleague's browser shows can reach
// addresses of this host; these rules keep such pages out (DNS rebinding, cross-site requests) and let programs pass.

import { hostname } from 'node:os';

export interface GuardRules {
  /** Host names, beside IP literals, localhost, *.localhost and *.local, under which this server may be addressed. */
  hosts: readonly string[];
  /** Origins, beside those of the same site, whose pages may send requests. */
  origins: readonly string[];
}

/** What the decision rests on; absent headers are undefined. */
export interface GuardedRequest {
  method: string;
  /** Without the query. */
  path: string;
  host: string | undefined;
  origin: string | undefined;
  secFetchSite: string | undefined;
  secFetchMode: string | undefined;
  secFetchDest: string | undefined;
  /** Whether the client speaks TLS, with this server or with a proxy that is trusted. */
  secure: boolean;
}

/** The name in a `Host` header, lower case, without port and brackets; undefined when it is not one. */
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
 * Whether a page of this origin may use the server addressed as `host`: its own pages may, whose scheme, host and port are those of the
 * request. Another port of this host is another program.
 */
function originAllowed(origin: string, { host, secure }: GuardedRequest, rules: GuardRules): boolean {
  if (rules.origins.includes(origin)) return true;
  const own = `${secure ? 'https' : 'http'}://${host}`;
  if (host === undefined || !URL.canParse(origin) || !URL.canParse(own)) return false;
  return /^https?:\/\//i.test(origin) && new URL(origin).origin === new URL(own).origin;
}

/** Why a request is refused; undefined when it may pass. */
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
  // Without Origin a browser still says where a request comes from. "same-site" is another port, or another name of the same domain.
  if ((request.secFetchSite === 'cross-site' || request.secFetchSite === 'same-site') && !isHarmless(request)) {
    return 'Pages of other sites may not use this server.';
  }
  return undefined;
}

/** Following a link to here, and showing the picture of a symbol: the page that does it cannot read what comes. */
function isHarmless({ method, path, secFetchMode, secFetchDest }: GuardedRequest): boolean {
  if (method !== 'GET') return false;
  return secFetchMode === 'navigate' || (secFetchDest === 'image' && /^\/v2\/symbols\/.+\/raw$/.test(path));
}

/** Names of this machine, under which its users know it. */
export function ownNames(): string[] {
  const name = hostname().toLowerCase();
  return [...new Set([name, name.split('.')[0] as string])];
}
