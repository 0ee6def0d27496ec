// Saves and resumes running nodes with a snapshot: an extension of the release's API.

import { nodeKind } from '../../api/kinds/kinds.ts';
import { conflict, type Failure, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { eachOf } from '../../host/values/each-of.ts';
import type { Announcer } from '../events.ts';
import { act } from '../lab/actions.ts';
import { nodeRun } from '../lab/claims.ts';
import type { Project } from '../lab/project.ts';
import type { Node, NodeStatus } from '../nodes/node.ts';

/** Time limit (ms) for a node to write its memory to disk or read it. */
const STATE_LIMIT_MS = 660_000;
/** Nodes started at the same time. */
const STARTS_AT_ONCE = 3;

const keepsState = (node: Node): boolean => nodeKind(node.type).whileRunning === 'state';

/**
 * Saves the state of all running nodes to their files, concurrently, so that the states match as closely as possible.
 * The nodes are paused until `kept` is disposed of.
 * @returns the status of each running node
 * @throws Failure `conflict` for a node that cannot be saved; all nodes then resume
 */
export async function keepRunning(
  project: Project,
  kept: AsyncDisposableStack,
): Promise<ReadonlyMap<string, NodeStatus>> {
  const running = [...project.nodes.values()].filter(
    ({ status, alwaysRunning }) => status !== 'stopped' && !alwaysRunning,
  );
  const refused = running.find(({ type }) => nodeKind(type).whileRunning === 'refused');
  if (refused) throw cannot(refused, `what runs in a node of the type ${refused.type} cannot be kept; stop it first`);
  const states = running.filter(keepsState);
  const results = await Promise.allSettled(
    states.map(async (node) => {
      await node.compute.post(`${node.path}/state`, { limit: STATE_LIMIT_MS });
      kept.defer(() => goOn(node));
    }),
  );
  for (const [index, result] of results.entries()) {
    if (result.status === 'rejected') throw cannot(states[index]!, messageOf(result.reason));
  }
  return new Map(running.map(({ id, status }) => [id, status]));
}

function cannot({ name }: Node, why: string): Failure {
  return conflict(`running: the node "${name}" cannot be kept while it runs: ${why}`);
}

async function goOn(node: Node): Promise<void> {
  await node.compute.delete(`${node.path}/state`, { limit: STATE_LIMIT_MS }).catch((error: unknown) => {
    log.error('a node does not go on after a snapshot', { node: node.id, reason: messageOf(error) });
  });
}

/**
 * Starts the nodes of a restored lab that were running, from their saved state. A node that fails is reported and stays
 * off.
 */
export async function startKept(
  project: Project,
  statuses: ReadonlyMap<string, NodeStatus>,
  announcer: Announcer,
): Promise<void> {
  const nodes = [...project.nodes.values()]
    .filter(({ id }) => (statuses.get(id) ?? 'stopped') !== 'stopped')
    .map((node) => ({ node, ended: node.endAsked }));
  await project.rounds.run((cancelled) =>
    eachOf(nodes, STARTS_AT_ONCE, ({ node, ended }) =>
      project.changes.run(nodeRun(node.id), async () => {
        if (cancelled.aborted || ended.aborted || project.nodes.get(node.id) !== node) return;
        try {
          await node.protectImages();
          if (keepsState(node)) await node.compute.post(`${node.path}/state/start`, { limit: STATE_LIMIT_MS });
          else await act(node, 'start');
          if (statuses.get(node.id) === 'suspended') await act(node, 'suspend');
        } catch (error) {
          // A stop cancels the start.
          if (ended.aborted) return;
          const message = `${node.name} does not run as it did in the snapshot: ${messageOf(error)}`;
          announcer.project.emit('log.error', { message }, project.id);
        }
      }),
    ),
  );
}
