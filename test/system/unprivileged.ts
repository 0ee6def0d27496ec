// A daemon of a user without rights, or with a few.
import { chmodSync, chownSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Daemon, ownDaemon } from './daemon.ts';
import { executable } from './executable.ts';
import type { OuterNetwork } from './outer-network.ts';

/** The user without rights of every system. */
export const NOBODY = 65_534;

/** Words for `setpriv` that take all capabilities away for good. */
export const NO_RIGHTS: readonly string[] = ['--no-new-privs', '--inh-caps=-all', '--bounding-set=-all'];

/** Knows the words that start it. */
export type UnprivilegedDaemon = Daemon & { readonly program: readonly string[] };

/** A daemon of the user without rights, but for those that `setpriv` is told to give. */
export function unprivileged(
  t: TestContext,
  {
    rights,
    config,
    before = [],
    network,
  }: { rights: readonly string[]; config: string; before?: readonly string[]; network?: OuterNetwork | undefined },
): UnprivilegedDaemon {
  const { directory } = ownDaemon(t);
  const copy = join(directory, 'labwired');
  copyFileSync(executable()[0]!, copy);
  chmodSync(copy, 0o755);
  chownSync(directory, NOBODY, NOBODY);
  const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
  const state = join(directory, 'state');
  const program = [...(network?.inside ?? []), ...before, 'setpriv', ...user, ...rights, copy];
  const daemon = ownDaemon(t, {
    ...(network ? { host: network.address } : {}),
    program,
    config,
    flags: ['--state', state, ...(network ? ['--insecure'] : [])],
    environment: { TMPDIR: directory, HOME: directory },
  });
  chmodSync(daemon.directory, 0o755);
  return Object.assign(daemon, { state, program });
}
