// Starts programs with or without a terminal and reports their ends, by calls of the C library that neither Node nor
// node-pty offers. A program is started by posix_spawn(3), which shares the caller's memory until the program runs: its
// cost does not depend on the caller's size. node-pty's own `spawn` forks the caller, and keeps a thread for each
// program, whose stack each later fork has to copy.

import { closeSync, constants as files } from 'node:fs';
import { constants } from 'node:os';
import { loadKoffi } from '../system-calls/koffi.ts';
import { inNetworkOfAny, makeProgramTap, SystemError } from '../system-calls.ts';
import { withTimerSlack } from './timer-slack.ts';

// Values of <spawn.h> and <sys/wait.h>: the same on x86-64 and arm64.
const SPAWN_SETSIGDEF = 0x04;
const SPAWN_SETSIGMASK = 0x08;
const SPAWN_SETSID = 0x80;
const WNOHANG = 1;

/** A log that is not a regular file must not block the caller. */
const LOG_FLAGS = files.O_WRONLY | files.O_CREAT | files.O_APPEND | files.O_NOFOLLOW | files.O_NONBLOCK;
const LOG_MODE = 0o600;

/** Larger than the structures of glibc: posix_spawnattr_t has 336 bytes, posix_spawn_file_actions_t 80, sigset_t 128. */
const ATTRIBUTES_BYTES = 512;
const ACTIONS_BYTES = 128;
const SIGNALS_BYTES = 128;

/** The first descriptor after the streams. */
const FIRST_TAP = 3;

function declare() {
  const libc = loadKoffi().load('libc.so.6');
  return {
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
  };
}

let declared: ReturnType<typeof declare> | undefined;

/** The declarations, created at the first use. */
function libc(): ReturnType<typeof declare> {
  declared ??= declare();
  return declared;
}

/** These calls return the errno. */
function check(call: string, errno: number): void {
  if (errno !== 0) throw new SystemError(call, errno);
}

/** A program's input and output: a terminal, or no input and a file that output is appended to. */
export type ProgramStreams = { terminal: string } | { log: string };

export interface SpawnOptions {
  /** Absolute path. */
  program: string;
  arguments: readonly string[];
  directory: string;
  /** Its whole environment. */
  environment: Readonly<Record<string, string>>;
  /** How late the kernel may wake it from sleeps and time-outs; 0 keeps the host's precision. */
  timerSlackMilliseconds: number;
  /** Names of TAPs to create for it: its descriptors from 3 on, in this order. They disappear when it closes them. */
  taps?: readonly string[];
  /** Id of the process in whose network namespace they are created. Default: this one's. */
  tapNetwork?: number;
}

/**
 * Starts a program in a new session. It gets only the descriptors of its streams and TAPs, and default signal handling.
 * Returns its process id.
 * @throws SystemError when it cannot be started (`ENOENT`, `EACCES`, `EAGAIN` ...)
 */
export function spawnProgram(streams: ProgramStreams, options: SpawnOptions): number {
  const { program, directory, environment, timerSlackMilliseconds, taps = [], tapNetwork } = options;
  const c = libc();
  const actions = Buffer.alloc(ACTIONS_BYTES);
  const attributes = Buffer.alloc(ATTRIBUTES_BYTES);
  const pid = new Int32Array(1);
  using undo = new DisposableStack();
  check('posix_spawn_file_actions_init', c.initActions(actions));
  undo.defer(() => void c.destroyActions(actions));
  check('posix_spawnattr_init', c.initAttributes(attributes));
  undo.defer(() => void c.destroyAttributes(attributes));
  check('chdir', c.addDirectory(actions, directory));
  if ('terminal' in streams) {
    // The first terminal that the leader of a new session opens becomes the session's.
    check('open', c.addOpen(actions, 0, streams.terminal, files.O_RDWR, 0));
    check('dup2', c.addCopy(actions, 0, 1));
  } else {
    check('open', c.addOpen(actions, 0, '/dev/null', files.O_RDONLY, 0));
    check('open', c.addOpen(actions, 1, streams.log, LOG_FLAGS, LOG_MODE));
  }
  check('dup2', c.addCopy(actions, 1, 2));
  const firstFree = FIRST_TAP + taps.length;
  for (const [index, name] of taps.entries()) {
    // No descriptor has the final number of another one.
    const tap = inNetworkOfAny(tapNetwork, () => makeProgramTap(name, firstFree));
    undo.defer(() => closeSync(tap));
    check('dup2', c.addCopy(actions, tap, FIRST_TAP + index));
  }
  check('closefrom', c.addCloseFrom(actions, firstFree));
  check('posix_spawnattr_setflags', c.setFlags(attributes, SPAWN_SETSID | SPAWN_SETSIGDEF | SPAWN_SETSIGMASK));
  check('posix_spawnattr_setsigdefault', c.setDefaultSignals(attributes, Buffer.alloc(SIGNALS_BYTES, 0xff)));
  check('posix_spawnattr_setsigmask', c.setSignalMask(attributes, Buffer.alloc(SIGNALS_BYTES)));
  const words = [program, ...options.arguments, null];
  const variables = [...Object.entries(environment).map(([name, value]) => `${name}=${value}`), null];
  const errno = withTimerSlack(timerSlackMilliseconds, () =>
    c.spawn(pid, program, actions, attributes, words, variables),
  );
  check('posix_spawn', errno);
  return pid[0]!;
}

export interface ChildExit {
  pid: number;
  /** Exit code; 0 if it was ended by a signal. */
  code: number;
  /** Name of the signal that ended it, such as `SIGKILL`. */
  signal: string | undefined;
}

/** The next ended child of this process that was not reported yet. */
export function nextExit(): ChildExit | undefined {
  const status = new Int32Array(1);
  const pid = libc().waitpid(-1, status, WNOHANG) as number;
  if (pid <= 0) return undefined;
  const number = status[0]! & 0x7f;
  const signal = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return { pid, code: (status[0]! >> 8) & 0xff, signal };
}
