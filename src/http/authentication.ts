// HTTP Basic with one user. The password may be known as a hash; what was right once is then known again without the hash's cost.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { log } from '../host/log.ts';
import { isPasswordHash, verifyPassword } from '../host/password-hash.ts';
import { Guesses, sourceOf } from './guesses.ts';

export interface Credentials {
  user: string;
  /** In clear, or its hash (host/password-hash.ts). */
  password: string;
}

/** `account` stands for the user and the password that are right; `wait`: milliseconds until the next guess is looked at. */
export type Decision = { kind: 'right'; account: string } | { kind: 'wrong' } | { kind: 'later'; wait: number };

/** Headers known to be right; clients of one account that write it differently are few. */
const MOST_KNOWN = 64;
/** Guesses that may wait for their turn. One is checked at a time, so that guessing takes one core at most. */
const MOST_WAITING = 16;
/** What who is too many waits. */
const BUSY_WAIT_MS = 1_000;

/** The value of the `Authorization` header that these credentials make. */
export function basicHeader({ user, password }: Credentials): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
}

/** User and password of the header; undefined when there are none. */
export function credentialsOf(header: string | undefined): Credentials | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/]*)={0,2} *$/i.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const [, user, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  return user === undefined || password === undefined ? undefined : { user, password };
}

/** Decides whether requests carry the right user and password. */
export class Authentication {
  readonly #account: () => Credentials | Promise<Credentials>;
  readonly #guesses: Guesses;
  /** Of this process: what lies in memory tells nothing about passwords. */
  readonly #key = randomBytes(32);
  #known = new Set<string>();
  /** The account that `known` is right for. */
  #knownFor = '';
  /** By source and guess. */
  readonly #checking = new Map<string, Promise<Decision>>();
  #turn: Promise<unknown> = Promise.resolve();

  /** @param account the account as it is now; asked for each request */
  constructor(account: () => Credentials | Promise<Credentials>, guesses: Guesses = new Guesses()) {
    this.#account = account;
    this.#guesses = guesses;
  }

  /** What stands for the account as it is now; another one after a change of its user or password. */
  async account(): Promise<string> {
    return this.#digest(basicHeader(await this.#account()));
  }

  /** @param address the client's */
  async decide(header: string | undefined, address: string): Promise<Decision> {
    const given = credentialsOf(header);
    if (given === undefined) return { kind: 'wrong' };
    const account = await this.#account();
    const tag = this.#digest(basicHeader(account));
    if (this.#knownFor !== tag) {
      this.#knownFor = tag;
      this.#known = new Set();
    }
    const digest = this.#digest(basicHeader(given));
    if (this.#known.has(digest)) return { kind: 'right', account: tag };
    const source = sourceOf(address);
    const wait = this.#guesses.wait(source);
    if (wait > 0) return { kind: 'later', wait };
    const checking = `${source} ${digest}`;
    // The same guess, sent twice at once, is checked and counted once.
    const under = this.#checking.get(checking);
    if (under) return under;
    if (this.#checking.size >= MOST_WAITING) return { kind: 'later', wait: BUSY_WAIT_MS };
    const checked = this.#turn
      .then(() => this.#check({ source, address, digest, tag }, given, account))
      .finally(() => {
        this.#checking.delete(checking);
      });
    this.#checking.set(checking, checked);
    this.#turn = checked.catch(() => {});
    return checked;
  }

  /** Those that came at the same time and were checked before may have been wrong: only now is it known whether this one has to wait. */
  async #check(
    { source, address, digest, tag }: { source: string; address: string; digest: string; tag: string },
    given: Credentials,
    account: Credentials,
  ): Promise<Decision> {
    if (this.#known.has(digest) && this.#knownFor === tag) return { kind: 'right', account: tag };
    const wait = this.#guesses.wait(source);
    if (wait > 0) return { kind: 'later', wait };
    if (await this.#compare(given, account)) {
      this.#guesses.right(source);
      if (this.#known.size < MOST_KNOWN && this.#knownFor === tag) this.#known.add(digest);
      return { kind: 'right', account: tag };
    }
    const wrong = this.#guesses.wrong(source);
    if (Math.log2(wrong) % 1 === 0) log.warn('wrong user or password', { address, times: wrong });
    return { kind: 'wrong' };
  }

  /** Takes the same time whatever is wrong. */
  async #compare(given: Credentials, account: Credentials): Promise<boolean> {
    const user = this.#same(given.user, account.user);
    const password = isPasswordHash(account.password)
      ? await verifyPassword(given.password, account.password)
      : this.#same(given.password, account.password);
    return user && password;
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

/** The answer to a request without the right user and password. */
export function unauthorized(): Response {
  return new Response('', { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="GNS3 server"' } });
}

/** The answer to a guess that comes too early. */
export function tooManyGuesses(wait: number): Response {
  const seconds = Math.ceil(wait / 1000);
  return new Response(`429: Too many wrong passwords from this address. Try again in ${seconds} s.`, {
    status: 429,
    headers: { 'Retry-After': String(seconds), 'Content-Type': 'text/plain; charset=utf-8' },
  });
}
