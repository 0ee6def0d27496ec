// Requests to the kernel about interfaces and addresses (rtnetlink(7)).

import { write } from 'node:fs';
import { constants } from 'node:os';
import { promisify } from 'node:util';
import { CLOEXEC, check, libc, MSG_DONTWAIT, Slab, SOCK_RAW, SystemError } from './libc.ts';

const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
const NLMSG_ERROR = 2;
const NLMSG_DONE = 3;
/** Size of struct nlmsghdr: length, type, flags, sequence, port. */
export const NETLINK_HEADER_BYTES = 16;

const SOCKADDR_BYTES = 16;
const REQUEST_BYTES = 1 << 12;
/** The kernel sends at most 32 KiB at a time. */
const ANSWER_BYTES = 1 << 16;

let slab: Slab | undefined;

/**
 * Sends a request, a whole message with its header, and returns the messages of the answer, each with its header.
 * @param name the request's name in errors
 * @throws SystemError such as `EPERM`, `ENODEV`, `EEXIST`
 */
export function netlinkRequest(name: string, request: Buffer): Buffer[] {
  slab ??= new Slab(SOCKADDR_BYTES + REQUEST_BYTES + ANSWER_BYTES);
  const { bytes, address } = slab;
  bytes.fill(0, 0, SOCKADDR_BYTES).writeUInt16LE(AF_NETLINK, 0);
  if (request.length > REQUEST_BYTES) throw new SystemError(name, constants.errno.EMSGSIZE);
  request.copy(bytes, SOCKADDR_BYTES);
  const socket = openSocket();
  try {
    check('sendto', libc().sendto(socket, address + SOCKADDR_BYTES, request.length, 0, address, 12));
    const messages: Buffer[] = [];
    const answers = SOCKADDR_BYTES + REQUEST_BYTES;
    for (;;) {
      const length = check('recv', libc().recv(socket, address + answers, ANSWER_BYTES, MSG_DONTWAIT));
      // A copy, because the messages outlive the slab's next use.
      const received = Buffer.from(bytes.subarray(answers, answers + length));
      for (let at = 0; at + NETLINK_HEADER_BYTES <= length; ) {
        const size = received.readUInt32LE(at);
        const type = received.readUInt16LE(at + 4);
        if (type === NLMSG_DONE) return messages;
        if (type === NLMSG_ERROR) {
          const errno = -received.readInt32LE(at + NETLINK_HEADER_BYTES);
          if (errno !== 0) throw new SystemError(name, errno);
          return messages;
        }
        messages.push(received.subarray(at, at + size));
        at += (size + 3) & ~3;
      }
    }
  } finally {
    libc().close(socket);
  }
}

/**
 * Has another thread send requests that take the kernel long, to the network namespace in which this is called. Resolves
 * when the kernel has carried them out in this order, whatever failed.
 * @param requests whole messages with their headers
 * @throws SystemError when they cannot be sent
 */
export async function netlinkRequestsElsewhere(requests: readonly Buffer[]): Promise<void> {
  const socket = openSocket();
  try {
    // The other thread may be started by this call; it must not be in the namespace, which it would keep for ever.
    await undefined;
    // What is written to the socket goes to the kernel, which is done with it when the call returns.
    await promisify(write)(socket, Buffer.concat(requests));
  } finally {
    libc().close(socket);
  }
}

function openSocket(): number {
  return check('socket', libc().socket(AF_NETLINK, SOCK_RAW | CLOEXEC, NETLINK_ROUTE));
}
