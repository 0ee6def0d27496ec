// How long a call to a compute may take.
import { ComputeUnreachable } from './transport.ts';

/** Milliseconds for calls that name no limit. */
export const DEFAULT_LIMIT_MS = 120_000;

/** Milliseconds for what clients have passed on: making a disk image, checksums of images. The release sets no limit at all. */
export const PASSED_ON_LIMIT_MS = 1_200_000;

/**
 * Does `work` within so many milliseconds (0: without a limit). What it is given tells it to stop; `progress` begins the time anew.
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

/** The same bytes; `progress` is called whenever some pass. */
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
