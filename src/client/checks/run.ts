// Runs a lab's checks at the same time, except those that would disturb each other.
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import type { WantedCheck } from '../labfile/model.ts';
import { lookForFrame } from './frame.ts';
import { type Clock, type Look, type Observation, observe } from './observation.ts';
import { lookByPing } from './ping.ts';
import { type Scene, wordsOf } from './scene.ts';

/** Seconds that a check may take unless it says more: a routing protocol with its usual timers is through by then. */
export const USUAL_SECONDS = 60;

export type CheckKind = 'ping' | 'console' | 'frame';

export interface CheckResult extends Observation {
  name: string;
  kind: CheckKind;
  /** In the file, from 1 on. */
  line: number;
}

interface Prepared {
  name: string;
  kind: CheckKind;
  /** Checks with the same turn run one after the other. */
  turn: (() => Promise<string>) | undefined;
  seconds: number;
  look(clock: Clock): Promise<Look>;
}

function prepared(scene: Scene, { name, ping, console, frame }: WantedCheck): Prepared {
  if (ping) {
    const { from, to, timeout: seconds = USUAL_SECONDS } = ping;
    const called = name ?? `ping from ${from} to ${to}`;
    return { name: called, kind: 'ping', turn: undefined, seconds, look: (clock) => lookByPing(scene, ping, clock) };
  }
  if (frame) {
    const { link, filter, timeout: seconds = USUAL_SECONDS } = frame;
    const called = name ?? `frame on ${link}${filter === undefined ? '' : `: ${filter}`}`;
    const look = ({ left }: Clock): Promise<Look> => lookForFrame(scene, frame, left);
    // A link has one capture at a time, by whichever end it is named.
    const turn = (): Promise<string> =>
      scene.link(link).then(
        ({ link_id: id }) => id,
        () => link,
      );
    return { name: called, kind: 'frame', turn, seconds, look };
  }
  const { node, expect, send, timeout: seconds = USUAL_SECONDS } = console!;
  const called = name ?? `console of ${node}: ${wordsOf(expect)}`;
  const look = (clock: Clock): Promise<Look> => scene.lookAtConsole(node, { expect, send }, clock);
  return { name: called, kind: 'console', turn: undefined, seconds, look };
}

/**
 * Runs the checks; a failed check is a result, too.
 * @param report called for each result
 * @returns the results in the order of the file
 */
export async function runChecks(
  scene: Scene,
  checks: readonly WantedCheck[],
  report: (result: CheckResult) => void,
): Promise<CheckResult[]> {
  const turns = new KeyedLock();
  const runs = checks.map(async (check) => {
    const { name, kind, turn, seconds, look } = prepared(scene, check);
    const run = async (): Promise<CheckResult> => {
      const result = { name, kind, line: check.place.line, ...(await observe(look, seconds)) };
      report(result);
      return result;
    };
    return turn === undefined ? run() : turns.run(await turn(), run);
  });
  return Promise.all(runs);
}
