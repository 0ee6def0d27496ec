// Starting, stopping and the like: one node, or all of a project, at most three at a time (interface of release 2.2.57, section 7.7).
import { Failure } from '../../failures.ts';
import { eachOf } from '../../host/each-of.ts';
import { ComputeUnreachable } from '../computes/transport.ts';
import type { Project } from '../projects/project.ts';
import type { Node } from './node.ts';

export type Action = 'start' | 'stop' | 'suspend' | 'reload';

/** Milliseconds that a compute may take. */
const ACTION_LIMIT = 240_000;
const RESET_LIMIT = 120_000;
const AT_ONCE = 3;

/** Tells the node's compute; of a stop only that it takes too long is a failure. */
export async function act(node: Node, action: Action, body: object = {}): Promise<void> {
  const stop = action === 'stop';
  const options = { limit: ACTION_LIMIT, connect: !stop, ...(action === 'start' ? { body } : {}) };
  try {
    await node.compute.post(`${node.path}/${action}`, options);
  } catch (error) {
    const late = error instanceof ComputeUnreachable && error.late;
    if (late) throw new Failure('time-out', error.message, { cause: error });
    if (!stop) throw error;
  }
}

/** Runs an action for all nodes in their order; all are tried, then one of the failures is reported. */
async function forAll(nodes: readonly Node[], task: (node: Node) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  await eachOf(nodes, AT_ONCE, async (node) => {
    try {
      await task(node);
    } catch (error) {
      failures.push(error);
    }
  });
  if (failures.length > 0) throw failures[0];
}

export const startAll = (project: Project): Promise<void> =>
  forAll([...project.nodes.values()], (node) => act(node, 'start'));
export const stopAll = (project: Project): Promise<void> =>
  forAll([...project.nodes.values()], (node) => act(node, 'stop'));
export const suspendAll = (project: Project): Promise<void> =>
  forAll([...project.nodes.values()], (node) => act(node, 'suspend'));

export async function reloadAll(project: Project): Promise<void> {
  await stopAll(project);
  await startAll(project);
}

export async function resetConsole(node: Node): Promise<void> {
  await node.compute.post(`${node.path}/console/reset`, { limit: RESET_LIMIT });
}

/** Only telnet consoles can be reset. */
export function resetAllConsoles(project: Project): Promise<void> {
  const nodes = [...project.nodes.values()].filter(({ record }) => record.console_type === 'telnet');
  return forAll(nodes, resetConsole);
}
