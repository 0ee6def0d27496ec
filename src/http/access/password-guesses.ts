// Delays password guessing. Wrong guesses count per address and account, so that one person's mistakes do not delay others behind the same
// address; and per address, so that no client can try all accounts at once.

import ipaddr from 'ipaddr.js';
import { dropOldest } from '../../host/values/drop-oldest.ts';
import { passedAddress, throughHost } from './passed-connections.ts';

/** Wrong guesses at one account without a delay, for typing errors. Each further one doubles the delay. */
const FREE = 5;
/** In ms: the first delay, the longest, and how long a wrong guess is remembered. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
const MEMORY_MS = 15 * 60_000;
/** Wrong guesses per address, over all accounts, without a delay: a class with typing errors. Then one is checked per this time. */
const FREE_OF_ADDRESS = 100;
const PACE_OF_ADDRESS_MS = 30_000;
/** A host that passes clients on may guess as many addresses do, however many it invents. */
const ADDRESSES_OF_HOST = 10;
/** Maximum remembered pairs and addresses; the least recent is forgotten. */
const MOST = 4_096;

/** One guess. Names are digests to limit memory. */
export interface Guess {
  source: string;
  account: string;
  password: string;
}

interface Guesser {
  wrong: number;
  /** Milliseconds on the given clock. */
  last: number;
  /** The last wrong password. */
  password: string;
}

/** A leaky bucket: the number of wrong guesses at that time. */
interface Address {
  level: number;
  at: number;
}

/** An IPv6 host has 2^64 addresses, so its network counts. */
export function sourceOf(address: string): string {
  const passed = passedAddress(address);
  // Not the source of direct clients: a host must not delay others in their name.
  if (passed) return throughHost(sourceOf(passed.address), passed.host);
  if (!ipaddr.isValid(address)) return address;
  const found = ipaddr.process(address); // an IPv4-mapped IPv6 address counts as IPv4
  if (found instanceof ipaddr.IPv4) return found.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${found.toNormalizedString().replace(/%.*$/, '')}/64`)}/64`;
}

export class Guesses {
  readonly #now: () => number;
  /** By address and account. */
  readonly #guessers = new Map<string, Guesser>();
  readonly #addresses = new Map<string, Address>();

  /** @param now milliseconds on a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Milliseconds until this address may try this account again; 0: now. */
  wait(guess: Pick<Guess, 'source' | 'account'>): number {
    return Math.max(this.#waitOfPair(keyOf(guess)), ...bucketsOf(guess.source).map((one) => this.#waitOf(one)));
  }

  /** Counts a wrong guess; returns the count for this address and account. */
  wrong(guess: Guess): number {
    const now = this.#now();
    const key = keyOf(guess);
    const before = this.#guessers.get(key);
    const wrong = before !== undefined && now - before.last < MEMORY_MS ? before.wrong + 1 : 1;
    putLast(this.#guessers, key, { wrong, last: now, password: guess.password });
    // A program that repeats an outdated password is not guessing and must not delay others.
    if (before?.password !== guess.password)
      for (const bucket of bucketsOf(guess.source))
        putLast(this.#addresses, bucket.name, { level: this.#levelOf(bucket) + 1, at: now });
    return wrong;
  }

  /** The address count stays: a user must not get extra guesses at other accounts. */
  right(guess: Pick<Guess, 'source' | 'account'>): void {
    this.#guessers.delete(keyOf(guess));
  }

  #waitOfPair(key: string): number {
    const guesser = this.#guessers.get(key);
    if (guesser === undefined || guesser.wrong < FREE) return 0;
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (guesser.wrong - FREE));
    return Math.max(0, guesser.last + wait - this.#now());
  }

  #waitOf(bucket: Bucket): number {
    const excess = this.#levelOf(bucket) - FREE_OF_ADDRESS * bucket.size + 1;
    return Math.max(0, Math.ceil((excess * PACE_OF_ADDRESS_MS) / bucket.size));
  }

  #levelOf({ name, size }: Bucket): number {
    const address = this.#addresses.get(name);
    if (address === undefined) return 0;
    return Math.max(0, address.level - ((this.#now() - address.at) * size) / PACE_OF_ADDRESS_MS);
  }
}

interface Bucket {
  name: string;
  /** How many addresses it stands for. */
  size: number;
}

/** A client that another host passes on counts for that host, too. */
function bucketsOf(source: string): Bucket[] {
  const { host } = passedAddress(source) ?? {};
  const own = { name: source, size: 1 };
  return host === undefined ? [own] : [own, { name: throughHost('', host), size: ADDRESSES_OF_HOST }];
}

const keyOf = ({ source, account }: Pick<Guess, 'source' | 'account'>): string => `${source} ${account}`;

/** Moves the entry to the end; the oldest is removed if there are too many. */
function putLast<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  dropOldest(map, MOST);
}
