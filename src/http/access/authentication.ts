// Authentication: HTTP Basic with an account's password, or a token. Correct passwords that are stored as a hash are cached, because
// checking the hash is expensive.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Role } from '../../api/accounts.ts';
import { log } from '../../host/log.ts';
import { dropOldest } from '../../host/values/drop-oldest.ts';
import { isPasswordHash, verifyPassword } from '../../host/values/password-hash.ts';
import { hashOfToken, lesserRole, normalName, TOKEN_PREFIX } from '../../store/roles.ts';
import type { Identity } from './identity.ts';
import { type Guess, Guesses, sourceOf } from './password-guesses.ts';
import type { Sessions } from './sessions.ts';

export interface Credentials {
  user: string;
  /** Plain text or a hash (host/values/password-hash.ts). */
  password: string;
}

/** An account's current state. */
export interface KnownAccount {
  id: string;
  name: string;
  role: Role;
  /** Plain text or a hash. */
  password: string;
}

/** A token's current state. */
export interface KnownToken {
  id: string;
  /** Its account's id. */
  account: string;
  name: string;
  hash: string;
  role: Role | null;
  expires: string | null;
}

/** All accounts and tokens. The index is rebuilt only if this is a different object. */
export interface KnownAccounts {
  /** Whether authentication is on. */
  asked: boolean;
  accounts: readonly KnownAccount[];
  tokens: readonly KnownToken[];
}

/** `wait`: milliseconds until the next guess is checked. `off`: authentication is off. */
export type Decision =
  | { kind: 'right'; identity: Identity }
  | { kind: 'off' }
  | { kind: 'wrong' }
  | { kind: 'later'; wait: number };

/** Maximum cached headers: enough for a school. */
const MOST_KNOWN = 2_048;
/** Maximum queued password checks: a class that logs in at once. They run one at a time, so guessing takes at most one core. */
const MOST_WAITING = 64;
/** How long (ms) a client must wait when the queue is full. */
const BUSY_WAIT_MS = 1_000;
/** Id of the single account from the configuration or `account.json`. */
export const HOST_ACCOUNT = 'host';
/** Tag of clients of the local socket; no digest looks like it. */
const THIS_HOST = 'this host';
/** Whether the identity is root or the server's own user on the local socket, without an account. */
export function isOfThisHost({ tag }: Identity): boolean {
  return tag === THIS_HOST;
}
/** Checked for unknown names, so that they take as long as known ones. */
const DUMMY_HASH = '$scrypt$ln=15,r=8,p=3$bm9ib2R5J3Mgc2FsdCEhIQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

/** The `Authorization` header for these credentials. */
export function basicHeader({ user, password }: Credentials): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
}

/** User and password in the header; undefined if there are none. */
export function credentialsOf(header: string | undefined): Credentials | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/]*)={0,2} *$/i.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const [, user, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  return user === undefined || password === undefined ? undefined : { user, password };
}

export function bearerOf(header: string | undefined): string | undefined {
  const [, token] = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(header ?? '') ?? [];
  return token;
}

function tokenOf(header: string | undefined): string | undefined {
  const token = bearerOf(header);
  return token?.startsWith(TOKEN_PREFIX) ? token : undefined;
}

/** The tag of a session; those of accounts and tokens are digests, which have no colon. */
const SESSION_TAG = /^session:([0-9a-f]{64}):(.+)$/;

/** A host with a single account, which may do everything. */
export function oneAccount({ user, password }: Credentials): KnownAccounts {
  return { asked: true, accounts: [{ id: HOST_ACCOUNT, name: user, role: 'admin', password }], tokens: [] };
}

/** Accounts and tokens, indexed. */
interface Index {
  of: KnownAccounts;
  byName: ReadonlyMap<string, { account: KnownAccount; identity: Identity }>;
  byId: ReadonlyMap<string, { account: KnownAccount; identity: Identity }>;
  byToken: ReadonlyMap<string, { identity: Identity; expires: number }>;
  /** By tag. */
  byTag: ReadonlyMap<string, { identity: Identity; expires: number }>;
  /** Whether password checks are expensive. */
  slow: boolean;
}

/** Identifies the client of a request. */
export class Authentication {
  readonly #accounts: () => KnownAccounts | Promise<KnownAccounts>;
  readonly #guesses: Guesses;
  /** Random per process, so that a memory dump gives no passwords away. */
  readonly #key = randomBytes(32);
  /** From the digest of a correct header to its account's tag. */
  readonly #known = new Map<string, string>();
  #index: Index | undefined;
  /** By source and guess. */
  readonly #checking = new Map<string, Promise<Decision>>();
  #turn: Promise<unknown> = Promise.resolve();
  readonly #sessions: Sessions | undefined;
  /** Called when a token is used. */
  tokenUsed: (id: string) => void = () => {};

  /** @param accounts returns the current accounts; called for each request */
  constructor(
    accounts: () => KnownAccounts | Promise<KnownAccounts>,
    guesses: Guesses = new Guesses(),
    sessions?: Sessions,
  ) {
    this.#accounts = accounts;
    this.#guesses = guesses;
    this.#sessions = sessions;
  }

  /**
   * The current identity for an earlier tag; undefined if it is no longer valid: account removed, password or role changed, or token
   * expired.
   * @param tag undefined for clients admitted without authentication
   */
  async stillThere(tag: string | undefined): Promise<{ identity: Identity | undefined } | undefined> {
    if (tag === THIS_HOST) return { identity: undefined };
    const { of, byTag } = await this.#now();
    if (tag === undefined) return of.asked ? undefined : { identity: undefined };
    const [, session, ownerTag = tag] = SESSION_TAG.exec(tag) ?? [];
    const found = byTag.get(ownerTag);
    if (session !== undefined) {
      const ends = (await this.#sessions?.endOf(session)) ?? 0;
      return found !== undefined && ends > Date.now() ? { identity: { ...found.identity, tag } } : undefined;
    }
    return found !== undefined && found.expires > Date.now() ? { identity: found.identity } : undefined;
  }

  /**
   * The identity of a client on the local socket that runs as root or the server's own user; it needs no password. Undefined if
   * authentication is off. Never throws.
   */
  async ofThisHost(user: number): Promise<Identity | undefined> {
    // Accepted even if the accounts cannot be read, so that they can be repaired.
    const of = await Promise.resolve(this.#accounts()).catch(() => undefined);
    if (of?.asked === false) return undefined;
    const alone = of === undefined || of.accounts.every(({ id }) => id === HOST_ACCOUNT);
    return { id: HOST_ACCOUNT, name: user === 0 ? 'root' : `user ${user}`, role: 'admin', alone, tag: THIS_HOST };
  }

  /** Whether clients need a password. */
  async isAsked(): Promise<boolean> {
    return (await this.#now()).of.asked;
  }

  /** @param address of the client */
  async decide(header: string | undefined, address: string): Promise<Decision> {
    const index = await this.#now();
    if (!index.of.asked) return { kind: 'off' };
    const token = tokenOf(header);
    if (token !== undefined) return this.#ofToken(index, token);
    const given = credentialsOf(header);
    return given === undefined ? { kind: 'wrong' } : this.#ofPassword(index, given, address);
  }

  /**
   * For clients of release 3.0.6, which send the token of a session or of a program, never a password.
   * @param query the token in the address, for requests without one in the header
   */
  async decideByToken(header: string | undefined, query: string | undefined): Promise<Decision> {
    const index = await this.#now();
    if (!index.of.asked) return { kind: 'off' };
    const token = bearerOf(header) ?? query;
    if (token === undefined) return { kind: 'wrong' };
    return token.startsWith(TOKEN_PREFIX) ? this.#ofToken(index, token) : this.#ofSession(index, token);
  }

  /**
   * Checks a password and begins a session.
   * @returns the token, with the account's id (undefined if authentication is off)
   */
  async logIn(
    given: Credentials,
    address: string,
  ): Promise<Exclude<Decision, { kind: 'right' | 'off' }> | { kind: 'right'; token: string; account?: string }> {
    const sessions = this.#sessions;
    if (sessions === undefined) return { kind: 'wrong' };
    const index = await this.#now();
    if (!index.of.asked)
      return { kind: 'right', token: await sessions.begin({ id: '', name: given.user, password: '' }) };
    const decision = await this.#ofPassword(index, given, address);
    if (decision.kind !== 'right') return decision.kind === 'later' ? decision : { kind: 'wrong' };
    const found = (await this.#now()).byId.get(decision.identity.id);
    // Its password was changed meanwhile.
    if (found?.identity.tag !== decision.identity.tag) return { kind: 'wrong' };
    return { kind: 'right', token: await sessions.begin(found.account), account: found.account.id };
  }

  /** Lets a session go on after its account got this password, unless it has got another one since. */
  async renewSession(token: string, password: string): Promise<void> {
    const { byId } = await this.#now();
    const session = await this.#sessions?.find(token);
    const owner = session && byId.get(session.session.account);
    if (owner?.account.password === password) await this.#sessions?.renew(token, owner.account);
  }

  /** Tokens cannot be guessed, so there is no wait. */
  async #ofSession({ byId }: Index, token: string): Promise<Decision> {
    const found = await this.#sessions?.find(token);
    const owner = found && byId.get(found.session.account);
    if (!owner || !this.#sessions?.isOf(token, found.session, owner.account)) return { kind: 'wrong' };
    return { kind: 'right', identity: { ...owner.identity, tag: `session:${found.id}:${owner.identity.tag}` } };
  }

  async #ofPassword(index: Index, given: Credentials, address: string): Promise<Decision> {
    const found = index.byName.get(normalName(given.user));
    const digest = this.#digest(basicHeader(given));
    if (found && this.#known.get(digest) === found.identity.tag) return { kind: 'right', identity: found.identity };
    const guess = { source: sourceOf(address), account: this.#digest(normalName(given.user)), password: digest };
    const wait = this.#guesses.wait(guess);
    if (wait > 0) return { kind: 'later', wait };
    const checking = `${guess.source} ${digest}`;
    // The same guess sent twice at once is checked and counted once.
    const under = this.#checking.get(checking);
    if (under) return under;
    if (this.#checking.size >= MOST_WAITING) return { kind: 'later', wait: BUSY_WAIT_MS };
    const checked = this.#turn
      .then(() => this.#check({ guess, address }, given, index))
      .finally(() => {
        this.#checking.delete(checking);
      });
    this.#checking.set(checking, checked);
    this.#turn = checked.catch(() => {});
    return checked;
  }

  /** Tokens cannot be guessed, so there is no wait. */
  #ofToken({ byToken }: Index, token: string): Decision {
    const found = byToken.get(hashOfToken(token));
    if (found === undefined || found.expires <= Date.now()) return { kind: 'wrong' };
    const { identity } = found;
    if (identity.token) this.tokenUsed(identity.token.id);
    return { kind: 'right', identity };
  }

  /** Guesses checked meanwhile may have been wrong, so the wait is checked again here. */
  async #check(
    { guess, address }: { guess: Guess; address: string },
    given: Credentials,
    { byName, slow }: Index,
  ): Promise<Decision> {
    const digest = guess.password;
    const found = byName.get(normalName(given.user));
    if (found && this.#known.get(digest) === found.identity.tag) return { kind: 'right', identity: found.identity };
    const wait = this.#guesses.wait(guess);
    if (wait > 0) return { kind: 'later', wait };
    if ((await this.#isRight(given, found?.account, slow)) && found) {
      const { identity } = found;
      this.#guesses.right(guess);
      this.#known.delete(digest);
      this.#known.set(digest, identity.tag);
      dropOldest(this.#known, MOST_KNOWN);
      return { kind: 'right', identity };
    }
    const wrong = this.#guesses.wrong(guess);
    if (Math.log2(wrong) % 1 === 0) log.warn('wrong user or password', { address, times: wrong });
    return { kind: 'wrong' };
  }

  /** An empty password is always wrong, even if the account has it. Takes the same time for a wrong name and a wrong password. */
  async #isRight({ password }: Credentials, account: KnownAccount | undefined, slow: boolean): Promise<boolean> {
    const own = account?.password ?? '';
    if (isPasswordHash(own)) return (await verifyPassword(password, own)) && password !== '';
    if (slow) await verifyPassword(password, DUMMY_HASH);
    return this.#same(password, own) && password !== '';
  }

  async #now(): Promise<Index> {
    const of = await this.#accounts();
    if (this.#index?.of !== of) this.#index = this.#indexed(of);
    return this.#index;
  }

  #indexed(of: KnownAccounts): Index {
    const alone = of.accounts.length === 1 && of.accounts[0]?.id === HOST_ACCOUNT;
    const identities = of.accounts.map((account): { account: KnownAccount; identity: Identity } => {
      const { id, name, role, password } = account;
      return {
        account,
        identity: { id, name, role, alone, tag: this.#digest(JSON.stringify([id, name, role, password])) },
      };
    });
    const byId = new Map(identities.map((one) => [one.account.id, one.identity]));
    const tokens = of.tokens.flatMap((token) => {
      const owner = byId.get(token.account);
      if (owner === undefined) return [];
      const tag = this.#digest(JSON.stringify([owner.tag, token.id, token.hash, token.role]));
      const role = token.role === null ? owner.role : lesserRole(owner.role, token.role);
      const identity: Identity = {
        ...owner,
        role,
        tag,
        token: { id: token.id, name: token.name, ofRole: owner.role, most: token.role },
      };
      const expires = token.expires === null ? Number.POSITIVE_INFINITY : Date.parse(token.expires);
      return [{ hash: token.hash, identity, expires }];
    });
    const entries = identities.map(({ identity }) => ({ identity, expires: Number.POSITIVE_INFINITY }));
    return {
      of,
      // If two accounts have the same name, the host's own (the first) is used.
      byId: new Map(identities.map((one) => [one.account.id, one])),
      byName: new Map(identities.toReversed().map((one) => [normalName(one.account.name), one])),
      byToken: new Map(tokens.map((one) => [one.hash, one])),
      byTag: new Map([...entries, ...tokens].map((one) => [one.identity.tag, one])),
      slow: of.accounts.some(({ password }) => isPasswordHash(password)),
    };
  }

  #same(left: string, right: string): boolean {
    return timingSafeEqual(this.#hmac(left), this.#hmac(right));
  }

  #digest(text: string): string {
    return this.#hmac(text).toString('base64');
  }

  #hmac(text: string): Buffer {
    return createHmac('sha256', this.#key).update(text).digest();
  }
}

/** The response to missing or wrong credentials. */
export function unauthorizedResponse(): Response {
  return new Response('', { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="GNS3 server"' } });
}

/** The response to a guess that came too early. */
export function tooManyGuesses(wait: number): Response {
  const seconds = Math.ceil(wait / 1000);
  return new Response(`429: Too many wrong passwords. Try again in ${seconds} s.`, {
    status: 429,
    headers: { 'Retry-After': String(seconds), 'Content-Type': 'text/plain; charset=utf-8' },
  });
}
