// The address of a console that is a web page of the node's own.
import type { NodeObject } from '../model/types.ts';

const EVERYWHERE = ['0.0.0.0', '::', ''];

/** Undefined for a node that has none. */
export function webAddress({
  console_type: type,
  console_host: host,
  console: port,
  properties,
}: NodeObject): string | undefined {
  if ((type !== 'http' && type !== 'https') || port === null) return undefined;
  const name = EVERYWHERE.includes(host ?? '') ? location.hostname : host!.includes(':') ? `[${host}]` : host!;
  const path = String(properties?.['console_http_path'] ?? '/');
  return `${type}://${name}:${port}${path.startsWith('/') ? path : `/${path}`}`;
}
