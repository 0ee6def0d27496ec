// The line of the audit trail for a command on the host that changes who may log in.
import { userInfo } from 'node:os';
import { AuditFile } from '../store/audit.ts';

/** The system's user who runs this; in containers it often has no name. To be asked before root becomes another. */
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
