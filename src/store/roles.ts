// The basics of accounts that need no file: roles, names and tokens.
import { createHash } from 'node:crypto';
import { ROLES, type Role } from '../api/accounts.ts';

/** The prefix of every token and of no password. */
export const TOKEN_PREFIX = 'lwt_';

/** The lower of two roles. */
export function lesserRole(one: Role, other: Role): Role {
  return ROLES.indexOf(one) < ROLES.indexOf(other) ? one : other;
}

/** A name for comparison, whichever way its letters are composed. */
export function normalName(name: string): string {
  return name.normalize('NFC');
}

/** The stored form of a token: 256 random bits need no slow hash. */
export function hashOfToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
