// Releases memory left over from work, first of all from the start.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: NodeJS.GCFunction | undefined;

/**
 * Returns this thread's garbage to the system, 8 MB after the start: V8 collects the garbage of an idle program only
 * when memory runs short. The first call also drops code compiled for the start, 2 MB; functions needed again are
 * compiled again. Blocks this thread for some 20 ms, more with many labs, so call it while no client waits.
 */
export function releaseMemory(): void {
  const isFirst = collect === undefined;
  collect ??= collector();
  // Drops functions that have not run for so many collections; this kind of collection counts as two.
  if (isFirst) setFlagsFromString('--bytecode-old-age=2');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  if (isFirst) setFlagsFromString('--bytecode-old-age=6'); // V8's default
}

function collector(): NodeJS.GCFunction {
  // Not as a flag of the executable: V8 would reject Node's own code cache, which was built without it, and start
  // slower.
  setFlagsFromString('--expose-gc');
  const found: NodeJS.GCFunction = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return found;
}
