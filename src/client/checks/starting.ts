// Starts a lab's nodes in the order of its file: each when those before it are ready, by their consoles or pings.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProjectObject } from '../../api/objects.ts';
import { conflict, Failure, invalid, messageOf, notFound, timedOut } from '../../failures.ts';
import { Slots } from '../../host/values/slots.ts';
import type { Session } from '../frame/session.ts';
import { fileWord, nodeKey, type WantedLab, type WantedNode } from '../labfile/model.ts';
import type { Ready } from '../labfile/schema.ts';
import { type Observation, observe } from './observation.ts';
import { lookByPing } from './ping.ts';
import { Scene, wordsOf } from './scene.ts';

/** Seconds until a node has to be ready unless it says more: the start of a machine on a host that is busy. */
export const USUAL_SECONDS = 120;
/** Nodes that the server is asked to start at the same time. */
const MOST_STARTS = 8;

/** The names of the nodes that have to be ready before each, by the name of each. */
export type Before = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Those that `after` names, and all of a lower `order`.
 * @throws Failure `invalid` with the names when nodes wait for each other in a circle
 */
function nodesBefore(nodes: readonly Pick<WantedNode, 'name' | 'start'>[]): Before {
  const before = new Map(
    nodes.map(({ name, start }) => {
      const lower = nodes.filter((other) => (other.start.order ?? 0) < (start.order ?? 0)).map((other) => other.name);
      const named = (start.after ?? []).flatMap(
        (one) => nodes.find((other) => nodeKey(other.name) === nodeKey(one)) ?? [],
      );
      return [name, new Set([...lower, ...named.map((other) => other.name)])] as const;
    }),
  );
  const waiting = new Map(before);
  for (;;) {
    const free = [...waiting].filter(([, names]) => [...names].every((name) => !waiting.has(name)));
    if (free.length === 0) break;
    for (const [name] of free) waiting.delete(name);
  }
  if (waiting.size > 0) {
    const names = [...waiting.keys()].slice(0, 5).map((name) => `"${name}"`);
    throw invalid(`${names.join(', ')} wait for each other by their start.order and start.after: change one of them.`);
  }
  return before;
}

async function waitUntilReady(scene: Scene, name: string, ready: Ready): Promise<Observation> {
  const { console: expect, send, ping, timeout = ping?.timeout ?? USUAL_SECONDS } = ready;
  return observe(
    (clock) => (ping ? lookByPing(scene, ping, clock) : scene.lookAtConsole(name, { expect: expect!, send }, clock)),
    timeout,
  );
}

function purposeOf({ console: expect, ping }: Ready): string {
  return ping ? `a ping from ${ping.from} to ${ping.to} is answered` : `its console says ${wordsOf(expect!)}`;
}

/**
 * Starts the nodes of a file, and waits until those that say when they are ready are. Opens the lab if it is closed.
 * @throws Failure with the names of the nodes that are not ready, and why; those that wait for them are not started
 */
export async function startInOrder(session: Session, lab: ProjectObject, wanted: WantedLab): Promise<void> {
  const before = nodesBefore(wanted.nodes);
  const path = `/v2/projects/${lab.project_id}`;
  if (lab.status !== 'opened') await session.api.post(`${path}/open`);
  const there = await session.nodes(lab);
  const ids = wanted.nodes.map(({ name }) => {
    const node = there.find((one) => nodeKey(one.name) === nodeKey(name));
    if (!node)
      throw notFound(`Lab "${lab.name}" has no node "${name}" yet: create it with labwired apply ${fileWord(wanted)}`);
    return [name, node] as const;
  });
  const scene = new Scene(session, lab);
  const slots = new Slots(MOST_STARTS);
  const failures: string[] = [];
  const runs = new Map<string, Promise<boolean>>();
  const open = Promise.withResolvers<void>();
  const start = async ({ name, start: { delay = 0, ready } }: WantedNode): Promise<boolean> => {
    await open.promise;
    const names = [...before.get(name)!];
    const results = await Promise.all(names.map((one) => runs.get(one)!));
    const missing = names.filter((_, index) => !results[index]);
    if (missing.length > 0) {
      const [first] = missing;
      throw conflict(
        `it is not started, because "${first}" is not ready${missing.length > 1 ? `, nor ${missing.length - 1} more` : ''}`,
      );
    }
    const { node_id: id, status } = ids.find(([one]) => one === name)![1];
    if (status !== 'started') {
      await sleep(delay * 1000);
      using _slot = await slots.take();
      await session.api.post(`${path}/nodes/${id}/start`);
    }
    if (!ready) return true;
    session.remark(`"${name}" is started; waiting until ${purposeOf(ready)}.`);
    const { passed, seen, seconds } = await waitUntilReady(scene, name, ready);
    if (!passed) throw timedOut(`it is not ready after ${Math.round(seconds)} s: ${seen}`);
    session.remark(`"${name}" is ready, after ${seconds.toFixed(1)} s: ${seen}`);
    return true;
  };
  for (const node of wanted.nodes) {
    const run = start(node).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
      failures.push(`"${node.name}": ${messageOf(error)}`);
      return false;
    });
    runs.set(node.name, run);
  }
  open.resolve();
  await Promise.all(runs.values());
  if (failures.length > 0) throw conflict(`Not all nodes are ready. ${failures.join('; ')}`);
}
