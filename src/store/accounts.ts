// The accounts of a shared host and their tokens: one file of the state directory, changed by the running server and by
// `labwired user`, one at a time.
import { randomBytes, randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { ROLES, type Role, TOKEN_ROLES, type TokenRole } from '../api/accounts.ts';
import { conflict, ignore, invalid, messageOf, notFound, systemCode, unavailable } from '../failures.ts';
import { writeFileAtomically } from '../host/files/atomic-file.ts';
import { hashPassword, isPasswordHash } from '../host/values/password-hash.ts';
import { hashOfToken, normalName, TOKEN_PREFIX } from './roles.ts';

/** Shorter passwords can be guessed. */
const LEAST_CHARACTERS = 8;
const LONGEST_NAME = 64;
/** Limits of accounts per file and tokens per account: enough for a school, while the file stays small. */
const MOST_ACCOUNTS = 1_000;
const MOST_TOKENS = 50;
/** Bytes of a token's secret. */
const TOKEN_BYTES = 32;
/** How long (ms) to wait for another program's change. */
const PATIENCE_MS = 10_000;
/** Read and written by the server's user alone. */
const MODE = 0o600;

const Time = v.pipe(v.string(), v.isoTimestamp());

const Account = v.strictObject({
  id: v.pipe(v.string(), v.uuid()),
  name: v.pipe(v.string(), v.nonEmpty()),
  role: v.picklist(ROLES),
  /** Its hash, see `host/values/password-hash.ts`. */
  password: v.pipe(v.string(), v.check(isPasswordHash)),
  created: Time,
  /** The last change; missing without one. */
  updated: v.optional(Time),
  email: v.optional(v.nullable(v.string())),
  full_name: v.optional(v.nullable(v.string())),
  /** A locked account cannot log in. */
  locked: v.optional(v.boolean()),
});

const Token = v.strictObject({
  id: v.pipe(v.string(), v.uuid()),
  /** Id of its account. */
  account: v.string(),
  name: v.string(),
  /** SHA-256 of the whole token in hexadecimal: 256 random bits need no slow hash. */
  hash: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  /** The highest role it may use; null: its account's. */
  role: v.nullable(v.picklist(TOKEN_ROLES)),
  created: Time,
  expires: v.nullable(Time),
});

const Content = v.strictObject({ accounts: v.array(Account), tokens: v.array(Token) });

export type StoredAccount = v.InferOutput<typeof Account>;
export type StoredToken = v.InferOutput<typeof Token>;
export type AccountsContent = v.InferOutput<typeof Content>;

const NONE: AccountsContent = { accounts: [], tokens: [] };

/** Names for programs at the local socket in the audit trail. */
const RESERVED = /^(?:root|user \d+|__proto__)$/i;
/** Scripts that occur in one word; each line has those of one language. */
const SCRIPTS = [
  ...[
    'Latin',
    'Cyrillic',
    'Greek',
    'Armenian',
    'Georgian',
    'Hebrew',
    'Arabic',
    'Thai',
    'Devanagari',
    'Bengali',
    'Tamil',
  ],
].map((script) => new RegExp(`\\p{Script=${script}}`, 'u'));

/** Whether a name mixes alphabets, whose letters may look alike. */
function mixesScripts(name: string): boolean {
  return SCRIPTS.filter((script) => script.test(name)).length > 1;
}

/** @throws Failure `invalid` */
export function checkedName(given: string): string {
  const name = normalName(given);
  if (RESERVED.test(name))
    throw invalid(`name: ${JSON.stringify(given)} is reserved for the host itself; choose another name.`);
  if (name !== name.normalize('NFKC') || mixesScripts(name))
    throw invalid(`name: ${JSON.stringify(given)} looks like another name; use plain letters of one alphabet.`);
  if (name === '' || [...name].length > LONGEST_NAME || /[:/\\\p{C}]|^\s|\s$/u.test(name)) {
    throw invalid(
      `name: ${JSON.stringify(given)} cannot be the name of an account; use 1 to ${LONGEST_NAME} letters, digits and signs, without ":", "/" and "\\\\", and without blanks at its ends.`,
    );
  }
  return name;
}

/** @throws Failure `invalid` */
function checkedPassword(password: string): string {
  if (password.startsWith(TOKEN_PREFIX))
    throw invalid(`password: begins with "${TOKEN_PREFIX}" as a token does; choose another.`);
  if ([...password].length >= LEAST_CHARACTERS) return password;
  throw invalid(`password: has fewer than ${LEAST_CHARACTERS} characters; choose a longer one.`);
}

/** What may be known of a person besides the name. */
export interface Profile {
  email?: string | null | undefined;
  full_name?: string | null | undefined;
  locked?: boolean | undefined;
}

export interface NewAccount extends Profile {
  name: string;
  role: Role;
  password: string;
}

export interface AccountChange extends Profile {
  /** Another name. */
  name?: string | undefined;
  role?: Role | undefined;
  password?: string | undefined;
}

/** Called just before accounts are changed, with what is stored then; if it throws, nothing changes. */
export type Confirm = (after: AccountsContent, before: AccountsContent) => void | Promise<void>;

export class AccountsFile {
  /** `<state>/accounts.json` */
  readonly path: string;
  readonly #lock: string;
  #known: { version: string; content: AccountsContent } = { version: '', content: NONE };
  #turn: Promise<unknown> = Promise.resolve();

  constructor(stateDirectory: string) {
    this.path = join(stateDirectory, 'accounts.json');
    this.#lock = join(stateDirectory, 'accounts.lock');
  }

  /**
   * The present content of the file; the same object while the file is unchanged. Called for each request: it costs
   * some microseconds.
   * @throws Failure `conflict` when the file is damaged or cannot be read
   */
  async read(): Promise<AccountsContent> {
    const version = this.#version();
    if (version === '') return NONE;
    if (version !== this.#known.version) this.#known = { version, content: await this.#parsed() };
    return this.#known.content;
  }

  /** Whether the host is shared. If the file cannot be read, it counts as shared. */
  isShared(): Promise<boolean> {
    return this.read().then(
      ({ accounts }) => accounts.length > 0,
      () => true,
    );
  }

  /**
   * Checks names before their passwords are typed or hashed.
   * @throws Failure `invalid`, `conflict` when a name is taken
   */
  async mustBeFree(names: readonly string[], role: Role, others: readonly string[]): Promise<void> {
    requireFree(names.map(checkedName), role, [others, (await this.read()).accounts]);
  }

  /** Adds all of these accounts, or none. @throws Failure `invalid`, `conflict` when a name is taken */
  async add(given: readonly NewAccount[], others: readonly string[], confirm?: Confirm): Promise<StoredAccount[]> {
    const created = new Date().toISOString();
    const added: StoredAccount[] = [];
    for (const { password } of given) checkedPassword(password);
    for (const { name, role, password, ...profile } of given) {
      const account = {
        id: randomUUID(),
        name: checkedName(name),
        role,
        password: await hashPassword(password),
        created,
      };
      added.push({ ...account, ...stated(profile) });
    }
    return this.#change((content) => {
      for (const [index, { name, role, email }] of added.entries()) {
        const known = [...content.accounts, ...added.slice(0, index)];
        requireFree([name], role, [others, known]);
        requireFreeAddress(email, known);
      }
      return [{ ...content, accounts: [...content.accounts, ...added] }, added];
    }, confirm);
  }

  /**
   * Changes an account.
   * @param host name of an account outside the file, which is an admin
   * @throws Failure `not-found`, `invalid`, `conflict` for a name or address that is taken, and for the role of the last admin
   */
  async update(
    name: string,
    { name: newName, role, password, ...profile }: AccountChange,
    host: string | undefined,
    confirm?: Confirm,
  ): Promise<StoredAccount> {
    const hash = password === undefined ? undefined : await hashPassword(checkedPassword(password));
    const checked = newName === undefined ? undefined : checkedName(newName);
    const hasOtherAdmin = host !== undefined;
    return this.#change((content) => {
      const account = named(content, name);
      const others = content.accounts.filter((one) => one !== account);
      if (checked !== undefined) requireFree([checked], 'admin', [hasOtherAdmin ? [host] : [], others]);
      requireFreeAddress(profile.email, others);
      const changed: StoredAccount = {
        ...account,
        ...stated(profile),
        name: checked ?? account.name,
        role: role ?? account.role,
        password: hash ?? account.password,
        updated: new Date().toISOString(),
      };
      const accounts = content.accounts.map((one) => (one === account ? changed : one));
      requireAdmin(accounts, hasOtherAdmin);
      return [{ ...content, accounts }, changed];
    }, confirm);
  }

  /** Removes these accounts with their tokens, or none. @throws Failure `not-found`, `conflict` for the last admin */
  remove(names: readonly string[], hasOtherAdmin: boolean, confirm?: Confirm): Promise<StoredAccount[]> {
    return this.#change((content) => {
      const removed = [...new Set(names.map((name) => named(content, name)))];
      const accounts = content.accounts.filter((one) => !removed.includes(one));
      requireAdmin(accounts, hasOtherAdmin);
      const ids = removed.map(({ id }) => id);
      return [{ accounts, tokens: content.tokens.filter(({ account }) => !ids.includes(account)) }, removed];
    }, confirm);
  }

  /**
   * Creates a token for an account; its text cannot be read later. @throws Failure `conflict` when there are too many
   */
  async addToken(
    given: { account: string; name: string; role: TokenRole | null; expires: string | null },
    confirm?: Confirm,
  ): Promise<{ text: string; token: StoredToken }> {
    const text = `${TOKEN_PREFIX}${randomBytes(TOKEN_BYTES).toString('base64url')}`;
    const token = { id: randomUUID(), ...given, hash: hashOfToken(text), created: new Date().toISOString() };
    await this.#change((content) => {
      const now = Date.now();
      // Drops expired tokens.
      const tokens = content.tokens.filter(({ expires }) => expires === null || Date.parse(expires) > now);
      if (tokens.filter(({ account }) => account === given.account).length >= MOST_TOKENS)
        throw conflict(`There are ${MOST_TOKENS} tokens of this account already; revoke one first.`);
      return [{ ...content, tokens: [...tokens, token] }, token];
    }, confirm);
    return { text, token };
  }

  /** Removes a token, only of this account unless undefined. @throws Failure `not-found` */
  removeToken(id: string, account: string | undefined, confirm?: Confirm): Promise<StoredToken> {
    return this.#change((content) => {
      const removed = content.tokens.find((one) => one.id === id && (account === undefined || one.account === account));
      if (removed === undefined) throw notFound(`token_id: there is no token ${id}.`);
      return [{ ...content, tokens: content.tokens.filter((one) => one !== removed) }, removed];
    }, confirm);
  }

  /** Changes run one at a time, across programs too, each based on the previous result. */
  async #change<T>(work: (content: AccountsContent) => readonly [AccountsContent, T], confirm?: Confirm): Promise<T> {
    const changed = this.#turn.then(() => this.#exclusively(work, confirm));
    this.#turn = changed.then(ignore, ignore);
    return changed;
  }

  async #exclusively<T>(
    work: (content: AccountsContent) => readonly [AccountsContent, T],
    confirm?: Confirm,
  ): Promise<T> {
    const { connect, settle } = await import('./database.ts'); // only for changes: keeps a start fast
    const connection = await connect(this.#lock, PATIENCE_MS).catch((thrown: unknown) => {
      throw conflict(`${this.#lock} cannot be used (${messageOf(thrown)}).`, { cause: thrown });
    });
    try {
      await settle((done) => connection.exec('BEGIN EXCLUSIVE', done));
      const before = await this.read();
      const [content, result] = work(before);
      await confirm?.(content, before);
      await writeFileAtomically(this.path, `${JSON.stringify(content, undefined, 2)}\n`, { mode: MODE });
      return result;
    } catch (thrown) {
      if (systemCode(thrown) !== 'SQLITE_BUSY') throw thrown;
      throw unavailable('Another program is changing the accounts: try again.', { cause: thrown });
    } finally {
      await settle((done) => connection.close(done));
    }
  }

  #version(): string {
    const found = statSync(this.path, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeNs}`;
  }

  async #parsed(): Promise<AccountsContent> {
    try {
      return v.parse(Content, JSON.parse(await readFile(this.path, 'utf8')));
    } catch (thrown) {
      const fix = 'put back a copy of it, or move it away and add the accounts again with "labwired user add"';
      throw conflict(`${this.path} cannot be used (${messageOf(thrown)}): ${fix}.`, { cause: thrown });
    }
  }
}

/** @throws Failure `conflict` for a name that is taken or given twice, `invalid` for a first account that is no admin */
function requireFree(
  given: readonly string[],
  role: Role,
  [others, accounts]: readonly [readonly string[], readonly { name: string }[]],
): void {
  const names = [...others, ...accounts.map(({ name }) => name)];
  if (names.length === 0 && role !== 'admin')
    throw invalid('role: the first account must be an admin, who can add and remove the others.');
  if (accounts.length + given.length > MOST_ACCOUNTS)
    throw conflict(`name: at most ${MOST_ACCOUNTS} accounts are possible; remove one first.`);
  for (const name of given) {
    const taken = names.find((one) => normalName(one).toLowerCase() === name.toLowerCase());
    if (taken !== undefined) throw conflict(`name: there is already an account "${taken}".`);
    names.push(name);
  }
}

/** @throws Failure `conflict` for an address of another account */
function requireFreeAddress(email: string | null | undefined, others: readonly StoredAccount[]): void {
  if (!email) return;
  const wanted = email.toLowerCase();
  if (others.some((one) => one.email?.toLowerCase() === wanted))
    throw conflict(`email: another account has the address ${email}.`);
}

/** The members that are given. */
function stated(profile: Profile): Partial<StoredAccount> {
  return Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== undefined));
}

function named({ accounts }: AccountsContent, name: string): StoredAccount {
  const account = accounts.find((one) => one.name === normalName(name));
  if (account) return account;
  throw notFound(`name: there is no account ${JSON.stringify(name)}; labwired user list shows them.`);
}

function requireAdmin(accounts: readonly StoredAccount[], hasOtherAdmin: boolean): void {
  if (hasOtherAdmin || accounts.some(({ role, locked }) => role === 'admin' && locked !== true)) return;
  throw conflict('role: this is the last admin; give another account the role admin first.');
}
