// The audit trail's entry for a local command that changes accounts.
import { userInfo } from 'node:os';
import { AuditFile } from '../store/audit.ts';

/** The calling system user; containers often have no name for it. Must be called before root switches users. */
export function callerName(sudoUser: string | undefined): string {
  try {
    return sudoUser ?? userInfo().username;
  } catch {
    return `user ${process.geteuid?.()}`;
  }
}

/** Resolves when the line is in the file, or lost. */
export async function noteCommand(
  state: string,
  { caller, command, objects }: { caller: string; command: string; objects: Readonly<Record<string, string>> },
): Promise<void> {
  const audit = new AuditFile(state);
  const line = { time: new Date().toISOString(), account: caller, address: 'this host' };
  audit.note({ ...line, action: `labwired ${command}`, objects, status: 0 });
  await audit.settled();
}
