// The screens that the bar at the top and the command field offer. The table of screens fills it: it knows their components, which show the bar.
import { computed, signal } from '@preact/signals';
import { account } from '../model/account/account.ts';

export interface BarEntry {
  path: string;
  title: string;
  /** Nothing where nobody logs in; `admin`: for admins alone. */
  isFor: 'everybody' | 'people' | 'admins';
}

/** All of them. */
export const entries = signal<readonly BarEntry[]>([]);

/** Those for whoever is logged in. */
export const bar = computed(() => {
  const { login = false, role } = account.value ?? {};
  return entries.value.filter(
    ({ isFor }) => isFor === 'everybody' || (login && (isFor === 'people' || role === 'admin')),
  );
});
