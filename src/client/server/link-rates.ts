// Traffic rates of links, from counters that are sent at intervals and only if they have changed.

/** A direction's counters that are used here. */
export interface DirectionCounters {
  from: string;
  to: string;
  delivered: { frames: number; bytes: number };
  dropped: Readonly<Record<string, number>>;
}

export interface LinkCounters {
  link_id: string;
  forward: DirectionCounters;
  backward: DirectionCounters;
}

export interface Rate {
  frames_per_second: number;
  bytes_per_second: number;
  /** Frames since the cable was plugged in. */
  dropped: number;
}

export interface Flow extends Rate {
  /** Identifiers of nodes. */
  from: string;
  to: string;
}

export interface LinkFlows {
  link_id: string;
  forward: Flow;
  backward: Flow;
}

/** So many intervals without a message mean that nothing moves. */
const SILENCE = 2;

interface Known {
  flows: LinkFlows;
  counters: LinkCounters;
  /** On the clock of {@link Traffic.take}. */
  takenAt: number;
}

export class Traffic {
  readonly #links = new Map<string, Known>();
  readonly #interval: number;
  #gap = 0;
  #lastAt = 0;

  /** @param interval milliseconds between messages, if anything has changed */
  constructor(interval: number) {
    this.#interval = interval;
  }

  /**
   * Takes a message's counters.
   * @param at milliseconds on a monotonic clock
   */
  take(links: readonly LinkCounters[], at: number): void {
    this.#gap = this.#lastAt === 0 ? this.#interval : at - this.#lastAt;
    this.#lastAt = at;
    const changed = new Set(links.map(({ link_id }) => link_id));
    for (const [id, known] of this.#links) if (!changed.has(id)) known.flows = still(known.counters);
    for (const counters of links) {
      const before = this.#links.get(counters.link_id);
      // A link missing from the previous message had not changed until then.
      const seconds = before && Math.min(at - before.takenAt, this.#gap) / 1000;
      const flows = still(counters);
      if (before && seconds) {
        for (const side of ['forward', 'backward'] as const) {
          const grown = (what: 'frames' | 'bytes'): number =>
            Math.max(0, counters[side].delivered[what] - before.counters[side].delivered[what]) / seconds;
          flows[side].frames_per_second = grown('frames');
          flows[side].bytes_per_second = grown('bytes');
        }
      }
      this.#links.set(counters.link_id, { flows, counters, takenAt: at });
    }
  }

  /**
   * All reported links, busiest first.
   * @param at as in `take`
   */
  flows(at: number): LinkFlows[] {
    const silent = at - this.#lastAt > SILENCE * Math.max(this.#gap, this.#interval);
    const all = [...this.#links.values()].map(({ flows, counters }) => (silent ? still(counters) : flows));
    return all.sort((one, other) => busy(other) - busy(one));
  }
}

const busy = ({ forward, backward }: LinkFlows): number => forward.bytes_per_second + backward.bytes_per_second;

function still({ link_id, forward, backward }: LinkCounters): LinkFlows {
  const flow = ({ from, to, dropped }: DirectionCounters): Flow => ({
    from,
    to,
    frames_per_second: 0,
    bytes_per_second: 0,
    dropped: Object.values(dropped).reduce((sum, count) => sum + count, 0),
  });
  return { link_id, forward: flow(forward), backward: flow(backward) };
}

/** Traffic sent and received by a node over all its links. */
export function ofNode(all: readonly LinkFlows[], node: string): { sent: Rate; received: Rate } {
  const sum = (end: 'from' | 'to'): Rate =>
    all
      .flatMap(({ forward, backward }) => [forward, backward])
      .filter((flow) => flow[end] === node)
      .reduce<Rate>(
        (total, flow) => ({
          frames_per_second: total.frames_per_second + flow.frames_per_second,
          bytes_per_second: total.bytes_per_second + flow.bytes_per_second,
          dropped: total.dropped + flow.dropped,
        }),
        { frames_per_second: 0, bytes_per_second: 0, dropped: 0 },
      );
  return { sent: sum('from'), received: sum('to') };
}
