// `--record FILE`: writes a curl line for each JSON request, so that a client's actions can be repeated by hand.
import { appendFile } from 'node:fs/promises';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { alwaysQuoted } from '../../host/terminal/shell-word.ts';

export interface RecordedRequest {
  method: string;
  /** Path and query as sent. */
  target: string;
  /** The parsed body. */
  body: unknown;
}

/** Tokens in addresses of /v3 are as good as passwords. */
const withoutToken = (target: string): string => target.replaceAll(/([?&]token=)[^&#]*/gi, '$1TOKEN');

/** The line for a request to the server at `base` (`http://127.0.0.1:3080`). */
export function curlLine(base: string, { method, target, body }: RecordedRequest): string {
  const data = method === 'GET' || method === 'DELETE' ? '' : ` -d ${alwaysQuoted(JSON.stringify(body))}`;
  return `curl -X ${method} ${alwaysQuoted(base + withoutToken(target))}${data}`;
}

/** Appends a line for each request to the file, in the order of arrival. */
export function recorder(file: string, base: string): (request: RecordedRequest) => void {
  let last: Promise<void> = Promise.resolve();
  return (request) => {
    last = last
      .then(() => appendFile(file, `${curlLine(base, request)}\n`, { mode: 0o600 }))
      .catch((error: unknown) => log.warn('a request cannot be recorded', { file, error: messageOf(error) }));
  };
}
