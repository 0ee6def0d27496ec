// Who sends a request, where people log in.
import type { Role } from '../../store/roles.ts';

/** An account that has logged in, by its password or by a token. */
export interface Identity {
  /** Of the account; it stays the same under another name, and is never given out again. */
  id: string;
  name: string;
  /** What is allowed; a token may be allowed less than its account. */
  role: Role;
  /** Whether the host has this one account and no other. */
  alone: boolean;
  /** Stands for account, password, role and token as they are now. */
  tag: string;
  /** By which token it came; what its account may do without one. */
  token?: { id: string; name: string; ofRole: Role };
}

/** How a request was let through. */
export interface Admission {
  /** It may look, and what it sends to a console is dropped. */
  watches: boolean;
}
