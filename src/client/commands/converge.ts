// `labwired plan`, `diff`, `apply` and `destroy`: labs described by files. Only these commands load the file reader.

import type { ProjectObject } from '../../api/objects.ts';
import { type Flags, type Noun, OUTSIDE, type Values, type Verb, verb } from '../frame/command.ts';
import type { Session } from '../frame/session.ts';
import type { Change } from '../labfile/changes.ts';
import type { WantedLab } from '../labfile/model.ts';
import type { Plan } from '../labfile/plan.ts';
import type { OutsideFlag } from '../labfile/read.ts';
import { confirm } from '../terminal/confirm.ts';
import { counted } from '../terminal/counted.ts';
import { exportVerb } from './lab.ts';

/** The file that is meant when none is named. */
const USUAL_FILE = 'lab.yaml';
/** Exit code: the lab differs from the file. */
const DIFFERS = 2;
/** Exit code for a command line that is not understood, where 2 says something else. */
const WRONG_USAGE = 1;

async function planOf(
  session: Session,
  file = USUAL_FILE,
  flags: OutsideFlag = {},
): Promise<{ wanted: WantedLab; plan: Plan }> {
  const { readLab } = await import('../labfile/read.ts');
  const { planLab } = await import('../labfile/plan.ts');
  const wanted = await readLab(file, flags);
  return { wanted, plan: await planLab(session, wanted) };
}

/** A change for programs, without the request body. */
function shownChange({ action, kind, name, place, what, differences, restart, id }: Change): object {
  return {
    action,
    kind,
    name,
    id,
    what,
    line: place?.line,
    column: place?.column,
    restart: restart === true,
    differences,
  };
}

function printJson(session: Session, wanted: WantedLab, lab: ProjectObject | undefined, more: object): void {
  const about = { name: wanted.name, project_id: lab?.project_id ?? null, server: session.api.address };
  session.printJson({ lab: about, ...more });
}

const PLAN_FLAGS = {
  ...OUTSIDE,
  placement: { summary: 'show the host of each new node instead, and why' },
} as const satisfies Flags;

async function showPlacement(session: Session, wanted: WantedLab, plan: Plan): Promise<void> {
  const { placementOf } = await import('../labfile/placement.ts');
  const { nodes, hosts, links, crossing_links: crossing } = await placementOf(session, wanted, plan);
  if (session.json) {
    printJson(session, wanted, plan.lab, { placement: { nodes, hosts, links, crossing_links: crossing } });
    return;
  }
  const names = new Map(hosts.map(({ compute_id: id, name }) => [id, name]));
  session.show(nodes, ({ node_id: id }) => id, [
    { heading: 'NODE', cell: ({ name }) => name },
    { heading: 'HOST', cell: ({ compute_id: id }) => names.get(id) ?? id },
    { heading: 'REASON', cell: ({ reason }) => reason },
  ]);
  const parts = hosts.filter((host) => host.nodes > 0).map((host) => `${host.nodes} on ${host.name}`);
  const where = parts.length > 0 ? `: ${parts.join(', ')}` : '';
  say(
    session,
    `Lab "${wanted.name}": ${counted(nodes.length, 'new node')}${where}; ${crossing} of ${counted(links, 'link')} between hosts.`,
  );
}

async function showPlan(session: Session, file: string | undefined, flags: Values<typeof PLAN_FLAGS>): Promise<void> {
  const { planLines, summaryText } = await import('../labfile/plan-text.ts');
  const { wanted, plan } = await planOf(session, file, flags);
  if (plan.changes.length > 0) process.exitCode = DIFFERS;
  if (flags.placement === true) {
    await showPlacement(session, wanted, plan);
    return;
  }
  if (session.json) printJson(session, wanted, plan.lab, { changes: plan.changes.map(shownChange) });
  else if (!session.quiet) {
    for (const line of planLines(plan.changes, session.width)) session.print(line);
    say(session, `Lab "${wanted.name}": ${summaryText(plan.changes)}.`);
  }
}

async function showDiff(session: Session, file: string | undefined, flags: OutsideFlag): Promise<void> {
  const { changeText, diffLines } = await import('../labfile/plan-text.ts');
  const { harmless } = await import('../../host/terminal/terminal-text.ts');
  const { wanted, plan } = await planOf(session, file, flags);
  if (plan.changes.length > 0) process.exitCode = DIFFERS;
  if (session.json) {
    printJson(session, wanted, plan.lab, { changes: plan.changes.map(shownChange) });
    return;
  }
  if (session.quiet || plan.changes.length === 0) return;
  session.print(harmless(`--- lab "${wanted.name}" on ${session.api.address}`));
  session.print(harmless(`+++ ${wanted.file}`));
  for (const change of plan.changes) {
    const where = change.place ? `, line ${change.place.line}` : '';
    session.print(harmless(`${changeText(change)}${where}`));
    for (const line of (change.differences ?? []).flatMap(diffLines)) session.print(harmless(line));
  }
}

function say(session: Session, sentence: string): void {
  if (!session.quiet && !session.json) session.tell(sentence, '');
}

/** One question for all removals. */
function question(changes: readonly Change[]): string {
  const names = changes.slice(0, 5).map(({ kind, name }) => `${kind} ${name}`);
  const more = changes.length > 5 ? ` and ${changes.length - 5} more` : '';
  return `This deletes what the file does not have, or creates it again: ${names.join(', ')}${more}.`;
}

const APPLY_FLAGS = {
  yes: { short: 'y', summary: 'delete what is not in the file, without asking' },
  restart: { summary: 'restart nodes for changes that need it' },
  ...OUTSIDE,
  start: { summary: 'then start the nodes in the order of the file, until they are ready' },
} as const satisfies Flags;

async function applyFile(session: Session, file: string | undefined, flags: Values<typeof APPLY_FLAGS>): Promise<void> {
  const { wanted, lab } = await makeAsFile(session, file, flags);
  if (flags.start !== true || !lab) return;
  const { startInOrder } = await import('../checks/starting.ts');
  await startInOrder(session, lab, wanted);
  say(session, `Lab "${lab.name}" is started.`);
}

/** Answers the lab as it is then. */
async function makeAsFile(
  session: Session,
  file: string | undefined,
  flags: Values<typeof APPLY_FLAGS>,
): Promise<{ wanted: WantedLab; lab: ProjectObject | undefined }> {
  const [{ removes }, { carryOut }, { planLines, summaryText, wrapped }] = await Promise.all([
    import('../labfile/changes.ts'),
    import('../labfile/carry-out.ts'),
    import('../labfile/plan-text.ts'),
  ]);
  const { wanted, plan } = await planOf(session, file, flags);
  const going = plan.changes.filter(removes);
  if (going.length > 0) {
    if (!session.quiet && !session.json) for (const line of planLines(plan.changes, session.width)) session.print(line);
    await confirm(question(going), flags.yes === true);
  }
  const done: Change[] = [];
  const tell = (change: Change): void => {
    done.push(change);
    if (!session.quiet && !session.json) for (const line of planLines([change], session.width)) session.print(line);
  };
  const outcome = await carryOut(session, wanted, { restart: flags.restart === true, approved: going, tell });
  const { waiting, unchanged } = outcome;
  if (outcome.plan.changes.length > 0) process.exitCode = DIFFERS;
  if (session.json) {
    printJson(session, wanted, outcome.plan.lab, {
      changes: done.map(shownChange),
      left: outcome.plan.changes.map(shownChange),
    });
    return { wanted, lab: outcome.plan.lab };
  }
  for (const change of unchanged) {
    for (const { member, is } of change.differences ?? [])
      session.remark(
        `${change.kind} ${change.name}: the server keeps ${member} as ${JSON.stringify(is)}; write that into the file.`,
      );
  }
  if (waiting.length > 0) {
    const names = [...new Set(waiting.map(({ name }) => name))].join(', ');
    for (const line of wrapped(`Left for a restart, which --restart does: ${names}.`, session.width))
      session.remark(line);
  }
  const applied = `${counted(outcome.done, 'change')} applied`;
  const said =
    outcome.plan.changes.length > 0
      ? `: ${applied}; left: ${summaryText(outcome.plan.changes)}`
      : ` is up to date${outcome.done > 0 ? ` (${applied})` : ''}`;
  say(session, `Lab "${wanted.name}"${said}.`);
  return { wanted, lab: outcome.plan.lab };
}

async function destroyLab(
  session: Session,
  file = USUAL_FILE,
  { yes = false, ...flags }: OutsideFlag & { yes?: boolean } = {},
): Promise<void> {
  const { readLab } = await import('../labfile/read.ts');
  const { findLab, labPath } = await import('../labfile/state.ts');
  const wanted = await readLab(file, flags);
  const lab = await findLab(session, wanted);
  if (!lab) {
    session.tell(`There is no lab "${wanted.name}": nothing to delete.`, '');
    return;
  }
  const nodes = await session.nodes(lab);
  await confirm(
    `This deletes lab "${lab.name}" with ${counted(nodes.length, 'node')}, all files and snapshots, for good.`,
    yes,
  );
  await session.api.delete(labPath(lab));
  session.tell(`Lab "${lab.name}" deleted.`, lab.project_id);
}

function noun<F extends Flags>(name: string, summary: string, { flags, run }: Pick<Verb<F>, 'flags' | 'run'>): Noun {
  return {
    name,
    summary,
    wrongUsage: WRONG_USAGE,
    verbs: [verb({ name: '', words: ['[FILE]'], summary, flags, run } as Verb<F>)],
  };
}

export const plan = noun('plan', 'shows what apply would change, without changing anything', {
  flags: PLAN_FLAGS,
  run: (session, [file], flags) => showPlan(session, file, flags),
});

export const diff = noun('diff', 'shows each value that differs between lab and file', {
  flags: OUTSIDE,
  run: (session, [file], flags) => showDiff(session, file, flags),
});

export const apply = noun('apply', 'makes a lab match its file; changes only what differs', {
  flags: APPLY_FLAGS,
  run: (session, [file], flags) => applyFile(session, file, flags),
});

export const destroy = noun('destroy', 'deletes the lab of a file', {
  flags: { yes: { short: 'y', summary: 'do not ask' }, ...OUTSIDE },
  run: (session, [file], flags) => destroyLab(session, file, flags),
});

export const exporting: Noun = {
  name: 'export',
  summary: 'writes a lab to a file: as text with --yaml, else as an archive',
  verbs: [exportVerb('')],
};
