// Connects to the Unix sockets of programs by names that are short whatever the directory's length.
import { closeSync, constants, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Longest path of a socket (unix(7)). */
const PATH_BYTES = 107;
/** Programs listen within some tens of milliseconds, on a busy host later. */
const POLL_MS = 3;
const PATIENT_POLL_MS = 50;
const PATIENCE_MS = 1000;

/** @throws Node's error if no program listens */
async function connectIn(directory: string, name: string): Promise<Socket> {
  using held = new DisposableStack();
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  held.defer(() => closeSync(descriptor));
  const path = join(directory, name);
  const socket = connect(Buffer.byteLength(path) <= PATH_BYTES ? path : `/proc/self/fd/${descriptor}/${name}`);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  socket.removeAllListeners('error');
  return socket;
}

/** The same, waiting until a program listens; undefined once `isOver` says that none ever will. */
export async function connectWhenThere(
  directory: string,
  name: string,
  isOver: () => boolean,
): Promise<Socket | undefined> {
  const since = performance.now();
  for (;;) {
    const socket = await connectIn(directory, name).catch(() => undefined);
    if (socket || isOver()) return socket;
    await sleep(performance.now() - since < PATIENCE_MS ? POLL_MS : PATIENT_POLL_MS);
  }
}
