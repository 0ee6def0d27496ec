// What whoever is logged in may not do, and why: buttons, forms, keys and gestures all ask here. The server decides in the end; this only spares people a refusal.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { WORDS } from '../../words.ts';
import { api } from '../server/api.ts';
import { type Access, account } from './account.ts';

const words = WORDS.may;

/**
 * - `make`: labs of one's own
 * - `administer`: templates, images, hosts, accounts
 */
export type Duty = 'make' | 'administer';

/** A lab as it is shared with whoever is logged in. */
export interface Share {
  project_id: string;
  /** Null: nobody's. */
  owner: string | null;
  access: Access;
  may_share: boolean;
}

/** Events that come together are one reading. */
const GATHERED_MS = 100;

/** By id of the lab; what is not there is not known yet, or everybody's. */
export const shares = signal<ReadonlyMap<string, Share>>(new Map());

/** Why something may not be done; empty where it may, and until it is known who asks. */
export function whyNot(duty: Duty): string {
  const role = account.value?.role ?? 'admin';
  if (role === 'admin' || (role === 'user' && duty === 'make')) return '';
  return duty === 'make' ? words.observer : words.adminsOnly;
}

/** Why a lab may not be changed; empty where it may. */
export function whyNotChange(labId: string): string {
  const role = account.value?.role ?? 'admin';
  if (role === 'admin') return '';
  if (role === 'observer') return words.observer;
  const share = shares.value.get(labId);
  return share?.access === 'watch' ? words.watching(share.owner) : '';
}

/** Asks how labs are shared, where there are several accounts. */
export async function readShares(): Promise<void> {
  if (!account.peek()?.others) return;
  try {
    const list = await api.get<Share[]>('/project-sharing');
    shares.value = new Map(list.map((one) => [one.project_id, one]));
  } catch {
    // The server refuses what may not be done; that it is away is said elsewhere.
  }
}

/** Reads how labs are shared now, and when `news` is another value: something was heard of labs. */
export function useShares(news: unknown): void {
  useEffect(() => {
    const timer = setTimeout(() => void readShares(), GATHERED_MS);
    return () => clearTimeout(timer);
  }, [news, account.value]);
}
