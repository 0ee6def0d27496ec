// One action on several labs.
import { sentenceOf } from '../model/server/sentence.ts';
import type { ProjectObject } from '../model/server/types.ts';

/**
 * Runs the task for each lab in turn, also after one has failed, and takes the successful ones out of `left`, so that
 * another try is only about the others.
 * @throws Error with the reasons, each with the name of its lab if there are several
 */
export async function forEachLab<Lab extends Pick<ProjectObject, 'name'>>(
  left: Set<Lab>,
  task: (lab: Lab) => Promise<unknown>,
): Promise<void> {
  const isOne = left.size === 1;
  const reasons: string[] = [];
  for (const lab of [...left]) {
    try {
      await task(lab);
      left.delete(lab);
    } catch (error) {
      if (isOne) throw error;
      reasons.push(`${lab.name}: ${sentenceOf(error)}`);
    }
  }
  if (reasons.length > 0) throw new Error(reasons.join(' '));
}
