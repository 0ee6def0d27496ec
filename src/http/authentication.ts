// HTTP Basic with one user, compared in constant time.
import { createHash, timingSafeEqual } from 'node:crypto';

export interface Credentials {
  user: string;
  password: string;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The value of the `Authorization` header that these credentials make. */
export function basicHeader({ user, password }: Credentials): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
}

/** Whether the header carries these credentials; takes the same time whatever is wrong. */
export function authorized(header: string | undefined, credentials: Credentials): boolean {
  const given = (header ?? '').replace(/^basic\s+/i, 'Basic ');
  return timingSafeEqual(digest(given), digest(basicHeader(credentials)));
}

/** The answer to a request without them. */
export function unauthorized(): Response {
  return new Response('', { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="GNS3 server"' } });
}
