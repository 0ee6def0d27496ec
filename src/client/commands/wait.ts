// `labwired wait`: waits until nodes or the lab are in a state.
import { setTimeout as sleep } from 'node:timers/promises';
import { findNodeKind } from '../../api/kinds/kinds.ts';
import type { NodeObject, ProjectObject } from '../../api/objects.ts';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { timedOut } from '../../failures.ts';
import { type Noun, verb } from '../frame/command.ts';
import { findNode, type Session } from '../frame/session.ts';
import { secondsOf } from '../terminal/seconds.ts';

const NODE_STATES = ['started', 'stopped', 'suspended'];
const LAB_STATES = ['opened', 'closed'];
const USUAL_SECONDS = 60;
const POLL_MS = 250;

/** Names of the nodes that are not in the state yet. */
type Missing = () => Promise<string[]>;

/** All nodes, or those of these names; of all, those that always run are not waited for. */
function missingNodes(session: Session, lab: ProjectObject, state: string, wanted: readonly string[]): Missing {
  const counts = ({ node_type }: NodeObject): boolean => findNodeKind(node_type)?.alwaysRuns !== true;
  return async () => {
    const all = await session.nodes(lab);
    const meant = wanted.length > 0 ? wanted.map((word) => findNode(all, word)) : all.filter(counts);
    return meant.filter(({ status }) => status !== state).map(({ name, status }) => `"${name}" is ${status}`);
  };
}

function missingLab(session: Session, { project_id }: ProjectObject, state: string): Missing {
  return async () => {
    const { name, status } = await session.api.get<ProjectObject>(`/v2/projects/${project_id}`);
    return status === state ? [] : [`"${name}" is ${status}`];
  };
}

async function run(session: Session, [state = '', ...wanted]: readonly string[], timeout?: string): Promise<void> {
  const seconds = secondsOf('--timeout', timeout, USUAL_SECONDS);
  const ofLab = LAB_STATES.includes(state);
  if (!ofLab && !NODE_STATES.includes(state)) {
    throw new WrongUsage(
      `"${state}" is not a state: use ${NODE_STATES.join(', ')} for nodes, ${LAB_STATES.join(', ')} for labs.`,
    );
  }
  if (ofLab && wanted.length > 0) throw new WrongUsage(`"${state}" is a state of labs: name the lab with --lab LAB.`);
  const lab = await session.lab();
  const missing = ofLab ? missingLab(session, lab, state) : missingNodes(session, lab, state, wanted);
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const left = await missing();
    if (left.length === 0) return;
    if (performance.now() > deadline) {
      const more = left.length > 3 ? ` and ${left.length - 3} more` : '';
      throw timedOut(`Not ${state} after ${seconds} s: ${left.slice(0, 3).join(', ')}${more}.`);
    }
    await sleep(POLL_MS);
  }
}

export const wait: Noun = {
  name: 'wait',
  summary: 'waits for a state of nodes or of a lab',
  verbs: [
    verb({
      name: '',
      words: ['STATE', '[NODE...]'],
      summary: 'STATE of these or all nodes: started, stopped, suspended; of the lab: opened, closed',
      flags: { timeout: { value: 'SECONDS', summary: 'the most time (60)' } },
      inLab: true,
      run: (session, words, { timeout }) => run(session, words, timeout),
    }),
  ],
};
