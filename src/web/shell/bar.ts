// The screens in the navigation bar and the command field. The table of screens fills it, because screens show the bar and would import it
// in a circle.
import { computed, signal } from '@preact/signals';
import { account } from '../model/account/account.ts';

export interface BarEntry {
  path: string;
  title: string;
  /** `people`: only on servers with accounts; `admins`: for admins only. */
  isFor: 'everybody' | 'people' | 'admins';
}

/** All entries. */
export const entries = signal<readonly BarEntry[]>([]);

/** Entries for the logged-in account. */
export const bar = computed(() => {
  const { login = false, role } = account.value ?? {};
  return entries.value.filter(
    ({ isFor }) => isFor === 'everybody' || (login && (isFor === 'people' || role === 'admin')),
  );
});
