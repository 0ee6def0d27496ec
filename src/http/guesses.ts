// Who guesses passwords waits: after a few wrong ones each further guess costs twice the time of the one before.
import ipaddr from 'ipaddr.js';

/** Wrong guesses that cost nothing: people mistype. */
const FREE = 5;
/** Milliseconds: the first wait, the longest, and how long a wrong guess is remembered. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
const MEMORY_MS = 15 * 60_000;
/** Addresses that are remembered; then the one that was heard of longest ago is forgotten. */
const MOST = 4_096;

interface Guesser {
  wrong: number;
  /** Milliseconds on the clock that is given. */
  last: number;
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
  readonly #guessers = new Map<string, Guesser>();

  /** @param now milliseconds on a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Milliseconds until this source may guess again, 0 if it may now. */
  wait(source: string): number {
    const guesser = this.#guessers.get(source);
    if (guesser === undefined || guesser.wrong < FREE) return 0;
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (guesser.wrong - FREE));
    return Math.max(0, guesser.last + wait - this.#now());
  }

  /** Answers how often this source was wrong. */
  wrong(source: string): number {
    const now = this.#now();
    const before = this.#guessers.get(source);
    const wrong = before !== undefined && now - before.last < MEMORY_MS ? before.wrong + 1 : 1;
    this.#guessers.delete(source);
    this.#guessers.set(source, { wrong, last: now });
    const [oldest] = this.#guessers.keys();
    if (this.#guessers.size > MOST) this.#guessers.delete(oldest!);
    return wrong;
  }

  right(source: string): void {
    this.#guessers.delete(source);
  }
}
