// The neighbour cache with ageing and pending queries, for both ARP and neighbour discovery.

import { formatAddress, lasting } from './address.ts';
import type { Timer, Timers } from './timers.ts';

const LIFE_MS = 120_000;
const ENTRIES = 256;
/** Questions at a time; more are refused. */
const QUESTIONS = 32;
const TRIES = 3;
const TRY_MS = 1000;

type Resolved = (mac: Buffer | undefined) => void;

interface Question {
  tries: number;
  timer: Timer | undefined;
  readonly waiting: Resolved[];
}

interface Known {
  readonly address: Buffer;
  mac: Buffer;
  expires: number;
}

export interface NeighbourEntry {
  address: Buffer;
  mac: Buffer;
  /** Seconds until it is forgotten. */
  seconds: number;
}

export class Neighbours {
  readonly #timers: Timers;
  readonly #ask: (address: Buffer) => void;
  /** Oldest first. Created at the first entry, as most of a thousand PCs never communicate. */
  #known: Map<string, Known> | undefined;
  #questions: Map<string, Question> | undefined;

  /** `ask` sends the question. */
  constructor(timers: Timers, ask: (address: Buffer) => void) {
    this.#timers = timers;
    this.#ask = ask;
  }

  find(address: Buffer): Buffer | undefined {
    const known = this.#known?.get(formatAddress(address));
    return known !== undefined && known.expires > this.#timers.now() ? known.mac : undefined;
  }

  /**
   * Reports the MAC address, at once if it is cached; undefined if three queries a second apart get no answer. Returns a function to stop
   * waiting.
   */
  resolve(address: Buffer, done: Resolved): () => void {
    const mac = this.find(address);
    if (mac !== undefined) {
      done(mac);
      return () => {};
    }
    const key = formatAddress(address);
    this.#questions ??= new Map();
    let question = this.#questions.get(key);
    if (question === undefined) {
      if (this.#questions.size >= QUESTIONS) {
        done(undefined);
        return () => {};
      }
      question = { tries: 0, timer: undefined, waiting: [] };
      this.#questions.set(key, question);
      question.waiting.push(done);
      this.#try(Buffer.from(address), key, question);
    } else question.waiting.push(done);
    const { waiting } = question;
    return () => {
      const index = waiting.indexOf(done);
      if (index >= 0) waiting.splice(index, 1);
    };
  }

  /** Learns a neighbour's announcement; unless `wanted`, only updates known or pending entries. */
  learn(address: Buffer, mac: Buffer, wanted: boolean): void {
    const key = formatAddress(address);
    const question = this.#questions?.get(key);
    if (!wanted && question === undefined && this.#known?.has(key) !== true) return;
    this.#known ??= new Map();
    this.#known.delete(key);
    if (this.#known.size >= ENTRIES) this.#known.delete(this.#known.keys().next().value!);
    const entry = {
      address: lasting(address),
      mac: lasting(mac),
      expires: this.#timers.now() + LIFE_MS,
    };
    this.#known.set(key, entry);
    if (question !== undefined) this.#answer(key, question, entry.mac);
  }

  entries(): NeighbourEntry[] {
    const now = this.#timers.now();
    return [...(this.#known?.values() ?? [])]
      .filter(({ expires }) => expires > now)
      .map(({ address, mac, expires }) => ({ address, mac, seconds: Math.floor((expires - now) / 1000) }));
  }

  clear(): void {
    this.#known = undefined;
  }

  #try(address: Buffer, key: string, question: Question): void {
    if (question.tries === TRIES) {
      this.#answer(key, question, undefined);
      return;
    }
    question.tries++;
    question.timer = this.#timers.after(TRY_MS, () => this.#try(address, key, question));
    this.#ask(address);
  }

  #answer(key: string, question: Question, mac: Buffer | undefined): void {
    question.timer?.stop();
    this.#questions?.delete(key);
    for (const done of question.waiting.splice(0)) done(mac);
  }
}
