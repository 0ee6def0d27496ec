// Keeps the marks of links up to date with their counters while traffic or captures are shown.
import { effect } from '@preact/signals';
import type { LinkCounters } from '../../api/objects.ts';
import type { LabContext } from '../lab-context.ts';

/** Returns the function that stops it. */
export function followTraffic({ lab, traffic }: LabContext): () => void {
  let stopWatching: (() => void) | undefined;
  let drawn: ReadonlyMap<string, LinkCounters> = new Map();
  let dropping: ReadonlySet<string> = new Set();
  let wasShown = false;
  const stop = effect(() => {
    lab.changes.value; // captures may have started
    const isShown = traffic.value;
    const isWanted = isShown || [...lab.links.values()].some(({ capturing }) => capturing);
    if (isWanted) stopWatching ??= lab.counters.watch();
    else {
      stopWatching?.();
      stopWatching = undefined;
    }
    const counters = lab.counters.links.value;
    const now = lab.counters.dropping.value;
    for (const [id, link] of counters) {
      const isSame = drawn.get(id) === link && dropping.has(id) === now.has(id) && wasShown === isShown;
      if (!isSame) lab.touch('link', id);
    }
    drawn = counters;
    dropping = now;
    wasShown = isShown;
  });
  return () => {
    stop();
    stopWatching?.();
  };
}
