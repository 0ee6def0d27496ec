// Watches whether a new container reports missing rights on its console.
import { lacksRights } from './rights.ts';
import type { DockerRuntime } from './runtime.ts';

/** How long it is watched after its first output, and how long it may say nothing: on a busy host programs start late. */
const WATCHED_MS = 5_000;
const SILENT_MS = 60_000;
/** How often it is looked at. */
const WATCH_MS = 250;

/**
 * @param refused called at most once, with the container's message
 * @param settled called once instead, if nothing was refused until the end of the watch; `isOver`: until its time was over
 * @param resources end the watch
 */
export function watchForRefusal(
  runtime: DockerRuntime,
  resources: AsyncDisposableStack,
  refused: (line: string) => void,
  settled: (isOver: boolean) => void,
): void {
  let until = performance.now() + SILENT_MS;
  let isSilent = true;
  let isOver = false;
  const end = (refusal?: string, isLate = false): void => {
    if (isOver) return;
    isOver = true;
    clearInterval(timer);
    runtime.off('end', look);
    if (refusal === undefined) settled(isLate);
    else refused(refusal);
  };
  const look = (): void => {
    if (isSilent && runtime.lastOutput !== '') {
      isSilent = false;
      until = performance.now() + WATCHED_MS;
    }
    const isLate = performance.now() > until;
    if (!isLate && lacksRights(runtime.lastOutput)) end(lastRefusal(runtime.lastOutput));
    else if (isLate || runtime.ended) end(undefined, isLate);
  };
  const timer = setInterval(look, WATCH_MS).unref();
  runtime.on('end', look);
  resources.defer(() => end());
}

function lastRefusal(output: string): string {
  const line = output.split('\n').findLast(lacksRights) ?? '';
  return line.trim().slice(-200);
}
