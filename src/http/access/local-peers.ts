// Clients that come by the local socket: the kernel says whose processes they are, so that some need no password.
import type { Socket } from 'node:net';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { peerUser } from '../../host/processes/peer-user.ts';

const ROOT = 0;

const users = new WeakMap<object, number>();

/** Notes whose process is at the other end of a connection of the local socket; one that does not tell is ended. */
export function notePeer(socket: Socket): void {
  try {
    users.set(socket, peerUser((socket as unknown as { _handle: { fd: number } })._handle.fd));
  } catch (error) {
    log.warn('a client of the local socket cannot be known', { error: messageOf(error) });
    socket.destroy();
  }
}

/** The number of the user at the other end; undefined for a connection from the network. */
export function localUser(socket: object | undefined): number | undefined {
  return socket && users.get(socket);
}

/** Root and the server's own user can read and change all that it has anyway. */
export function needsNoPassword(user: number | undefined): boolean {
  return user !== undefined && (user === ROOT || user === process.geteuid!());
}
