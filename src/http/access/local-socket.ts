// The server's socket in the file system: one server at a path, and what a killed one left there is replaced.
import { randomUUID } from 'node:crypto';
import { lstatSync, unlinkSync } from 'node:fs';
import { chmod, link, lstat, rename, unlink } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { Failure, messageOf, systemCode } from '../../failures.ts';

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
  // Nobody finds it before it listens and has its mode: so two servers that start at once never take each other's for a stale one.
  const aside = asideOf(path);
  if (Math.max(Buffer.byteLength(path), Buffer.byteLength(aside)) > PATH_BYTES) {
    throw new Failure(
      'conflict',
      `${path} is longer than the ${PATH_BYTES} bytes that a socket's path can have: name another with socket_path`,
    );
  }
  try {
    await listen(server, aside);
    const { ino } = await lstat(aside);
    await chmod(aside, MODE);
    await publish(aside, path);
    server.once('close', () => {
      if (lstatSync(path, { throwIfNoEntry: false })?.ino === ino) unlinkSync(path);
    });
  } catch (error) {
    server.close();
    if (error instanceof Failure) throw error;
    throw new Failure('conflict', `${path} cannot be used (${messageOf(error)}): name another with socket_path`);
  }
}

/** A name beside this one that nobody else has. */
const asideOf = (path: string): string => join(dirname(path), `.${randomUUID().slice(0, 8)}`);

/** Gives the socket its name; one at which nobody listens makes way. */
async function publish(aside: string, path: string): Promise<void> {
  const isFree = (): Promise<boolean> =>
    link(aside, path).then(
      () => true,
      (error: unknown) => {
        if (systemCode(error) === 'EEXIST') return false;
        throw error;
      },
    );
  try {
    if (await isFree()) return;
    await removeStale(path);
    if (!(await isFree())) throw taken(path);
  } finally {
    await unlink(aside);
  }
}

const taken = (path: string): Failure =>
  new Failure('conflict', `another program listens at ${path}: stop it, or name another with socket_path`);

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
  const found = await lstat(path).catch(unlessGone);
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new Failure('conflict', `${path} is there and is no socket: remove it, or name another with socket_path`);
  }
  if (await isListening(path)) throw taken(path);
  // Another server may have found the same and be quicker: what is removed is looked at once more under a name that nobody knows.
  const aside = asideOf(path);
  const moved = await rename(path, aside).then(() => true, unlessGone);
  if (!moved) return;
  try {
    if (!(await isListening(aside))) return;
    await link(aside, path).catch(() => {});
    throw taken(path);
  } finally {
    await unlink(aside);
  }
}

/** Another server has removed it meanwhile. */
function unlessGone(error: unknown): undefined {
  if (systemCode(error) !== 'ENOENT') throw error;
}
