// The C library's functions, their memory and their errors. Raw pointers stay in this folder: every address passed to
// the kernel lies in a slab, which is allocated once, outside V8's heap, and never moves.

import { getSystemErrorMessage, getSystemErrorName } from 'node:util';
import { loadKoffi } from './koffi.ts';

/** A system call that failed: `code` is the errno's name (`EADDRINUSE`), `call` the function's. */
export class SystemError extends Error {
  readonly code: string;
  readonly errno: number;
  readonly call: string;

  constructor(call: string, errno: number) {
    super(`${call}: ${describe(errno)} (${nameOf(errno)})`);
    this.name = 'SystemError';
    this.code = nameOf(errno);
    this.errno = errno;
    this.call = call;
  }
}

/** The errno of a TAP whose interface is gone; libuv has no name for it. */
export const EBADFD = 77;

function nameOf(errno: number): string {
  return errno === EBADFD ? 'EBADFD' : getSystemErrorName(-errno);
}

function describe(errno: number): string {
  return errno === EBADFD ? 'file descriptor in bad state' : getSystemErrorMessage(-errno);
}

/** Values of <sys/socket.h>, <fcntl.h>: the same on x86-64 and arm64. */
export const SOCK_DGRAM = 2;
export const SOCK_RAW = 3;
export const NONBLOCK = 0o4000;
export const CLOEXEC = 0o2000000;
export const MSG_DONTWAIT = 0x40;
export const MSG_NOSIGNAL = 0x4000;
export const SOL_SOCKET = 1;
const SO_SNDBUF = 7;
const SO_RCVBUF = 8;
const SO_SNDBUFFORCE = 32;
const SO_RCVBUFFORCE = 33;

type Call = (...values: (number | string)[]) => number;

function declare() {
  const koffi = loadKoffi();
  const libc = koffi.load('libc.so.6');
  const call = (name: string, result: string, ...values: string[]): Call => libc.func(name, result, values);
  return {
    errno: (): number => koffi.errno(),
    addressOf: (slab: Buffer): number => Number(koffi.address(slab)),
    socket: call('socket', 'int', 'int', 'int', 'int'),
    bind: call('bind', 'int', 'int', 'uintptr_t', 'uint32_t'),
    connect: call('connect', 'int', 'int', 'uintptr_t', 'uint32_t'),
    getsockname: call('getsockname', 'int', 'int', 'uintptr_t', 'uintptr_t'),
    setsockopt: call('setsockopt', 'int', 'int', 'int', 'int', 'uintptr_t', 'uint32_t'),
    getsockopt: call('getsockopt', 'int', 'int', 'int', 'int', 'uintptr_t', 'uintptr_t'),
    sendto: call('sendto', 'int64_t', 'int', 'uintptr_t', 'size_t', 'int', 'uintptr_t', 'uint32_t'),
    recv: call('recv', 'int64_t', 'int', 'uintptr_t', 'size_t', 'int'),
    recvmmsg: call('recvmmsg', 'int', 'int', 'uintptr_t', 'uint32_t', 'int', 'uintptr_t'),
    sendmmsg: call('sendmmsg', 'int', 'int', 'uintptr_t', 'uint32_t', 'int'),
    open: call('open', 'int', 'str', 'int'),
    ioctl: call('ioctl', 'int', 'int', 'uint64_t', 'uintptr_t'),
    read: call('read', 'int64_t', 'int', 'uintptr_t', 'size_t'),
    readv: call('readv', 'int64_t', 'int', 'uintptr_t', 'int'),
    writev: call('writev', 'int64_t', 'int', 'uintptr_t', 'int'),
    close: call('close', 'int', 'int'),
    fcntl: call('fcntl', 'int', 'int', 'int', 'int'),
    setns: call('setns', 'int', 'int', 'int'),
    unshare: call('unshare', 'int', 'int'),
    eventfd: call('eventfd', 'int', 'uint32_t', 'int'),
    epoll_create1: call('epoll_create1', 'int', 'int'),
    epoll_ctl: call('epoll_ctl', 'int', 'int', 'int', 'int', 'uintptr_t'),
    epoll_wait: call('epoll_wait', 'int', 'int', 'uintptr_t', 'int', 'int'),
    epoll_pwait2: call('syscall', 'int64_t', 'int64_t', 'int', 'uintptr_t', 'int', 'uintptr_t', 'uintptr_t', 'size_t'),
    bpf: call('syscall', 'int64_t', 'int64_t', 'int', 'uintptr_t', 'uint32_t'),
    inet_pton: call('inet_pton', 'int', 'int', 'str', 'uintptr_t'),
    if_nametoindex: call('if_nametoindex', 'uint32_t', 'str'),
    malloc_trim: call('malloc_trim', 'int', 'size_t'),
    fcntlAt: call('fcntl', 'int', 'int', 'int', 'uintptr_t'),
    flock: call('flock', 'int', 'int', 'int'),
    tcgetattr: call('tcgetattr', 'int', 'int', 'uintptr_t'),
    tcsetattr: call('tcsetattr', 'int', 'int', 'int', 'uintptr_t'),
    cfmakeraw: call('cfmakeraw', 'void', 'uintptr_t'),
    clock_gettime: call('clock_gettime', 'int', 'int', 'uintptr_t'),
  };
}

export type Libc = ReturnType<typeof declare>;
let declared: Libc | undefined;

/** Returns unused pages of the process's native memory to the system; the C library would keep them. */
export function trimAllocator(): void {
  libc().malloc_trim(0);
}

/** The declarations of this thread, created at the first use. */
export function libc(): Libc {
  declared ??= declare();
  return declared;
}

/** A zeroed block of memory outside V8's heap, with its address. Only touched pages take memory. */
export class Slab {
  readonly bytes: Buffer;
  readonly address: number;
  /** The same memory in words of 32 bits. */
  readonly words: Uint32Array;
  #used = 0;

  constructor(size: number) {
    this.bytes = Buffer.alloc(size);
    this.address = libc().addressOf(this.bytes);
    this.words = new Uint32Array(this.bytes.buffer, this.bytes.byteOffset, size >> 2);
  }

  /** Offset of an unused piece of the slab, aligned for every structure. */
  carve(size: number): number {
    const offset = this.#used;
    this.#used += (size + 15) & ~15;
    if (this.#used > this.bytes.length) throw new RangeError('slab exhausted');
    return offset;
  }

  writePointer(offset: number, address: number): void {
    this.bytes.writeBigUInt64LE(BigInt(address), offset);
  }
}

/** The result; throws SystemError if it is negative. */
export function check(name: string, result: number): number {
  if (result < 0) throw new SystemError(name, libc().errno());
  return result;
}

/** The result, or the negative errno if it is negative: for calls that often fail. */
export function resultOrErrno(result: number): number {
  return result < 0 ? -libc().errno() : result;
}

/** Sets a socket option whose value is an int. `scratch` is the offset of a free word of the slab. */
export function setOption(
  socket: number,
  level: number,
  option: number,
  value: number,
  slab: Slab,
  scratch: number,
): void {
  slab.words[scratch >> 2] = value;
  check('setsockopt', libc().setsockopt(socket, level, option, slab.address + scratch, 4));
}

/**
 * Requests buffers of so many bytes in both directions. With CAP_NET_ADMIN they get that size, otherwise at most
 * net.core.rmem_max and wmem_max. `scratch` is the offset of a free word of the slab.
 */
export function setBuffers(socket: number, bytes: number, slab: Slab, scratch: number): void {
  slab.words[scratch >> 2] = bytes;
  for (const [forced, asked] of [
    [SO_SNDBUFFORCE, SO_SNDBUF],
    [SO_RCVBUFFORCE, SO_RCVBUF],
  ] as const) {
    const forbidden = libc().setsockopt(socket, SOL_SOCKET, forced, slab.address + scratch, 4) < 0;
    if (forbidden) setOption(socket, SOL_SOCKET, asked, bytes, slab, scratch);
  }
}
