// `labwired supervise`: what the daemon starts as the supervisor of its programs. Not for users.
import { useAddonDirectory } from '../host/processes/addons.ts';
import { forbidNewRights, withholdRights } from '../host/processes/inherited-rights.ts';

/** @param words directory of the socket, identifier of the state directory, and where addons may be put down, if anywhere */
export async function supervise([directory, instance, addonDirectory]: readonly string[]): Promise<void> {
  if (directory === undefined || instance === undefined) {
    process.stderr.write('labwired supervise is started by the daemon itself.\n');
    process.exit(2);
  }
  if (addonDirectory) useAddonDirectory(addonDirectory);
  withholdRights();
  forbidNewRights();
  process.title = 'labwired: supervisor';
  // Closing the terminal that the daemon was started from is no reason to end what it holds.
  process.on('SIGHUP', () => {});
  // Not before the directory is known: node-pty loads its addon as soon as it is imported.
  const { Supervisor } = await import('./supervisor.ts');
  new Supervisor({ directory, instance }).start();
}
