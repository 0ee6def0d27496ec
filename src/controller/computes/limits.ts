// Time limits for calls to computes.
import { ComputeUnreachable } from './transport.ts';

export const DEFAULT_LIMIT_MS = 120_000;

/** Limit (ms) for passed-on requests such as creating a disk image or checksums of images. The release has none. */
export const PASSED_ON_LIMIT_MS = 1_200_000;

/**
 * Runs `work` with a time limit in milliseconds (0: none). Its signal aborts at the limit; calling `progress` restarts
 * the time.
 * @throws ComputeUnreachable (`late`)
 */
export async function within<T>(
  limit: number,
  call: string,
  work: (signal: AbortSignal | undefined, progress: () => void) => Promise<T>,
): Promise<T> {
  if (limit === 0) return work(undefined, () => {});
  const abort = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const message = `${call}: the compute did not answer within ${limit / 1000} s.`;
    const failure = new ComputeUnreachable(message, { late: true });
    reject(failure);
    abort.abort(failure);
  }, limit);
  try {
    return await Promise.race([work(abort.signal, () => void timer.refresh()), promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Passes the bytes through and calls `progress` for each chunk. */
export function watched(body: ReadableStream<Uint8Array>, progress: () => void): ReadableStream<Uint8Array> {
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        progress();
        controller.enqueue(chunk);
      },
    }),
  );
}
