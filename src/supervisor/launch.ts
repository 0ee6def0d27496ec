// Starts the supervisor: this same program, detached from the daemon, so that it and its programs outlive the daemon.
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { conflict, messageOf } from '../failures.ts';
import { isPackaged } from '../host/files/assets.ts';
import { addonDirectory } from '../host/processes/addons.ts';
import { childEnvironment, instanceToken } from '../host/processes/child-processes.ts';
import { withRights } from '../host/processes/inherited-rights.ts';

/** The running program, even if another version was installed in its place. */
const SELF = '/proc/self/exe';
const PATIENCE_MS = 10_000;
const LOG = 'log';

function words(directory: string, instance: string): string[] {
  const script = isPackaged() ? [] : [join(import.meta.dirname, '../start/supervise.ts')];
  return [...script, 'supervise', directory, instance, addonDirectory() ?? ''];
}

/**
 * Resolves when the supervisor listens.
 * @throws Failure `conflict` if it does not start
 */
export async function launchSupervisor(directory: string, instance: string): Promise<void> {
  const errors = openSync(join(directory, LOG), 'w', 0o600);
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  try {
    // It creates TAPs.
    const child = withRights(() =>
      spawn(SELF, words(directory, instance), {
        argv0: 'labwired',
        cwd: directory,
        env: childEnvironment(instanceToken(instance)),
        detached: true,
        stdio: ['ignore', 'pipe', errors],
      }),
    );
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`it ended at once (${signal ?? `exit code ${code}`})`)));
    child.stdout?.once('data', () => resolve());
    const late = setTimeout(() => reject(new Error('it does not answer')), PATIENCE_MS);
    await listening.finally(() => {
      clearTimeout(late);
      child.stdout?.destroy();
      child.removeAllListeners();
      child.on('error', () => {});
      child.unref();
    });
  } catch (error) {
    throw conflict(
      `the process that holds the nodes' programs does not start: ${messageOf(error)}; see ${join(directory, LOG)}`,
      { cause: error },
    );
  } finally {
    closeSync(errors);
  }
}
