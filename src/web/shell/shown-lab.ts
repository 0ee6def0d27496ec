// Which lab and which overlays are shown. Every screen loads this, so it imports nothing of a lab.
import { signal } from '@preact/signals';
import type { LabContext } from '../lab-context.ts';

export const shownLab = signal<LabContext | undefined>(undefined);

export const isCommandShown = signal(false);
export const isKeysShown = signal(false);

/** Text typed into the command field before it was loaded. */
export interface Early {
  text: string;
  /** Enter was pressed after it. */
  isAsked: boolean;
}
