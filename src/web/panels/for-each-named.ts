// One action on several labs or accounts.
import { sentenceOf } from '../model/server/sentence.ts';

/**
 * Runs the task for each in turn, also after one has failed, and takes the successful ones out of `left`, so that
 * another try is only about the others. Begins no more once `cancelled` is aborted.
 * @throws Error with the reasons, each with its name if there are several
 */
export async function forEachNamed<Named extends { readonly name: string }>(
  left: Set<Named>,
  task: (one: Named) => Promise<unknown>,
  cancelled?: AbortSignal,
): Promise<void> {
  const isOne = left.size === 1;
  const reasons: string[] = [];
  for (const one of [...left]) {
    if (cancelled?.aborted) break;
    try {
      await task(one);
      left.delete(one);
    } catch (error) {
      if (isOne) throw error;
      reasons.push(`${one.name}: ${sentenceOf(error)}`);
    }
  }
  if (reasons.length > 0) throw new Error(reasons.join(' '));
}
