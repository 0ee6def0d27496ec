// What the logged-in account may not do, and why; used by buttons, forms, keys and gestures. The server still checks every request.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Share } from '../../../api/routes/accounts.ts';
import { WORDS } from '../../words.ts';
import { api } from '../server/api.ts';
import { account } from './account.ts';

const words = WORDS.may;

/**
 * - `make`: create own labs
 * - `administer`: templates, images, hosts, accounts
 */
export type Duty = 'make' | 'administer';

/** Events within this time cause a single reading. */
const GATHERED_MS = 100;

/** By lab id. A missing lab is not read yet, or shared with everybody. */
export const shares = signal<ReadonlyMap<string, Share>>(new Map());

/** Why an action is not allowed; empty if it is allowed or the account is not known yet. */
export function whyNot(duty: Duty): string {
  const role = account.value?.role ?? 'admin';
  if (role === 'admin' || (role === 'user' && duty === 'make')) return '';
  return duty === 'make' ? words.observer : words.adminsOnly;
}

/** Why a lab may not be changed; empty if it may. */
export function whyNotChange(labId: string): string {
  const role = account.value?.role ?? 'admin';
  if (role === 'admin') return '';
  if (role === 'observer') return words.observer;
  const share = shares.value.get(labId);
  return share?.access === 'watch' ? words.watching(share.owner) : '';
}

/** Reads how labs are shared, if there are several accounts. */
export async function readShares(): Promise<void> {
  if (!account.peek()?.others) return;
  try {
    const list = await api.get<Share[]>('/project-sharing');
    shares.value = new Map(list.map((one) => [one.project_id, one]));
  } catch {
    // The server still refuses what is not allowed, and a lost connection is shown elsewhere.
  }
}

/** Reads the shares now, and again whenever `news` changes. */
export function useShares(news: unknown): void {
  useEffect(() => {
    const timer = setTimeout(() => void readShares(), GATHERED_MS);
    return () => clearTimeout(timer);
  }, [news, account.value]);
}
