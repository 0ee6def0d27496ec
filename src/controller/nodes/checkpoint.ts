// Asks the compute of a node for a copy of what the node has changed (api/disk-checkpoint).
import { CHECKPOINT_MS } from '../../api/disk-checkpoint.ts';
import { lacksRoute } from '../computes/answers.ts';
import type { Node } from './node.ts';

/** The compute's reason for a copy that takes too long comes first. */
const ANSWER_MS = CHECKPOINT_MS + 10_000;

/**
 * @param stopped also of a node that does not run
 * @returns false if the compute has no such route, as those of older releases
 * @throws ComputeRefusal with the reason, ComputeUnreachable
 */
export async function takeCheckpoint(
  { compute, path }: Pick<Node, 'compute' | 'path'>,
  { stopped = false } = {},
): Promise<boolean> {
  try {
    await compute.post(`${path}/checkpoint${stopped ? '?stopped=yes' : ''}`, { connect: false, limit: ANSWER_MS });
    return true;
  } catch (error) {
    if (lacksRoute(error)) return false;
    throw error;
  }
}
