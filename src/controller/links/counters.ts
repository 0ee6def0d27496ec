// Counters of all links of a lab over one WebSocket: a message an interval with those that changed.
import { setTimeout as pause } from 'node:timers/promises';
import { Failure, messageOf } from '../../failures.ts';
import { wholeInQuery } from '../../http/app/query.ts';
import type { MessageSocket } from '../../http/sockets/message-socket.ts';
import { lineCounters } from './lines.ts';
import type { Link } from './link.ts';

const INTERVAL_MS = { least: 200, most: 60_000, unit: 'milliseconds' };
const USUAL_INTERVAL_MS = 1000;
/** Links that are asked for at the same time. */
const AT_ONCE = 32;
/** A client that has not read so many bytes gets the next figures when it has. */
const BACKLOG_BYTES = 256 * 1024;
/** A link whose computes cannot tell is asked again after so many intervals. */
const RARELY = 30;

/** @throws Failure `invalid`, which names `interval` */
export function counterInterval(query: Readonly<Record<string, string>>): number {
  return wholeInQuery(query, 'interval', INTERVAL_MS) ?? USUAL_INTERVAL_MS;
}

/** What is asked of a project. */
export interface CountedLab {
  readonly isOpen: boolean;
  readonly links: ReadonlyMap<string, Link>;
}

type Counters = Awaited<ReturnType<typeof lineCounters>>;

/**
 * Sends `{"links": [...]}`: first all links that can be counted, then after each interval those whose figures are others. A large lab, or a
 * slow client, makes the intervals longer. Ends with the project.
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
  /** What the client was told last of each link. */
  told: Map<Link, string>;
  /** The rounds in which links could not be asked. */
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

/** What makes counters others: all but the time that goes by. */
function figuresOf(counters: Counters): string {
  return JSON.stringify(counters, (name, value: unknown) => (name === 'seconds' ? undefined : value));
}
