// Carries out a plan: one request per change, which the server does completely or not at all.
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure, ignoreNotFound, messageOf } from '../../failures.ts';
import { runs } from '../commands/node.ts';
import type { Deferred } from '../frame/ending.ts';
import type { Session } from '../frame/session.ts';
import type { ServerNode } from '../server/nodes.ts';
import { type Change, changeKey, removes } from './changes.ts';
import { nodeKey, type WantedLab } from './model.ts';
import { leavesHosts, placementOf } from './placement.ts';
import { type Plan, planLab } from './plan.ts';
import { labPath, nodePath, writeNodeFile } from './state.ts';

export interface Options {
  /** Whether running nodes may be restarted for changes that need it. */
  restart: boolean;
  /** Approved removals. */
  approved: readonly Change[];
  /** Called before each change. */
  tell(change: Change): void;
}

export interface Outcome {
  /** As it is at the end. */
  plan: Plan;
  done: number;
  /** Changes that need a restart, which was not allowed. */
  waiting: Change[];
  /** Changes that were sent but that the server did not keep. */
  unchanged: Change[];
}

/** Removals come first, to free ports and names; then nodes, their files, links and drawings. */
const ORDER: readonly ((change: Change) => boolean)[] = [
  ({ kind }) => kind === 'lab',
  (change) => change.kind === 'link' && removes(change),
  removes,
  ({ kind, action }) => kind === 'node' && action === 'create',
  ({ kind }) => kind === 'node',
  ({ kind }) => kind === 'file',
  ({ kind }) => kind === 'link',
  () => true,
];

const rank = (change: Change): number => ORDER.findIndex((fits) => fits(change));

/** More rounds than any lab needs unless others keep changing it. */
const MOST_ROUNDS = 50;

/**
 * Brings the lab to the state of the file. Plans again until nothing is left, because links need the ports of new nodes and others may
 * change the lab meanwhile.
 * @throws Failure from the server, with the place in the file
 */
export async function carryOut(session: Session, wanted: WantedLab, options: Options): Promise<Outcome> {
  const approved = new Set(options.approved.map(changeKey));
  const sent = new Set<string>();
  let done = 0;
  for (let round = 0; ; round++) {
    const plan = await planLab(session, wanted);
    const isAllowed = (change: Change): boolean =>
      !change.waits && (!removes(change) || approved.has(changeKey(change))) && (!change.restart || options.restart);
    const keys = (change: Change): string => changeKey(change) + JSON.stringify(change.differences);
    const next = plan.changes.filter((change) => isAllowed(change) && !sent.has(keys(change)));
    // Once the lab exists and is open, further changes are known.
    const lab = next.filter(({ kind, action }) => kind === 'lab' && action !== 'change');
    const now = (lab.length > 0 ? lab : next).toSorted((one, other) => rank(one) - rank(other));
    if (now.length === 0 || round === MOST_ROUNDS) {
      const waiting = plan.changes.filter(({ restart }) => restart && !options.restart);
      const unchanged = plan.changes.filter((change) => isAllowed(change) && sent.has(keys(change)));
      return { plan, done, waiting, unchanged };
    }
    if (now.some(({ kind, action }) => kind === 'node' && action === 'create') && leavesHosts(plan))
      await placementOf(session, wanted, plan);
    for (const change of await oneRound(session, wanted, plan, { changes: now, ...options })) {
      done += 1;
      if (change.action === 'change' || change.kind === 'file') sent.add(keys(change));
    }
  }
}

interface Round {
  changes: readonly Change[];
  tell: Options['tell'];
}

/**
 * The changes that were made: fewer where another client has made one.
 * @throws Failure that also names the nodes that it has stopped and cannot start
 */
async function oneRound(session: Session, wanted: WantedLab, plan: Plan, round: Round): Promise<Change[]> {
  const restarted = new Set(round.changes.flatMap((change) => (change.restart ? [change.node ?? change.id!] : [])));
  const starts: { name: string; start: Deferred }[] = [];
  const failures: unknown[] = [];
  let done: Change[] = [];
  try {
    for (const id of restarted) {
      const node = plan.state?.nodes.find(({ node_id }) => node_id === id);
      if (!node || !runs(node)) continue;
      // Also when the command is interrupted.
      const path = nodePath(plan.lab!, id);
      const start = session.ending.defer(async () => void (await switchNode(session, path, 'start')));
      if (await switchNode(session, path, 'stop')) starts.push({ name: node.name, start });
      else start.cancel();
    }
    done = await makeChanges(session, wanted, plan, round);
  } catch (error) {
    failures.push(error);
  }
  const stopped: string[] = [];
  for (const { name, start } of starts.toReversed()) {
    await start.now().catch((error: unknown) => {
      failures.push(error);
      stopped.push(name);
    });
  }
  if (failures.length === 0) return done;
  const [first] = failures;
  if (!(first instanceof Failure) || stopped.length === 0) throw first;
  const message = `${first.message.replace(/\.$/, '')}; these nodes are stopped: ${stopped.toReversed().join(', ')}`;
  throw new Failure(first.code, message, { cause: first });
}

/** False when another client has deleted the node. @throws Failure */
async function switchNode({ api }: Session, path: string, action: 'start' | 'stop'): Promise<boolean> {
  try {
    await api.post(`${path}/${action}`);
    return true;
  } catch (error) {
    ignoreNotFound(error);
    // A host that has lost the node answers the same, but the server still has it.
    if (await api.get(path).then(() => true, ignoreNotFound)) throw error;
    return false;
  }
}

async function makeChanges(
  session: Session,
  wanted: WantedLab,
  plan: Plan,
  { changes, tell }: Round,
): Promise<Change[]> {
  const done: Change[] = [];
  for (const change of changes) {
    tell(change);
    try {
      await carryOutOne(session, plan, change);
      done.push(change);
    } catch (error) {
      if (!(error instanceof Failure) || !['conflict', 'not-found'].includes(error.code)) throw error;
      // Another client may have made this change, be making it, or have deleted its target.
      if (await isStillWanted(session, wanted, change)) throw placed(wanted, change, error);
      return done;
    }
  }
  return done;
}

/** How often and at which interval (ms) to check whether another client completes the same change. */
const PATIENCE = { tries: 10, milliseconds: 100 };

async function isStillWanted(session: Session, wanted: WantedLab, change: Change): Promise<boolean> {
  const tries = change.action === 'create' ? PATIENCE.tries : 1;
  for (let turn = 0; turn < tries; turn++) {
    if (turn > 0) await sleep(PATIENCE.milliseconds * (1 + Math.random()));
    const { changes } = await planLab(session, wanted);
    if (!changes.some((one) => changeKey(one) === changeKey(change))) return false;
  }
  return true;
}

function placed({ file }: WantedLab, { place, kind, name }: Change, error: Failure): Failure {
  const where = place ? `${file}:${place.line}:${place.column}: ` : '';
  return new Failure(error.code, `${where}${kind} ${name}: ${messageOf(error)}`);
}

async function carryOutOne({ api }: Session, { lab }: Plan, change: Change): Promise<void> {
  const { action, kind, id, body = {} } = change;
  if (kind === 'lab') {
    if (action === 'create') await api.post('/v2/projects', body);
    else if (action === 'open') await api.post(`${labPath({ project_id: id! })}/open`);
    else await api.request('PUT', labPath({ project_id: id! }), body);
    return;
  }
  if (!lab) throw new Error('the lab is missing: nothing can be changed in it');
  if (kind === 'file') {
    await writeNodeFile(api, lab, change.node!, { path: change.path!, content: change.content! });
    return;
  }
  const path = `${labPath(lab)}/${kind}s`;
  if (removes(change)) await api.delete(`${path}/${id}`);
  else if (action === 'change') await api.request('PUT', `${path}/${id}`, body);
  else {
    const made = await api.post<Partial<ServerNode>>(path, body);
    // Another client has created a node of this name meanwhile, so that the server has numbered ours.
    if (kind === 'node' && made.name !== undefined && nodeKey(made.name) !== nodeKey(change.name)) {
      await api.delete(`${path}/${made.node_id}`);
    }
  }
}
