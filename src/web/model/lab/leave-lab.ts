// Follows the last left lab if it has `auto_close`: the server closes it some time after its last listener has gone.
import { signal } from '@preact/signals';
import type { LabFigures } from '../../../api/routes/projects.ts';
import { api } from '../server/api.ts';
import { rested } from '../server/backoff.ts';
import type { Lab } from './lab.ts';

export interface LeftLab {
  id: string;
  name: string;
  /** When the server closes it (`Date.now()`). */
  closesAt: number;
}

/** Pauses before the server is asked whether the lab will close: it learns a moment later that this page has left. */
const FIRST_PAUSES_MS = [300, 1_000, 3_000];
/** Pause between later questions. */
const PAUSE_MS = 5_000;

/** The last left lab, while it is about to close and can still be kept open. */
export const leftLab = signal<LeftLab | undefined>(undefined);

/** The lab that is followed. */
let followed: { id: string; name: string } | undefined;

/** Call when the screen of a lab is left. */
export function noteLeaving(lab: Lab): void {
  const project = lab.project.peek();
  const isClosing = project?.auto_close === true && lab.whyNotChange === '' && lab.state.peek() === 'open';
  forgetLeft();
  if (isClosing) void follow({ id: lab.id, name: project.name });
}

/** Call when the screen of a lab is shown, or when the lab does not close any more. */
export function noteVisit(id: string): void {
  if (followed?.id === id) forgetLeft();
}

/** Ends the notice; the lab closes. */
export function forgetLeft(): void {
  followed = undefined;
  leftLab.value = undefined;
}

/** Disables `auto_close`. @throws Refusal */
export async function keepOpen({ id }: LeftLab): Promise<void> {
  await api.put(`/projects/${id}`, { auto_close: false });
  noteVisit(id);
}

/** Asks until the lab is closed, or until it is clear that another client has it open. */
async function follow(lab: { id: string; name: string }): Promise<void> {
  followed = lab;
  const pauses = [...FIRST_PAUSES_MS];
  while (leftLab.peek() || pauses.length > 0) {
    await rested(pauses[0] ?? PAUSE_MS);
    if (followed !== lab) return;
    const figures = await api.get<LabFigures[]>('/project-figures').catch(() => undefined);
    if (followed !== lab) return;
    if (!figures) continue;
    pauses.shift();
    const seconds = figures.find(({ project_id: id }) => id === lab.id)?.closes_in_seconds ?? null;
    leftLab.value = seconds === null ? undefined : { ...lab, closesAt: Date.now() + seconds * 1000 };
  }
}
