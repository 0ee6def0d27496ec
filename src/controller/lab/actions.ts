// Starting, stopping and the like: one node, or all of a project, at most three at a time (as in release 2.2.57).
import { Failure } from '../../failures.ts';
import { eachOf } from '../../host/each-of.ts';
import { ComputeUnreachable } from '../computes/transport.ts';
import type { Node } from '../nodes/node.ts';
import { nodeRun } from './claims.ts';
import type { Project } from './project.ts';

export type Action = 'start' | 'stop' | 'suspend' | 'reload';

/** Milliseconds that a compute may take. */
const ACTION_LIMIT_MS = 240_000;
const RESET_LIMIT_MS = 120_000;
const AT_ONCE = 3;

/** Tells the node's compute; of a stop only that it takes too long is a failure. */
export async function act(node: Node, action: Action, body: object = {}): Promise<void> {
  const stop = action === 'stop';
  const options = { limit: ACTION_LIMIT_MS, connect: !stop, ...(action === 'start' ? { body } : {}) };
  try {
    await node.compute.post(`${node.path}/${action}`, options);
  } catch (error) {
    const late = error instanceof ComputeUnreachable && error.late;
    if (late) throw new Failure('time-out', error.message, { cause: error });
    if (!stop) throw error;
  }
}

/** Runs a task for all nodes in their order; all are tried, then one of the failures is reported. */
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

/** Does some actions to all nodes, each node when its turn comes; nodes that go meanwhile are left alone. */
async function round(project: Project, actions: readonly Action[]): Promise<void> {
  await project.rounds.run(async (cancelled) => {
    for (const action of actions) {
      await forAll([...project.nodes.values()], (node) =>
        project.changes.run(nodeRun(node.id), async () => {
          if (cancelled.aborted || project.nodes.get(node.id) !== node) return;
          await act(node, action);
        }),
      );
    }
  });
}

export const startAll = (project: Project): Promise<void> => round(project, ['start']);
export const suspendAll = (project: Project): Promise<void> => round(project, ['suspend']);
export const reloadAll = (project: Project): Promise<void> => round(project, ['stop', 'start']);

/** Nodes that an earlier round has not begun with are not started any more. */
export async function stopAll(project: Project): Promise<void> {
  project.rounds.cancel();
  await round(project, ['stop']);
}

/** Stops all nodes of a project to which nothing else happens at this time. */
export function stopAllAtOnce(project: Project): Promise<void> {
  return forAll([...project.nodes.values()], (node) => act(node, 'stop'));
}

export async function resetConsole(node: Node): Promise<void> {
  await node.compute.post(`${node.path}/console/reset`, { limit: RESET_LIMIT_MS });
}

/** Only telnet consoles can be reset. */
export function resetAllConsoles(project: Project): Promise<void> {
  const nodes = [...project.nodes.values()].filter(({ record }) => record.console_type === 'telnet');
  return forAll(nodes, resetConsole);
}
