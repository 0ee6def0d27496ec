// The supervisor's socket, in a directory of the state directory that only its owner can enter.
import { closeSync, constants, existsSync, fstatSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { conflict, systemCode } from '../failures.ts';
import { ownUser } from '../host/processes/own-user.ts';

const DIRECTORY = 'supervisor';
/** The directory's name in earlier releases, whose supervisor may still hold programs there. */
const FORMER_DIRECTORY = 'holder';
const SOCKET = 'socket';
/** Longest path of a socket (unix(7)). */
const PATH_BYTES = 107;

/**
 * The supervisor's directory, created if missing. The directory of an earlier release is renamed: a socket stays
 * reachable by its directory's new name while its process runs.
 * @throws Failure `conflict`
 */
export function supervisorDirectory(state: string): string {
  const directory = join(state, DIRECTORY);
  const former = join(state, FORMER_DIRECTORY);
  if (!existsSync(directory) && existsSync(former)) renameSync(former, directory);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    if (systemCode(thrown) !== 'EEXIST') throw thrown;
    throw conflict(`${directory}: something else is in the place of this directory; move it away`);
  }
  return directory;
}

/**
 * The socket's path, short enough for the kernel until `held` is disposed: a long path goes through a descriptor.
 * @throws Failure `conflict` if other users could reach the socket; Node's error if the directory is missing
 */
export function socketPath(directory: string, held: DisposableStack): string {
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  held.defer(() => closeSync(descriptor));
  const { uid, mode } = fstatSync(descriptor);
  if (uid !== ownUser() || (mode & 0o077) !== 0) {
    throw conflict(`${directory} must belong to the user that runs labwired, with mode 0700.`);
  }
  const path = join(directory, SOCKET);
  return Buffer.byteLength(path) <= PATH_BYTES ? path : `/proc/self/fd/${descriptor}/${SOCKET}`;
}
