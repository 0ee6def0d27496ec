// The server's socket in the file system: one server per path; a stale socket is replaced.
import { randomUUID } from 'node:crypto';
import { lstatSync, unlinkSync } from 'node:fs';
import { chmod, link, lstat, rename, unlink } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { conflict, Failure, messageOf, systemCode } from '../../failures.ts';

/** Longest path of a socket (unix(7)). */
const PATH_BYTES = 107;
const PROBE_MS = 2_000;
/** For its owner and root only. */
const MODE = 0o600;

/** Tries to connect: undefined on success, otherwise the system's error code. */
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

/** Whether this user can connect to a program listening at this socket. */
export async function isReachable(path: string): Promise<boolean> {
  return (await probe(path)) === undefined;
}

/** Whether a program listens at this socket. If it does not answer in time, or access is denied, assume so. */
async function isListening(path: string): Promise<boolean> {
  const code = await probe(path);
  return code !== 'ECONNREFUSED' && code !== 'ENOENT';
}

/**
 * Listens at this path; the socket is removed with the server.
 * @throws Failure `conflict` if another program listens there, the path is no socket, or it cannot be used
 */
export async function listenAt(server: Server, path: string): Promise<void> {
  // The socket gets its name only when it listens with the right mode, so a second server never takes it for a stale one.
  const aside = asideOf(path);
  if (Math.max(Buffer.byteLength(path), Buffer.byteLength(aside)) > PATH_BYTES) {
    throw conflict(
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
    throw conflict(`${path} cannot be used (${messageOf(error)}): name another with socket_path`);
  }
}

/** A unique name in the same directory. */
const asideOf = (path: string): string => join(dirname(path), `.${randomUUID().slice(0, 8)}`);

/** Renames the socket to its path and replaces a stale one. */
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
  conflict(`another program listens at ${path}: stop it, or name another with socket_path`);

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

async function removeStale(path: string): Promise<void> {
  const found = await lstat(path).catch(unlessGone);
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw conflict(`${path} is there and is no socket: remove it, or name another with socket_path`);
  }
  if (await isListening(path)) throw taken(path);
  // Another server may replace it at the same moment, so it is checked again under a unique name.
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
