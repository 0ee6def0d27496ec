// The line that a new host joins with, `lab://HOST:PORT#TOKEN`. The token names the cluster, pins its CA, has a secret that is used once, and
// says whether the host is to run NATS.
import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import { invalid } from '../failures.ts';

export interface JoinLine {
  /** HOST:PORT of NATS. */
  server: string;
  cluster: string;
  /** SHA-256 of the CA's certificate (base64url). */
  fingerprint: string;
  secret: string;
  /** Whether the host is to run NATS. */
  storage: boolean;
}

const STORAGE = '.storage';

export const fingerprintOf = (certificate: string | Buffer): string =>
  createHash('sha256').update(new X509Certificate(certificate).raw).digest('base64url');

/** What the cluster keeps of a secret. */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

export const newSecret = (): string => randomBytes(24).toString('base64url');

export function formatJoinLine({ server, cluster, fingerprint, secret, storage }: JoinLine): string {
  return `lab://${server}#${cluster}.${fingerprint}.${secret}${storage ? STORAGE : ''}`;
}

/** @throws Failure `invalid` */
export function parseJoinLine(line: string): JoinLine {
  const [, server, cluster, fingerprint, secret, storage] =
    /^lab:\/\/(\[?[^/#]+\]?:\d{1,5})#([a-z][a-z0-9-]{0,29})\.([\w-]{43})\.([\w-]{32})(\.storage)?$/.exec(line) ?? [];
  if (server && cluster && fingerprint && secret)
    return { server, cluster, fingerprint, secret, storage: storage === STORAGE };
  throw invalid(
    `"${line}" is not a line to join with: copy all of lab://HOST:PORT#TOKEN from "labwired cluster init" or "labwired cluster token", in quotes.`,
  );
}
