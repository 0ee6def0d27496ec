// The lab that is shown. A separate file, because every screen loads it and most need nothing else of a lab.
import { signal } from '@preact/signals';
import type { LabContext } from './lab-context.ts';

export const shownLab = signal<LabContext | undefined>(undefined);
