// One answer before the application is there, to plain requests that the gate would let pass: what would make of it a question for the
// gate, or for the reading of a body, waits for the application. Without the Fetch standard's objects, which are 45 ms of a start.
import type { EarlyAnswer } from './arriving-app.ts';
import { refusal } from './guard.ts';
import { type Observation, REQUEST_ID } from './observation.ts';

/**
 * Headers that a request with an early answer may have: those that change nothing of it. `Authorization` counts for nothing where nobody
 * is asked who he is.
 */
const PLAIN_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'cache-control',
  'connection',
  'content-type',
  'host',
  'keep-alive',
  'pragma',
  'user-agent',
]);

export interface EarlyOptions {
  /** Of the one route, without parameters. */
  path: string;
  /** JSON; less than what is compressed. */
  text: string;
  /** Host names under which the server may be addressed, as in `GuardRules`. */
  hosts: readonly string[];
  /** Whether nobody is asked who he is; looked at for each request. */
  isOpen: () => boolean;
  observation: Observation;
}

/** Answers `GET path`, in the same bytes as the application does. */
export function earlyAnswer({ path, text, hosts, isOpen, observation }: EarlyOptions): EarlyAnswer {
  return ({ method, target, headers, socket }, response) => {
    if (method !== 'GET' || target !== path || headers.host === undefined) return false;
    if (!Object.keys(headers).every((name) => PLAIN_HEADERS.has(name))) return false;
    const { host } = headers;
    const ofPrograms = { origin: undefined, secFetchSite: undefined, secFetchMode: undefined, secFetchDest: undefined };
    if (refusal({ method, path, host, ...ofPrograms, secure: false }, { hosts, origins: [] }) !== undefined)
      return false;
    if (!isOpen()) return false;
    const seen = observation.begin();
    response.writeHead(200, {
      'content-type': 'application/json',
      [REQUEST_ID.toLowerCase()]: seen.id,
      'x-route': path,
      'content-length': Buffer.byteLength(text),
    });
    response.end(text);
    observation.end(seen, { method, target, route: path, status: 200, client: socket.remoteAddress });
    return true;
  };
}
