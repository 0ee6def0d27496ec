// The lab whose screen is shown. By itself: what every screen loads asks for it, and needs nothing of a lab.
import { signal } from '@preact/signals';
import type { LabContext } from './lab-context.ts';

export const shownLab = signal<LabContext | undefined>(undefined);
