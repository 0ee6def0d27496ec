// `labwired supervise`: started by the daemon to supervise its programs. Not for users.
import { useAddonDirectory } from '../host/processes/addons.ts';
import { forbidNewRights, withholdRights } from '../host/processes/inherited-rights.ts';

/** @param words directory of the socket, identifier of the state directory, and the directory for addons, if any */
export async function supervise([directory, instance, addonDirectory]: readonly string[]): Promise<void> {
  if (directory === undefined || instance === undefined) {
    process.stderr.write('labwired supervise is started by the daemon itself.\n');
    process.exit(2);
  }
  if (addonDirectory) useAddonDirectory(addonDirectory);
  withholdRights();
  forbidNewRights();
  process.title = 'labwired: supervisor';
  // Closing the terminal that the daemon was started from must not end its programs.
  process.on('SIGHUP', () => {});
  // Only after the directory is set: node-pty loads its addon when it is imported.
  const { Supervisor } = await import('./supervisor.ts');
  new Supervisor({ directory, instance }).start();
}
