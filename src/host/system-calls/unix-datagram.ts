// Datagrams to Unix sockets.

import { constants } from 'node:os';
import { CLOEXEC, check, libc, MSG_DONTWAIT, MSG_NOSIGNAL, Slab, SOCK_DGRAM, SystemError } from './libc.ts';

const AF_UNIX = 1;
const SOCKADDR_BYTES = 128;
const SLAB_BYTES = 1 << 20;

let slab: Slab | undefined;

/**
 * Sends one datagram to a Unix socket (`@name` is the abstract address) without blocking.
 * @throws SystemError such as `ECONNREFUSED`, `ENOENT`, `EAGAIN` when the receiver's queue is full
 */
export function sendUnixDatagram(path: string, data: Buffer): void {
  const name = Buffer.from(path.replace(/^@/, '\0'));
  if (name.length > 107) throw new SystemError('sendto', constants.errno.ENAMETOOLONG);
  slab ??= new Slab(SLAB_BYTES);
  const { bytes, address } = slab;
  if (data.length > bytes.length - SOCKADDR_BYTES) throw new SystemError('sendto', constants.errno.EMSGSIZE);
  bytes.writeUInt16LE(AF_UNIX, 0);
  // A path ends with a zero byte, an abstract name with its length.
  bytes[2 + name.copy(bytes, 2)] = 0;
  const nameBytes = 2 + name.length + (name[0] === 0 ? 0 : 1);
  data.copy(bytes, SOCKADDR_BYTES);
  const socket = check('socket', libc().socket(AF_UNIX, SOCK_DGRAM | CLOEXEC, 0));
  try {
    const flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    check('sendto', libc().sendto(socket, address + SOCKADDR_BYTES, data.length, flags, address, nameBytes));
  } finally {
    libc().close(socket);
  }
}
