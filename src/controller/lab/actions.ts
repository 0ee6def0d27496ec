// Runs start, stop, suspend and reload on one node or on all nodes of a project: at most three at a time per host,
// starts in start order with their delays. Nodes on unreachable hosts are skipped and delay no other node.
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, timedOut } from '../../failures.ts';
import { eachOf } from '../../host/values/each-of.ts';
import { ComputeUnreachable } from '../computes/transport.ts';
import type { Node } from '../nodes/node.ts';
import { nodeRun } from './claims.ts';
import type { Project } from './project.ts';

export type Action = 'start' | 'stop' | 'suspend' | 'reload';

/** How long (ms) a compute may take. */
const ACTION_LIMIT_MS = 240_000;
const RESET_LIMIT_MS = 120_000;
const AT_ONCE = 3;

/** A node that an action on all nodes skipped because its host is unreachable. */
export interface LeftOut {
  node_id: string;
  name: string;
  compute_id: string;
  reason: string;
}

/** Forwards the action to the node's compute. For a stop, only an unreachable host and a timeout count as failures. */
export async function act(node: Node, action: Action, body: object = {}): Promise<void> {
  const ended = node.endAsked;
  await node.reach();
  const stop = action === 'stop';
  const starts = action === 'start' || action === 'reload';
  if (node.absent !== undefined) {
    if (!starts) return;
    await node.appear();
  }
  if (starts) await node.protectImages();
  const options = {
    limit: ACTION_LIMIT_MS,
    connect: !stop,
    ...(action === 'start' ? { body: node.startBody?.() ?? body, headers: node.startHeaders() } : {}),
  };
  if (action === 'start') ended.throwIfAborted();
  try {
    if (starts) node.starting += 1;
    await node.compute.post(`${node.path}/${action}`, options);
  } catch (error) {
    const late = error instanceof ComputeUnreachable && error.late;
    if (late) throw timedOut(error.message, { cause: error });
    if (!stop || error instanceof ComputeUnreachable) throw error;
  } finally {
    if (starts) node.starting -= 1;
  }
}

/**
 * Cancels pending starts, both in this server's queue and on the node's compute. Later changes in the project's queue
 * wait until this has finished.
 */
export async function cancelStartsOf(nodes: Iterable<Node>): Promise<void> {
  const asked = [...nodes].map(async (node) => {
    node.askEnd();
    if (node.starting > 0) await act(node, 'stop').catch(() => {});
  });
  await Promise.all(asked);
}

/** Cancels all pending starts of a project, because all nodes are about to stop. */
export function cancelStarts(project: Project): Promise<void> {
  project.rounds.cancel();
  return cancelStartsOf(project.nodes.values());
}

/**
 * Runs a task for all nodes, group by group, in order on each host. All nodes are tried before the first failure is
 * thrown.
 * @returns the nodes whose host is unreachable
 */
async function forAll(
  groups: readonly (readonly Node[])[],
  task: (node: Node, begun: number) => Promise<void>,
): Promise<LeftOut[]> {
  const failures: unknown[] = [];
  const leftOut: LeftOut[] = [];
  const attempt = async (node: Node, begun: number): Promise<void> => {
    try {
      await task(node, begun);
    } catch (error) {
      const isAway = error instanceof ComputeUnreachable || !node.compute.connected;
      if (isAway) leftOut.push(leaveOut(node, error));
      else failures.push(error);
    }
  };
  for (const nodes of groups) {
    const begun = performance.now();
    const hosts = Map.groupBy(nodes, ({ compute }) => compute);
    await Promise.all([...hosts.values()].map((ofOne) => eachOf(ofOne, AT_ONCE, (node) => attempt(node, begun))));
  }
  if (failures.length > 0) throw failures[0];
  return leftOut;
}

function leaveOut({ id, name, compute }: Node, error: unknown): LeftOut {
  return { node_id: id, name, compute_id: compute.id, reason: messageOf(error) };
}

const delayOf = ({ record }: Node): number => (record.start_delay ?? 0) * 1000;

/** Groups the nodes by `start_order` and sorts each group by delay. */
function startGroups(nodes: readonly Node[]): Node[][] {
  const groups = Map.groupBy(nodes, ({ record }) => record.start_order ?? 0);
  const inOrder = [...groups].sort(([one], [other]) => one - other);
  return inOrder.map(([, group]) => group.sort((one, other) => delayOf(one) - delayOf(other)));
}

/** Waits until a node's start is due, counted from when its group began, or until the start is cancelled. */
async function untilDue(node: Node, begun: number, signals: AbortSignal[]): Promise<void> {
  const left = begun + delayOf(node) - performance.now();
  // A server that ends does not wait for the timer.
  if (left > 0) await sleep(left, undefined, { signal: AbortSignal.any(signals), ref: false }).catch(() => {});
}

/**
 * Runs some actions on all nodes, each in its turn. Nodes deleted meanwhile are skipped; nodes stopped meanwhile are
 * not started.
 * @param before awaited when it is the round's turn
 * @param among the only nodes that it concerns
 */
async function round(
  project: Project,
  actions: readonly Action[],
  { before, among }: { before?: Promise<void>; among?: ReadonlySet<Node> } = {},
): Promise<LeftOut[]> {
  const leftOut = new Map<string, LeftOut>();
  await project.rounds.run(async (cancelled) => {
    await before;
    const nodesNow = (): Node[] => [...project.nodes.values()].filter((node) => among?.has(node) ?? true);
    const ends = new Map(nodesNow().map((node) => [node, node.endAsked]));
    for (const action of actions) {
      const nodes = nodesNow();
      const left = await forAll(action === 'start' ? startGroups(nodes) : [nodes], async (node, begun) => {
        const ended = ends.get(node) ?? node.endAsked;
        if (action === 'start') await untilDue(node, begun, [cancelled, ended]);
        await project.changes.run(nodeRun(node.id), async () => {
          if (cancelled.aborted || project.nodes.get(node.id) !== node) return;
          if (action === 'start' && ended.aborted) return;
          await act(node, action).catch((error: unknown) => {
            if (action !== 'start' || !ended.aborted) throw error;
          });
        });
      });
      for (const one of left) leftOut.set(one.node_id, one);
    }
  });
  return [...leftOut.values()];
}

export const startAll = (project: Project): Promise<LeftOut[]> => round(project, ['start']);
/** Starts some nodes of a project, in their order. */
export const startThese = (project: Project, nodes: ReadonlySet<Node>): Promise<LeftOut[]> =>
  round(project, ['start'], { among: nodes });
export const suspendAll = (project: Project): Promise<LeftOut[]> => round(project, ['suspend']);
export const reloadAll = (project: Project): Promise<LeftOut[]> => round(project, ['stop', 'start']);

/** Stops all nodes and cancels pending starts. */
export function stopAll(project: Project): Promise<LeftOut[]> {
  return round(project, ['stop'], { before: cancelStarts(project) });
}

/** Stops all nodes of a project; the caller holds off all other changes. */
export async function stopAllAtOnce(project: Project): Promise<void> {
  await forAll([[...project.nodes.values()]], (node) => act(node, 'stop'));
}

export async function resetConsole(node: Node): Promise<void> {
  await node.compute.post(`${node.path}/console/reset`, { limit: RESET_LIMIT_MS });
}

/** Only telnet consoles can be reset. */
export async function resetAllConsoles(project: Project): Promise<void> {
  const nodes = [...project.nodes.values()].filter(({ record }) => record.console_type === 'telnet');
  await forAll([nodes], resetConsole);
}
