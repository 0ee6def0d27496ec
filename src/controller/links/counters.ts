// Sends the counters of a lab's links over one WebSocket: one message per interval, with the links that changed.
import { setTimeout as pause } from 'node:timers/promises';
import { Failure, messageOf } from '../../failures.ts';
import { wholeInQuery } from '../../http/app/query.ts';
import type { MessageSocket } from '../../http/sockets/message-socket.ts';
import { lineCounters } from './lines.ts';
import type { Link } from './link.ts';

const INTERVAL_MS = { least: 200, most: 60_000, unit: 'milliseconds' };
const USUAL_INTERVAL_MS = 1000;
/** Links queried at the same time. */
const AT_ONCE = 32;
/** While a client has this many unread bytes it gets no new counters. */
const BACKLOG_BYTES = 256 * 1024;
/** After how many intervals a link is queried again whose computes have no counters. */
const RARELY = 30;

/** @throws Failure `invalid`, which names `interval` */
export function counterInterval(query: Readonly<Record<string, string>>): number {
  return wholeInQuery(query, 'interval', INTERVAL_MS) ?? USUAL_INTERVAL_MS;
}

/** The parts of a project that are used here. */
export interface CountedLab {
  readonly isOpen: boolean;
  readonly links: ReadonlyMap<string, Link>;
}

type Counters = Awaited<ReturnType<typeof lineCounters>>;

/**
 * Sends `{"links": [...]}`: first all countable links, then per interval those whose counters changed. Intervals grow
 * for a large lab or a slow client. Ends with the project.
 */
export async function feedCounters(lab: CountedLab, socket: MessageSocket, milliseconds: number): Promise<void> {
  const leaving = new AbortController();
  socket.listen({ close: () => leaving.abort() });
  const told = new Map<Link, string>();
  const silent = new Map<Link, number>();
  for (let round = 0; !leaving.signal.aborted; round++) {
    const began = performance.now();
    if (!lab.isOpen) {
      socket.close(1001, 'The project was closed.');
      return;
    }
    if (socket.bufferedAmount <= BACKLOG_BYTES) {
      const links = await changedLinks(lab, { told, silent, round });
      if (leaving.signal.aborted) return;
      if (links.length > 0 || round === 0) socket.send(JSON.stringify({ links }));
    }
    const took = performance.now() - began;
    await pause(Math.max(milliseconds - took, took), undefined, { signal: leaving.signal, ref: false }).catch(() => {});
  }
}

interface Rounds {
  /** The counters last sent of each link. */
  told: Map<Link, string>;
  /** The rounds in which queries of links failed. */
  silent: Map<Link, number>;
  round: number;
}

async function changedLinks(lab: CountedLab, { told, silent, round }: Rounds): Promise<object[]> {
  const present = new Set(lab.links.values());
  for (const map of [told, silent]) for (const link of map.keys()) if (!present.has(link)) map.delete(link);
  const asked = [...present].filter((link) => link.wired && (silent.get(link) ?? -RARELY) + RARELY <= round);
  const found: object[] = [];
  for (let at = 0; at < asked.length; at += AT_ONCE) {
    const some = asked.slice(at, at + AT_ONCE).map(async (link) => {
      const counters = await lineCounters(link).catch((error: unknown) => {
        if (!(error instanceof Failure)) throw new Error(messageOf(error), { cause: error });
        silent.set(link, round);
      });
      if (!counters) return;
      const figures = figuresOf(counters);
      if (told.get(link) === figures) return;
      told.set(link, figures);
      found.push({ link_id: link.id, ...counters });
    });
    await Promise.all(some);
  }
  return found;
}

/** The part of the counters that is compared: all but the elapsed time. */
function figuresOf(counters: Counters): string {
  return JSON.stringify(counters, (name, value: unknown) => (name === 'seconds' ? undefined : value));
}
