// The size of lab that this host allows: each limit in virtual PCs, for comparison.

import { watch } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '../failures.ts';
import { ownUser } from '../host/processes/own-user.ts';
import { commands, missing, ok, type Remedy, type Verdict, warning } from '../host/values/check-result.ts';
import type { Check, Patient } from './check.ts';
import { numberIn, softLimit, textOf } from './kernel-files.ts';

// Resources of one running, connected virtual PC (counted in /proc on a daemon with a lab), and of the daemon.
const PC = { descriptors: 5, threads: 5, watches: 3, bytes: 2.1 * 2 ** 20 };
const DAEMON = { descriptors: 50, threads: 20, watches: 50, bytes: 100 * 2 ** 20 };

/** A usual size: if the host allows fewer PCs, a fix is suggested. */
const USUAL = 200;
/** A lab needs at least this many PCs. */
const FEWEST = 2;

function judged(pcs: number, detail: string, fix: string | Remedy): Verdict {
  if (pcs === Number.POSITIVE_INFINITY) return ok(detail);
  const told = `${detail}: enough for ${pcs <= 0 ? 'no' : `some ${pcs.toLocaleString('en')}`} virtual PCs`;
  if (pcs < FEWEST) return missing(told, fix);
  return pcs < USUAL ? warning(told, fix) : ok(told);
}

/** The virtual PCs for which `amount` is enough. */
function pcsFor(amount: number, resource: keyof typeof PC): number {
  return Math.max(0, Math.floor((amount - DAEMON[resource]) / PC[resource]));
}

function count(amount: number): string {
  return amount === Number.POSITIVE_INFINITY ? 'unlimited' : amount.toLocaleString('en');
}

/** Uses the limits of the running server, if any and visible to this user. */
function limitsOf(daemon: number | undefined): string {
  return (daemon && textOf(`/proc/${daemon}/limits`)) || (textOf('/proc/self/limits') ?? '');
}

function placeOf(daemon: Patient['daemon']): string {
  return daemon && textOf(`/proc/${daemon}/limits`) ? `in the running labwired (pid ${daemon})` : 'here';
}

export const openFiles: Check = {
  subject: 'open files',
  see: 'install#limits',
  examine({ daemon }) {
    const limit = softLimit('Max open files', limitsOf(daemon));
    if (limit === undefined) return undefined;
    return judged(
      pcsFor(limit, 'descriptors'),
      `${count(limit)} per process ${placeOf(daemon)}`,
      'ulimit -Hn 131072 in the shell that starts the server; the systemd unit sets LimitNOFILE by itself',
    );
  },
};

/** The control groups of this process and their parents, as directories that limit its tasks (cgroups(7)). */
export function taskGroups(cgroups: string): string[] {
  return cgroups.split('\n').flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (path === undefined || (controllers !== '' && controllers !== 'pids')) return [];
    const root = controllers === '' ? '/sys/fs/cgroup' : '/sys/fs/cgroup/pids';
    const parts = path.split('/').filter((part) => part !== '');
    return parts.map((_, index) => `${root}/${parts.slice(0, index + 1).join('/')}`);
  });
}

interface TaskLimit {
  name: string;
  limit: number | undefined;
  used: number;
  fix: string | Remedy;
}

function taskLimits(daemon: number | undefined): TaskLimit[] {
  // The fourth word is "runnable/all threads of the system" (proc(5)).
  const threads = Number(textOf('/proc/loadavg')?.split(/[ /]/)[4] ?? 0);
  const limits: TaskLimit[] = taskGroups(textOf(`/proc/${daemon ?? 'self'}/cgroup`) ?? '').map((group) => ({
    name: `pids.max of ${group}`,
    limit: numberIn(`${group}/pids.max`),
    used: numberIn(`${group}/pids.current`) ?? 0,
    fix: 'raise TasksMax of this session or container; the systemd unit sets it by itself',
  }));
  for (const [name, plenty] of [
    ['pid_max', 4_194_304],
    ['threads-max', 200_000],
  ] as const) {
    const limit = numberIn(`/proc/sys/kernel/${name}`);
    limits.push({ name: `kernel.${name}`, limit, used: threads, fix: commands(`sysctl -w kernel.${name}=${plenty}`) });
  }
  // Root is not held to it (setrlimit(2), RLIMIT_NPROC).
  if (ownUser() === 0) return limits;
  return [
    ...limits,
    { name: 'ulimit -u', limit: softLimit('Max processes', limitsOf(daemon)), used: 0, fix: 'ulimit -u 65536' },
  ];
}

export const processes: Check = {
  subject: 'processes',
  see: 'install#limits',
  examine({ daemon }) {
    const rooms = taskLimits(daemon).flatMap(({ limit, used, name, fix }) =>
      limit === undefined ? [] : { room: limit - used, name, fix },
    );
    const [least] = rooms.sort((one, other) => one.room - other.room);
    if (least === undefined) return undefined;
    const { room, name, fix } = least;
    return judged(pcsFor(room, 'threads'), `room for ${count(room)} threads (${name})`, fix);
  },
};

export const terminals: Check = {
  subject: 'pseudo-terminals',
  see: 'install#limits',
  examine() {
    const [max, used] = [numberIn('/proc/sys/kernel/pty/max'), numberIn('/proc/sys/kernel/pty/nr')];
    if (max === undefined || used === undefined) return undefined;
    return judged(max - used, `${count(max - used)} of ${count(max)} free`, commands('sysctl -w kernel.pty.max=16384'));
  },
};

/** The error of watching a directory now, if any: the only way to learn how many watches are left. */
async function watchError(): Promise<unknown> {
  try {
    const watcher = watch('/');
    const failed = new Promise<unknown>((resolve) => watcher.once('error', resolve));
    const error = await Promise.race([failed, sleep(20)]);
    watcher.close();
    return error;
  } catch (thrown) {
    return thrown;
  }
}

export const fileWatches: Check = {
  subject: 'file watches',
  see: 'install#limits',
  async examine() {
    const [watches, instances] = ['watches', 'instances'].map((what) =>
      numberIn(`/proc/sys/fs/inotify/max_user_${what}`),
    );
    if (watches === undefined || instances === undefined) return undefined;
    const raise = commands('sysctl -w fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=1024');
    const error = await watchError();
    if (error !== undefined) {
      return warning(`none left (${systemCode(error)}): changes of files in labs go unnoticed`, raise);
    }
    return judged(pcsFor(watches, 'watches'), `${count(watches)} (${count(instances)} instances)`, raise);
  },
};

export const memory: Check = {
  subject: 'memory',
  see: 'install#limits',
  examine() {
    const available = process.availableMemory();
    const detail = `${count(Math.round(available / 2 ** 20))} MiB available`;
    return judged(pcsFor(available, 'bytes'), detail, 'end programs that are not needed, or give this host more');
  },
};
