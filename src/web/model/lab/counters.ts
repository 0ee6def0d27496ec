// Link counters of a lab and their rates for the last minute, over one socket that is open while needed.
import { signal } from '@preact/signals';
import type { DirectionCounters, LinkCounters } from '../../../api/objects.ts';
import { openSocket } from '../server/sockets.ts';

/** Rates in kbit/s, one per second, the latest last. */
export interface Rates {
  forward: readonly number[];
  backward: readonly number[];
}

const INTERVAL_MS = 1000;
const PAUSE_MS = 3000;
export const HISTORY_SECONDS = 60;

export class Counters {
  readonly links = signal<ReadonlyMap<string, LinkCounters>>(new Map());
  /** Links that dropped frames in the last interval. */
  readonly dropping = signal<ReadonlySet<string>>(new Set());
  readonly #path: string;
  readonly #history = new Map<string, { forward: number[]; backward: number[] }>();
  #watchers = 0;
  #socket: WebSocket | undefined;
  /** Counts openings, so that messages of earlier ones are ignored. */
  #attempt = 0;
  #isOpening = false;
  #again: ReturnType<typeof setTimeout> | undefined;
  #ticking: ReturnType<typeof setInterval> | undefined;
  #before = new Map<string, number>();
  #asOf: ReadonlyMap<string, LinkCounters> | undefined;

  /** Path of the project below `/v2`. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Keeps the counters updated until the returned function is called; several callers share them. Paused while the page is hidden. */
  watch(): () => void {
    this.#watchers += 1;
    if (this.#watchers === 1) {
      document.addEventListener('visibilitychange', this.#visible);
      this.#visible();
    }
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.#watchers -= 1;
      if (this.#watchers > 0) return;
      document.removeEventListener('visibilitychange', this.#visible);
      this.#close();
    };
  }

  rates(linkId: string): Rates {
    return this.#history.get(linkId) ?? { forward: [], backward: [] };
  }

  readonly #visible = (): void => {
    if (document.hidden) this.#close();
    else if (!this.#socket && !this.#isOpening) void this.#open();
  };

  async #open(): Promise<void> {
    this.#attempt += 1;
    const attempt = this.#attempt;
    clearTimeout(this.#again);
    this.#isOpening = true;
    this.#ticking ??= setInterval(() => this.#tick(), INTERVAL_MS);
    const path = `${this.#path}/links/statistics/ws`;
    const socket = await openSocket(path, { interval: String(INTERVAL_MS) }).catch(() => undefined);
    if (attempt !== this.#attempt) return socket?.close();
    this.#isOpening = false;
    if (!socket) return this.#lost();
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#received(JSON.parse(String(data)) as { links: LinkCounters[] });
    socket.onclose = () => {
      if (socket === this.#socket) this.#lost();
    };
  }

  #lost(): void {
    this.#socket = undefined;
    this.#again = setTimeout(this.#visible, PAUSE_MS);
  }

  #close(): void {
    this.#attempt += 1;
    this.#isOpening = false;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    clearTimeout(this.#again);
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  #received({ links }: { links: LinkCounters[] }): void {
    const all = new Map(this.links.value);
    for (const link of links) all.set(link.link_id, link);
    this.links.value = all;
  }

  /** Records the current rates, once a second; links without a new message keep their rate. */
  #tick(): void {
    const dropping = new Set<string>();
    for (const [id, { forward, backward }] of this.links.value) {
      const history = this.#history.get(id) ?? { forward: [], backward: [] };
      this.#history.set(id, history);
      for (const [rates, rate] of [
        [history.forward, forward.rate_kbit],
        [history.backward, backward.rate_kbit],
      ] as const) {
        rates.push(rate);
        if (rates.length > HISTORY_SECONDS) rates.shift();
      }
      const drops = dropsOf(forward) + dropsOf(backward);
      if (drops > (this.#before.get(id) ?? drops)) dropping.add(id);
      this.#before.set(id, drops);
    }
    if (dropping.size > 0 || this.dropping.value.size > 0) this.dropping.value = dropping;
    // A new map, so that the rates are redrawn even if no counter has changed.
    if (this.#asOf === this.links.value) this.links.value = new Map(this.links.value);
    this.#asOf = this.links.value;
  }
}

export function dropsOf({ dropped }: DirectionCounters): number {
  return Object.values(dropped).reduce((sum, count) => sum + count, 0);
}

/** Formats a rate: `2.1 Mbit/s`. */
export function rateText(kbit: number): string {
  if (kbit >= 1e6) return `${(kbit / 1e6).toFixed(1)} Gbit/s`;
  if (kbit >= 1e3) return `${(kbit / 1e3).toFixed(1)} Mbit/s`;
  return `${kbit >= 10 ? Math.round(kbit) : kbit.toFixed(1)} kbit/s`;
}
