// The basics of accounts that need no file: roles, names and tokens.
import { createHash } from 'node:crypto';

/**
 * The roles, lowest first. `none` has no rights of its own: only what entries of the access list grant, its own labs, and those that are
 * shared with it by name.
 */
export const ROLES = ['none', 'observer', 'user', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** The roles that limit a token. */
export const TOKEN_ROLES = ['observer', 'user', 'admin'] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

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
