// Watches whether a new container reports missing rights on its console.
import { lacksRights } from './rights.ts';
import type { DockerRuntime } from './runtime.ts';

/** How long it is watched, and how often. */
const WATCHED_MS = 5_000;
const WATCH_MS = 250;

/**
 * @param refused called at most once, with the container's message
 * @param resources end the watch
 */
export function watchForRefusal(
  runtime: DockerRuntime,
  resources: AsyncDisposableStack,
  refused: (line: string) => void,
): void {
  const end = performance.now() + WATCHED_MS;
  const stop = (): void => {
    clearInterval(timer);
    runtime.off('end', look);
  };
  const look = (): void => {
    const isOver = performance.now() > end;
    const isRefused = !isOver && lacksRights(runtime.lastOutput);
    if (isOver || isRefused || runtime.ended) stop();
    if (isRefused) refused(lastRefusal(runtime.lastOutput));
  };
  const timer = setInterval(look, WATCH_MS).unref();
  runtime.on('end', look);
  resources.defer(stop);
}

function lastRefusal(output: string): string {
  const line = output.split('\n').findLast(lacksRights) ?? '';
  return line.trim().slice(-200);
}
