// Runs commands on the state directory as its owner, because the server could not access files that root creates there.
import { stat } from 'node:fs/promises';
import { forbidden, ignoreMissing } from '../failures.ts';

/**
 * Switches from root to the user who owns the state directory, for the rest of the process. A missing directory has no owner yet.
 * @throws Failure for other users
 */
export async function becomeOwner(state: string): Promise<void> {
  const found = await stat(state).catch(ignoreMissing);
  const own = process.geteuid?.();
  if (found === undefined || own === found.uid) return;
  if (own !== 0) throw forbidden(`${state} belongs to another user: run this as that one, or as root.`);
  process.setgroups?.([found.gid]);
  process.setgid?.(found.gid);
  process.setuid?.(found.uid);
}
