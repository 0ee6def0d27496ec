// Who guesses passwords waits. Wrong ones count by address and account, so that a class behind one address does not share the wait of one
// who mistypes; and by address alone, so that nobody guesses at all accounts at once.
import ipaddr from 'ipaddr.js';

/** Wrong guesses at one account that cost nothing: people mistype. Then each costs twice the time of the one before. */
const FREE = 5;
/** Milliseconds: the first wait, the longest, and how long a wrong guess is remembered. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
const MEMORY_MS = 15 * 60_000;
/** Wrong guesses of one address at whatever accounts: a class that mistypes. After so many, one is looked at in each such time. */
const FREE_OF_ADDRESS = 100;
const PACE_OF_ADDRESS_MS = 30_000;
/** Pairs, and addresses, that are remembered; then the one that was heard of longest ago is forgotten. */
const MOST = 4_096;

/** One guess. The names are digests, so that a long one takes no more memory. */
export interface Guess {
  source: string;
  account: string;
  password: string;
}

interface Guesser {
  wrong: number;
  /** Milliseconds on the clock that is given. */
  last: number;
  /** The password that was wrong last. */
  password: string;
}

/** A bucket that leaks: so many wrong guesses as of then. */
interface Address {
  level: number;
  at: number;
}

/** An IPv6 host has 2^64 addresses to guess from; its network counts. */
export function sourceOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const found = ipaddr.process(address); // an IPv4 address that is written as an IPv6 one counts as what it is
  if (found instanceof ipaddr.IPv4) return found.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${found.toNormalizedString().replace(/%.*$/, '')}/64`)}/64`;
}

export class Guesses {
  readonly #now: () => number;
  /** By address and account. */
  readonly #guessers = new Map<string, Guesser>();
  readonly #addresses = new Map<string, Address>();

  /** @param now milliseconds on a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Milliseconds until this address may guess again at this account, 0 if it may now. */
  wait(guess: Pick<Guess, 'source' | 'account'>): number {
    return Math.max(this.#waitOfPair(keyOf(guess)), this.#waitOfAddress(guess.source));
  }

  /** Answers how often this address was wrong at this account. */
  wrong(guess: Guess): number {
    const now = this.#now();
    const key = keyOf(guess);
    const before = this.#guessers.get(key);
    const wrong = before !== undefined && now - before.last < MEMORY_MS ? before.wrong + 1 : 1;
    putLast(this.#guessers, key, { wrong, last: now, password: guess.password });
    // A program with a password of before says the same again and again: it guesses nothing, and nobody else is to wait for it.
    if (before?.password !== guess.password)
      putLast(this.#addresses, guess.source, { level: this.#levelOf(guess.source) + 1, at: now });
    return wrong;
  }

  /** What was wrong at other accounts still counts: who has an account does not get more guesses at those of others. */
  right(guess: Pick<Guess, 'source' | 'account'>): void {
    this.#guessers.delete(keyOf(guess));
  }

  #waitOfPair(key: string): number {
    const guesser = this.#guessers.get(key);
    if (guesser === undefined || guesser.wrong < FREE) return 0;
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (guesser.wrong - FREE));
    return Math.max(0, guesser.last + wait - this.#now());
  }

  #waitOfAddress(source: string): number {
    return Math.max(0, Math.ceil((this.#levelOf(source) - FREE_OF_ADDRESS + 1) * PACE_OF_ADDRESS_MS));
  }

  #levelOf(source: string): number {
    const address = this.#addresses.get(source);
    return address === undefined ? 0 : Math.max(0, address.level - (this.#now() - address.at) / PACE_OF_ADDRESS_MS);
  }
}

const keyOf = ({ source, account }: Pick<Guess, 'source' | 'account'>): string => `${source} ${account}`;

/** Puts an entry behind all others; what was heard of longest ago goes. */
function putLast<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MOST) map.delete(oldest!);
}
