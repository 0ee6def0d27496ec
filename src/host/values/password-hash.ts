// Password hashes for storage: scrypt (RFC 7914), written in the PHC string format
// `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`, with ln the binary logarithm of the cost N.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** OWASP's password storage advice for scrypt: N = 2^15, r = 8, p = 3; 32 MiB and some 0.2 s of one core per check. Tests lower it. */
export const COST = { ln: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Upper limits: higher costs would let a hash block the server. */
const MOST = { ln: 18, r: 16, p: 8 };

const PATTERN = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d)\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

function derive(password: string, salt: Buffer, { ln, r, p }: typeof COST, length: number): Promise<Buffer> {
  const N = 2 ** ln;
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, length, { N, r, p, maxmem: 129 * N * r }, (error, hash) => {
      if (error) reject(error);
      else resolve(hash);
    });
  });
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

function parse(hash: string): { cost: typeof COST; salt: Buffer; expected: Buffer } | undefined {
  const [, ln, r, p, salt, expected] = PATTERN.exec(hash) ?? [];
  if (salt === undefined || expected === undefined) return undefined;
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  const possible = (['ln', 'r', 'p'] as const).every((name) => cost[name] >= 1 && cost[name] <= MOST[name]);
  return possible ? { cost, salt: Buffer.from(salt, 'base64'), expected: Buffer.from(expected, 'base64') } : undefined;
}

export function isPasswordHash(text: string): boolean {
  return parse(text) !== undefined;
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, COST, HASH_BYTES);
  return `$scrypt$ln=${COST.ln},r=${COST.r},p=${COST.p}$${unpadded(salt)}$${unpadded(hash)}`;
}

/** Whether the password matches the hash; false for an invalid hash. Compares in constant time. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const parsed = parse(hash);
  if (parsed === undefined) return false;
  const { cost, salt, expected } = parsed;
  return timingSafeEqual(await derive(password, salt, cost, expected.length), expected);
}
