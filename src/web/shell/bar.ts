// The screens that the bar at the top and the command field offer. The table of screens fills it: it knows their components, which show the bar.
import { signal } from '@preact/signals';

export interface BarEntry {
  path: string;
  title: string;
}

export const bar = signal<readonly BarEntry[]>([]);
