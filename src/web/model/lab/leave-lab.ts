// Remembers the last left lab if it has `auto_close`: the server closes it some time after its last listener has gone.
import { signal } from '@preact/signals';
import { api } from '../server/api.ts';
import type { Lab } from './lab.ts';

export interface LeftLab {
  id: string;
  name: string;
}

/** The last left lab, while it can still be kept open. */
export const leftLab = signal<LeftLab | undefined>(undefined);

/** Call when the screen of a lab is left. */
export function noteLeaving(lab: Lab): void {
  const project = lab.project.peek();
  const isClosing = project?.auto_close === true && lab.whyNotChange === '' && lab.state.peek() === 'open';
  leftLab.value = isClosing ? { id: lab.id, name: project.name } : undefined;
}

/** Call when the screen of a lab is shown. */
export function noteVisit(id: string): void {
  if (leftLab.peek()?.id === id) leftLab.value = undefined;
}

/** Disables `auto_close`. @throws Refusal */
export async function keepOpen({ id }: LeftLab): Promise<void> {
  await api.put(`/projects/${id}`, { auto_close: false });
  leftLab.value = undefined;
}
