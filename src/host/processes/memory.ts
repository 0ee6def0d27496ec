// What work leaves behind, the start of the program first of all.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: NodeJS.GCFunction | undefined;

/**
 * Gives this thread's garbage back to the system, 8 MB after the start: V8 collects that of a program that then idles only when
 * it next runs short. The first time, that is also what was compiled for the start, 2 MB: what of it is needed again is compiled again.
 * Takes some 20 ms of this thread, more with many labs; for moments when nobody waits.
 */
export function releaseMemory(): void {
  const isFirst = collect === undefined;
  collect ??= collector();
  // Functions that have not run since so many collections; this kind of collection is two at once.
  if (isFirst) setFlagsFromString('--bytecode-old-age=2');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  if (isFirst) setFlagsFromString('--bytecode-old-age=6'); // V8's own
}

function collector(): NodeJS.GCFunction {
  // Not as a flag of the executable: V8 would refuse Node's own code cache, which was made without it, and start slower.
  setFlagsFromString('--expose-gc');
  const found: NodeJS.GCFunction = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return found;
}
