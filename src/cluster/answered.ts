// Questions to JetStream that are repeated: servers that elect the leader of a stream drop some.
import { setTimeout as sleep } from 'node:timers/promises';

/** Time limit (ms) of the first question. It doubles up to the last one: a large answer may need longer on a slow line. */
const FIRST_MS = 500;
const LAST_MS = 8_000;
/** A request over a closed connection fails at once. */
const AGAIN_MS = 100;

/**
 * @param isWanted whether to ask again
 * @param ask asks with a time limit (ms)
 * @throws the last error when the answer is wanted no more
 */
export async function answered<T>(isWanted: () => boolean, ask: (limit: number) => Promise<T>): Promise<T> {
  for (let limit = FIRST_MS; ; limit = Math.min(limit * 2, LAST_MS)) {
    try {
      return await ask(limit);
    } catch (error) {
      if (!isWanted()) throw error;
    }
    await sleep(AGAIN_MS);
  }
}
