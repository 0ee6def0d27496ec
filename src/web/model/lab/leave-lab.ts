// A lab with `auto_close` that was left: the server closes it when nobody has listened to it for a while.
import { signal } from '@preact/signals';
import { api } from '../server/api.ts';
import type { Lab } from './lab.ts';

export interface LeftLab {
  id: string;
  name: string;
}

/** The lab that was left last, as long as it can be kept open. */
export const leftLab = signal<LeftLab | undefined>(undefined);

/** To be called when the screen of a lab goes. */
export function noteLeaving(lab: Lab): void {
  const project = lab.project.peek();
  const isClosing = project?.auto_close === true && lab.whyNotChange === '' && lab.state.peek() === 'open';
  leftLab.value = isClosing ? { id: lab.id, name: project.name } : undefined;
}

/** To be called when the screen of a lab is shown. */
export function noteVisit(id: string): void {
  if (leftLab.peek()?.id === id) leftLab.value = undefined;
}

/** Switches `auto_close` off. @throws Refusal */
export async function keepOpen({ id }: LeftLab): Promise<void> {
  await api.put(`/projects/${id}`, { auto_close: false });
  leftLab.value = undefined;
}
