// Pseudo-terminals, programs on them, and how those end: calls of the C library that Node does not offer. A program is started by
// posix_spawn(3), which shares the caller's memory until the program runs: it costs the same however large the caller is.

import { constants as files, openSync } from 'node:fs';
import { constants } from 'node:os';
import { loadKoffi } from './koffi.ts';
import { SystemError } from './system-calls.ts';
import { withTimerSlack } from './timer-slack.ts';

// Values of <asm-generic/ioctls.h>, <spawn.h>, <sys/wait.h>, <sys/socket.h>: the same on x86-64 and arm64.
const TIOCSWINSZ = 0x5414;
const TIOCGPTN = 0x80045430;
const TIOCSPTLCK = 0x40045431;
const SPAWN_SETSIGDEF = 0x04;
const SPAWN_SETSIGMASK = 0x08;
const SPAWN_SETSID = 0x80;
const WNOHANG = 1;
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;

/** Larger than the structures of glibc: posix_spawnattr_t has 336 bytes, posix_spawn_file_actions_t 80, sigset_t 128. */
const ATTRIBUTES_BYTES = 512;
const ACTIONS_BYTES = 128;
const SIGNALS_BYTES = 128;

function declare() {
  const koffi = loadKoffi();
  const libc = koffi.load('libc.so.6');
  return {
    errno: () => koffi.errno(),
    ioctl: libc.func('int ioctl(int, unsigned long, void *)'),
    initActions: libc.func('int posix_spawn_file_actions_init(void *)'),
    destroyActions: libc.func('int posix_spawn_file_actions_destroy(void *)'),
    addDirectory: libc.func('int posix_spawn_file_actions_addchdir_np(void *, const char *)'),
    addOpen: libc.func('int posix_spawn_file_actions_addopen(void *, int, const char *, int, unsigned int)'),
    addCopy: libc.func('int posix_spawn_file_actions_adddup2(void *, int, int)'),
    addCloseFrom: libc.func('int posix_spawn_file_actions_addclosefrom_np(void *, int)'),
    initAttributes: libc.func('int posix_spawnattr_init(void *)'),
    destroyAttributes: libc.func('int posix_spawnattr_destroy(void *)'),
    setFlags: libc.func('int posix_spawnattr_setflags(void *, short)'),
    setDefaultSignals: libc.func('int posix_spawnattr_setsigdefault(void *, void *)'),
    setSignalMask: libc.func('int posix_spawnattr_setsigmask(void *, void *)'),
    spawn: libc.func('int posix_spawn(void *, const char *, void *, void *, const char **, const char **)'),
    waitpid: libc.func('int waitpid(int, void *, int)'),
    getsockopt: libc.func('int getsockopt(int, int, int, void *, void *)'),
  };
}

let declared: ReturnType<typeof declare> | undefined;

/** The declarations, made at the first use. */
function libc(): ReturnType<typeof declare> {
  declared ??= declare();
  return declared;
}

function check(call: string, result: number): void {
  if (result < 0) throw new SystemError(call, libc().errno());
}

/** For the calls that answer the errno itself. */
function checkErrno(call: string, errno: number): void {
  if (errno !== 0) throw new SystemError(call, errno);
}

export interface PseudoTerminal {
  /** The master's end: non-blocking, and not inherited by programs. */
  descriptor: number;
  /** Path of the program's end. */
  device: string;
}

/** @throws SystemError, or Node's own error of opening /dev/ptmx */
export function openPseudoTerminal(columns: number, rows: number): PseudoTerminal {
  const descriptor = openSync('/dev/ptmx', files.O_RDWR | files.O_NOCTTY | files.O_NONBLOCK);
  check('unlockpt', libc().ioctl(descriptor, TIOCSPTLCK, new Int32Array(1)));
  const number = new Uint32Array(1);
  check('ptsname', libc().ioctl(descriptor, TIOCGPTN, number));
  setWindowSize(descriptor, columns, rows);
  return { descriptor, device: `/dev/pts/${number[0]}` };
}

/** In characters; the program gets SIGWINCH. */
export function setWindowSize(descriptor: number, columns: number, rows: number): void {
  check('ioctl', libc().ioctl(descriptor, TIOCSWINSZ, new Uint16Array([rows, columns, 0, 0])));
}

export interface ProgramOnTerminal {
  /** Absolute path. */
  program: string;
  arguments: readonly string[];
  directory: string;
  /** Its whole environment. */
  environment: Readonly<Record<string, string>>;
  /** How late it may be woken from sleeps and time-outs; 0 leaves the host's precision. */
  timerSlackMilliseconds: number;
}

/**
 * Starts a program with a session of its own, whose terminal `device` is. It has no other descriptor than that, and signals are to it
 * as to a program that was just started. Gives its process id.
 * @throws SystemError when it cannot be started (`ENOENT`, `EACCES`, `EAGAIN` ...)
 */
export function spawnOnTerminal(device: string, options: ProgramOnTerminal): number {
  const { program, directory, environment, timerSlackMilliseconds } = options;
  const c = libc();
  const actions = Buffer.alloc(ACTIONS_BYTES);
  const attributes = Buffer.alloc(ATTRIBUTES_BYTES);
  const pid = new Int32Array(1);
  using undo = new DisposableStack();
  checkErrno('posix_spawn_file_actions_init', c.initActions(actions));
  undo.defer(() => void c.destroyActions(actions));
  checkErrno('posix_spawnattr_init', c.initAttributes(attributes));
  undo.defer(() => void c.destroyAttributes(attributes));
  checkErrno('chdir', c.addDirectory(actions, directory));
  // The first terminal that the leader of a new session opens becomes the session's.
  checkErrno('open', c.addOpen(actions, 0, device, files.O_RDWR, 0));
  checkErrno('dup2', c.addCopy(actions, 0, 1));
  checkErrno('dup2', c.addCopy(actions, 0, 2));
  checkErrno('closefrom', c.addCloseFrom(actions, 3));
  checkErrno('posix_spawnattr_setflags', c.setFlags(attributes, SPAWN_SETSID | SPAWN_SETSIGDEF | SPAWN_SETSIGMASK));
  checkErrno('posix_spawnattr_setsigdefault', c.setDefaultSignals(attributes, Buffer.alloc(SIGNALS_BYTES, 0xff)));
  checkErrno('posix_spawnattr_setsigmask', c.setSignalMask(attributes, Buffer.alloc(SIGNALS_BYTES)));
  const words = [program, ...options.arguments, null];
  const variables = [...Object.entries(environment).map(([name, value]) => `${name}=${value}`), null];
  const errno = withTimerSlack(timerSlackMilliseconds, () =>
    c.spawn(pid, program, actions, attributes, words, variables),
  );
  checkErrno('posix_spawn', errno);
  return pid[0]!;
}

export interface ChildExit {
  pid: number;
  /** Exit code; 0 when a signal ended the program. */
  code: number;
  /** Name of the signal that ended it, such as `SIGKILL`. */
  signal: string | undefined;
}

/** The next child of this process that has ended and was not told yet. */
export function nextExit(): ChildExit | undefined {
  const status = new Int32Array(1);
  const pid = libc().waitpid(-1, status, WNOHANG) as number;
  if (pid <= 0) return undefined;
  const number = status[0]! & 0x7f;
  const signal = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return { pid, code: (status[0]! >> 8) & 0xff, signal };
}

/** Whose process is at the other end of a Unix socket: its effective user. */
export function peerUser(descriptor: number): number {
  const credentials = new Uint32Array(3);
  check('getsockopt', libc().getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, credentials, new Uint32Array([12])));
  return credentials[1]!;
}
