// TCP connections to the loopback address in the network of another process.

import { constants } from 'node:os';
import { CLOEXEC, check, libc, NONBLOCK, resultOrErrno, Slab, SystemError } from './libc.ts';
import { inNetworkOf } from './namespaces.ts';
import { AF_INET } from './socket-address.ts';

const SOCK_STREAM = 1;
const SOCKADDR_BYTES = 16;
const LOOPBACK = 0x7f000001;

let slab: Slab | undefined;

/**
 * A socket that is connecting to a port of the process's 127.0.0.1. A failed connection shows when the socket is read
 * or written.
 * @throws SystemError as {@link inNetworkOf}
 */
export function connectInNetworkOf(process: number, port: number): number {
  slab ??= new Slab(SOCKADDR_BYTES);
  const { bytes, address } = slab;
  bytes.fill(0);
  bytes.writeUInt16LE(AF_INET, 0);
  bytes.writeUInt16BE(port, 2);
  bytes.writeUInt32BE(LOOPBACK, 4);
  return inNetworkOf(process, () => {
    const socket = check('socket', libc().socket(AF_INET, SOCK_STREAM | NONBLOCK | CLOEXEC, 0));
    const result = resultOrErrno(libc().connect(socket, address, SOCKADDR_BYTES));
    if (result === 0 || result === -constants.errno.EINPROGRESS) return socket;
    libc().close(socket);
    throw new SystemError('connect', -result);
  });
}
