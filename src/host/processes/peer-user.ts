// Finds the user at the other end of a Unix socket, which Node does not expose.

import type { Socket } from 'node:net';
import { loadKoffi } from '../system-calls/koffi.ts';
import { SystemError } from '../system-calls.ts';

// Values of <asm-generic/socket.h>: the same on x86-64 and arm64.
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
/** struct ucred: process, user and group, 32 bits each (unix(7)). */
const CREDENTIALS = { words: 3, user: 1 };

function declare() {
  const koffi = loadKoffi();
  const getsockopt = koffi.load('libc.so.6').func('int getsockopt(int, int, int, void *, void *)');
  return { getsockopt, errno: () => koffi.errno() };
}

let declared: ReturnType<typeof declare> | undefined;

/** The effective user at the other end of a connected Unix socket. @throws SystemError */
export function peerUser(socket: Socket): number {
  const { fd } = (socket as unknown as { _handle: { fd: number } })._handle;
  declared ??= declare();
  const credentials = new Uint32Array(CREDENTIALS.words);
  const length = new Uint32Array([credentials.byteLength]);
  if (declared.getsockopt(fd, SOL_SOCKET, SO_PEERCRED, credentials, length) < 0) {
    throw new SystemError('getsockopt', declared.errno());
  }
  return credentials[CREDENTIALS.user]!;
}
