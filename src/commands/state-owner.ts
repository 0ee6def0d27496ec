// Commands that work on the state directory do so as its owner: what root wrote there the server could neither read nor write.
import { stat } from 'node:fs/promises';
import { Failure, systemCode } from '../failures.ts';

/** Root becomes the user whose state directory it is, for good. One that is not there has no owner yet. @throws Failure for others */
export async function becomeOwner(state: string): Promise<void> {
  const found = await stat(state).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  const own = process.geteuid?.();
  if (found === undefined || own === found.uid) return;
  if (own !== 0) throw new Failure('forbidden', `${state} belongs to another user: run this as that one, or as root.`);
  process.setgroups?.([found.gid]);
  process.setgid?.(found.gid);
  process.setuid?.(found.uid);
}
