// The roles of accounts and tokens, and the rights to a lab.

/**
 * The roles, lowest first. `none` has no rights of its own: only what entries of the access list grant, its own labs, and those that are
 * shared with it by name.
 */
export const ROLES = ['none', 'observer', 'user', 'admin'] as const;

export type Role = (typeof ROLES)[number];

/** The roles that limit a token. */
export const TOKEN_ROLES = ['observer', 'user', 'admin'] as const;

export type TokenRole = (typeof TOKEN_ROLES)[number];

/** The rights to a lab, lowest first. */
export const ACCESSES = ['none', 'watch', 'change'] as const;

export type Access = (typeof ACCESSES)[number];
