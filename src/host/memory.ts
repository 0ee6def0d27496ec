// What starting up leaves behind.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Gives the memory back that only the start needed, some 8 MB: V8 collects the garbage of a program that then idles only when
 * it next runs short. Takes some 20 ms of this thread; for the moment after the daemon is ready.
 */
export function releaseStartupMemory(): void {
  // Not as a flag of the executable: V8 would refuse Node's own code cache, which was made without it, and start slower.
  setFlagsFromString('--expose-gc');
  const collect: NodeJS.GCFunction = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
