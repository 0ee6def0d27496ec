// What a run of the scenarios means, given those of which it is known that they do not pass.

/** Of the player's result (`replay.mjs --json`). */
export interface Played {
  area: string;
  name: string;
  /** What ran the virtual PCs. */
  engine?: 'vpcs' | 'built-in';
  state: 'passed' | 'failed' | 'skipped';
  /** Why it was skipped. */
  why?: string;
  ms: number;
  steps: { id: string; what: string; state: string; diffs: { path: string; expected: unknown; got: unknown }[] }[];
}

/** Why a scenario does not pass; with `vpcs` only where the program runs the PCs and says this of its version. */
export type Gap = string | { reason: string; vpcs: string };

export interface Verdict {
  /** A line for each scenario, and under each failure what came instead. */
  lines: string[];
  passed: number;
  failed: number;
  skipped: number;
}

const SHOWN_STEPS = 5;
const SHOWN_CHARACTERS = 300;

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value.replaceAll('\n', '\\n') : (JSON.stringify(value) ?? 'nothing');
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

function details({ steps }: Played): string[] {
  const broken = steps.filter((step) => step.state === 'failed');
  const lines = broken.slice(0, SHOWN_STEPS).flatMap(({ id, what, diffs }) => [
    `       step ${id}: ${what}`,
    ...diffs.slice(0, SHOWN_STEPS).map(({ path, expected, got }) => {
      return `         ${path}: expected ${shown(expected)}, got ${shown(got)}`;
    }),
  ]);
  if (broken.length > SHOWN_STEPS) lines.push(`       and ${broken.length - SHOWN_STEPS} more steps`);
  return lines;
}

/**
 * A failure is: a scenario that fails, or is skipped, without being expected to; one that passes although it is not expected
 * to; and, in a `complete` run, an expectation that is about no scenario.
 */
export function judge(
  played: readonly Played[],
  gaps: Readonly<Record<string, Gap>>,
  { vpcs, complete }: { vpcs: string; complete: boolean },
): Verdict {
  const verdict: Verdict = { lines: [], passed: 0, failed: 0, skipped: 0 };
  const say = (count: 'passed' | 'failed' | 'skipped', ...lines: string[]): void => {
    verdict[count] += 1;
    verdict.lines.push(...lines);
  };
  for (const scenario of [...played].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))) {
    const name = nameOf(scenario);
    const gap = gaps[name];
    const isOfVersion = typeof gap === 'object' && scenario.engine !== 'built-in' && vpcs.includes(gap.vpcs);
    const reason = typeof gap === 'object' ? (isOfVersion ? gap.reason : undefined) : gap;
    const title = scenario.engine === 'built-in' ? `${name}, built-in PCs` : name;
    if (scenario.state === 'passed') {
      if (reason === undefined) say('passed', `ok     ${title} (${(scenario.ms / 1000).toFixed(1)} s)`);
      else say('failed', `FAILED ${title}: it passes now; remove it from expected-gaps.json`);
    } else if (reason !== undefined) say('skipped', `gap    ${title}: ${reason}`);
    else if (scenario.state === 'skipped') say('failed', `FAILED ${title}: skipped, since it ${scenario.why}`);
    else say('failed', `FAILED ${title}`, ...details(scenario));
  }
  if (!complete) return verdict;
  const names = new Set(played.map(nameOf));
  for (const name of Object.keys(gaps).filter((gap) => !names.has(gap))) {
    say('failed', `FAILED ${name}: there is no such scenario; remove it from expected-gaps.json`);
  }
  return verdict;
}

function nameOf({ area, name }: Played): string {
  return `${area}/${name}`;
}
