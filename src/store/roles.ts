// The words of accounts that need no file: roles, names and tokens.
import { createHash } from 'node:crypto';

/** What an account may do, the least first. */
export const ROLES = ['observer', 'user', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** What every token begins with, and no password. */
export const TOKEN_PREFIX = 'lwt_';

/** The lesser of two roles. */
export function lesserRole(one: Role, other: Role): Role {
  return ROLES.indexOf(one) < ROLES.indexOf(other) ? one : other;
}

/** A name as it is compared: however the keyboard composes its letters. */
export function normalName(name: string): string {
  return name.normalize('NFC');
}

/** As it is kept: 256 random bits need no slow hash. */
export function hashOfToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
