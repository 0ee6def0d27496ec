// What work leaves behind, the start of the program first of all.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: NodeJS.GCFunction | undefined;

/**
 * Gives this thread's garbage back to the system, 8 MB after the start: V8 collects that of a program that then idles only when
 * it next runs short. Takes some 20 ms of this thread, more with many labs; for moments when nobody waits.
 */
export function releaseMemory(): void {
  collect ??= collector();
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

function collector(): NodeJS.GCFunction {
  // Not as a flag of the executable: V8 would refuse Node's own code cache, which was made without it, and start slower.
  setFlagsFromString('--expose-gc');
  const found: NodeJS.GCFunction = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return found;
}
