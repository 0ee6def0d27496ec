// `--record FILE`: writes a curl line for each JSON request, without passwords and tokens, so that a client's actions can be repeated by
// hand.
import { appendFile } from 'node:fs/promises';
import { tryDecodeURIComponent } from 'hono/utils/url';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { alwaysQuoted } from '../../host/terminal/shell-word.ts';
import { isV3 } from './errors.ts';

export interface RecordedRequest {
  method: string;
  /** Path and query as sent. */
  target: string;
  /** The parsed body. */
  body: unknown;
}

/** The end of names whose values let their readers in, in bodies and in addresses. */
const SECRET = /(?:password|token)$/i;

/** What stands in the place of a value with such a name; undefined for others. */
const standIn = (name: string): string | undefined => SECRET.exec(name)?.[0].toUpperCase();

function withoutSecrets(target: string): string {
  return target.replaceAll(/([?&])([^=&#]*)=[^&#]*/g, (whole, sign: string, name: string) => {
    const put = standIn(tryDecodeURIComponent(name));
    return put === undefined ? whole : `${sign}${name}=${put}`;
  });
}

/** The line for a request to the server at `base` (`http://127.0.0.1:3080`). */
export function curlLine(base: string, { method, target, body }: RecordedRequest): string {
  const type = isV3(target) ? ` -H 'Content-Type: application/json'` : '';
  const sent = () => JSON.stringify(body, (name, value) => (value === null ? null : (standIn(name) ?? value)));
  const data = method === 'GET' || method === 'DELETE' ? '' : `${type} -d ${alwaysQuoted(sent())}`;
  return `curl -X ${method} ${alwaysQuoted(base + withoutSecrets(target))}${data}`;
}

/** Appends a line for each request to the file, in the order of arrival. */
export function recorder(file: string, base: string): (request: RecordedRequest) => void {
  let last: Promise<void> = Promise.resolve();
  return (request) => {
    // Made at once: validation changes bodies.
    const line = curlLine(base, request);
    last = last
      .then(() => appendFile(file, `${line}\n`, { mode: 0o600 }))
      .catch((error: unknown) => log.warn('a request cannot be recorded', { file, error: messageOf(error) }));
  };
}
