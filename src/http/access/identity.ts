// The identity of an authenticated client.
import type { Role } from '../../api/accounts.ts';

/** An account, authenticated by password or token. */
export interface Identity {
  /** The account's id; it survives renaming and is never reused. */
  id: string;
  name: string;
  /** The rights; a token may have fewer than its account. */
  role: Role;
  /** Whether this is the host's only account. */
  alone: boolean;
  /** Changes with the account's password or role, or the token. */
  tag: string;
  /** The token used, the role of its account, and the highest role that it was made for (null: its account's). */
  token?: { id: string; name: string; ofRole: Role; most: Role | null };
}

/** How a request was admitted. */
export interface Admission {
  /** Read-only: what it sends to a console is dropped. */
  watches: boolean;
  /** Name of the lab that the request is about, before it. */
  lab?: string | undefined;
}
