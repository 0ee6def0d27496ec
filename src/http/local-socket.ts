// The server's socket in the file system: one server at a path, and what a killed one left there is replaced.
import { randomUUID } from 'node:crypto';
import { chmod, link, lstat, rename, unlink } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { Failure, messageOf, systemCode } from '../failures.ts';

/** Longest path of a socket (unix(7)). */
const PATH_BYTES = 107;
const PROBE_MS = 2_000;
/** Its owner alone, and root. */
const MODE = 0o600;

/** What becomes of a connection to this socket: undefined when it is open, else the system's code. */
function probe(path: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const socket = connect(path);
  const answer = (code?: string): void => {
    socket.destroy();
    resolve(code);
  };
  socket.setTimeout(PROBE_MS, () => answer('ETIMEDOUT'));
  socket.once('connect', () => answer());
  socket.once('error', (error) => answer(systemCode(error) ?? 'EIO'));
  return promise;
}

/** Whether this user can connect to a program that listens at this socket. */
export async function isReachable(path: string): Promise<boolean> {
  return (await probe(path)) === undefined;
}

/** Whether a program listens at this socket; who does not answer in time, or may not be asked, may be one. */
async function isListening(path: string): Promise<boolean> {
  const code = await probe(path);
  return code !== 'ECONNREFUSED' && code !== 'ENOENT';
}

/**
 * Listens at this path, which vanishes with the server.
 * @throws Failure `conflict` when another program listens there, or what is there is no socket, or the path cannot be used
 */
export async function listenAt(server: Server, path: string): Promise<void> {
  if (Buffer.byteLength(path) > PATH_BYTES) {
    throw new Failure(
      'conflict',
      `${path} is longer than the ${PATH_BYTES} bytes that a socket's path can have: name another with socket_path`,
    );
  }
  try {
    await listen(server, path).catch(async (error: unknown) => {
      if (systemCode(error) !== 'EADDRINUSE') throw error;
      await removeStale(path);
      await listen(server, path);
    });
    await chmod(path, MODE);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure('conflict', `${path} cannot be used (${messageOf(error)}): name another with socket_path`);
  }
}

async function listen(server: Server, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(path, resolve);
  try {
    await promise;
  } finally {
    server.off('error', reject);
  }
}

/** Removes a socket at which nobody listens. */
async function removeStale(path: string): Promise<void> {
  const taken = new Failure(
    'conflict',
    `another program listens at ${path}: stop it, or name another with socket_path`,
  );
  if (!(await lstat(path)).isSocket()) {
    throw new Failure('conflict', `${path} is there and is no socket: remove it, or name another with socket_path`);
  }
  if (await isListening(path)) throw taken;
  // Another server may have found the same and be quicker: what is removed is looked at once more under a name that nobody knows.
  const aside = `${path}.${randomUUID().slice(0, 8)}`;
  await rename(path, aside);
  try {
    if (!(await isListening(aside))) return;
    await link(aside, path).catch(() => {});
    throw taken;
  } finally {
    await unlink(aside);
  }
}
