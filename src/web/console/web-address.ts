// The address of a web console: the node's own, or that of a device behind a cloud.
import { hostInUrl } from '../../api/host-in-url.ts';
import type { NodeObject } from '../model/server/types.ts';

const EVERYWHERE = ['0.0.0.0', '::', ''];

/** Whether the node, or the device behind a cloud, has a console of any type. */
export function hasConsole(node: NodeObject): boolean {
  const { console, console_type: type } = node;
  return (console !== null && (type ?? 'none') !== 'none') || webAddress(node) !== undefined;
}

/** Undefined for a node without one. */
export function webAddress(node: NodeObject): string | undefined {
  const { console_type: type, console_host: host, console: port, properties } = node;
  if (type !== 'http' && type !== 'https') return remoteAddress(node);
  if (port === null) return undefined;
  const name = EVERYWHERE.includes(host ?? '') ? location.hostname : host!;
  return addressOf(type, name, port, properties?.['console_http_path']);
}

function remoteAddress({ properties }: NodeObject): string | undefined {
  const { remote_console_type: type, remote_console_host: host, remote_console_port: port } = properties ?? {};
  if ((type !== 'http' && type !== 'https') || typeof port !== 'number' || !host) return undefined;
  return addressOf(type, String(host), port, properties['remote_console_http_path']);
}

function addressOf(type: string, host: string, port: number, given: unknown): string {
  const path = String(given ?? '/');
  return `${type}://${hostInUrl(host)}:${port}${path.startsWith('/') ? path : `/${path}`}`;
}
