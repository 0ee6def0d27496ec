// Where the supervisor's socket is: a directory of the state directory into which only its owner can look.
import { closeSync, constants, existsSync, fstatSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../failures.ts';

const DIRECTORY = 'supervisor';
/** Its name in earlier releases, whose process may still keep programs there. */
const FORMER_DIRECTORY = 'holder';
const SOCKET = 'socket';
/** Longest path of a socket (unix(7)). */
const PATH_BYTES = 107;

/**
 * The supervisor's own directory, made if it is missing. That of an earlier release gets its new name: a socket can be reached by
 * every name of its directory, also while the process behind it runs.
 */
export function supervisorDirectory(state: string): string {
  const directory = join(state, DIRECTORY);
  const former = join(state, FORMER_DIRECTORY);
  if (!existsSync(directory) && existsSync(former)) renameSync(former, directory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

/**
 * The socket's path, short enough for the kernel while `held` is not disposed: through a descriptor when it is long by itself.
 * @throws Failure `conflict` when others could reach the socket; Node's error when there is no such directory
 */
export function socketPath(directory: string, held: DisposableStack): string {
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  held.defer(() => closeSync(descriptor));
  const { uid, mode } = fstatSync(descriptor);
  if (uid !== process.geteuid!() || (mode & 0o077) !== 0) {
    throw new Failure('conflict', `${directory} must belong to the user that runs labwired, with mode 0700.`);
  }
  const path = join(directory, SOCKET);
  return Buffer.byteLength(path) <= PATH_BYTES ? path : `/proc/self/fd/${descriptor}/${SOCKET}`;
}
