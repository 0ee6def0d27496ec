// Clients of the local socket: the kernel reports their user, and some users need no password.

import type { Socket } from 'node:net';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { ownUser } from '../../host/processes/own-user.ts';
import { peerUser } from '../../host/processes/peer-user.ts';

const ROOT = 0;

const users = new WeakMap<object, number>();

/** Notes the user at the other end of a local connection; without one the connection is closed. */
export function notePeer(socket: Socket): void {
  try {
    users.set(socket, peerUser(socket));
  } catch (error) {
    log.warn('a client of the local socket cannot be known', { error: messageOf(error) });
    socket.destroy();
  }
}

/** The user id at the other end; undefined for network connections. */
export function localUser(socket: object | undefined): number | undefined {
  return socket && users.get(socket);
}

/** Root and the server's own user can access all of its data anyway. */
export function needsNoPassword(user: number | undefined): boolean {
  return user !== undefined && (user === ROOT || user === ownUser());
}
