// Checks the directories and files that the server writes.

import { constants, type Stats } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf, systemCode } from '../failures.ts';
import { isBelow } from '../host/files/relative-path.ts';
import { ownUser } from '../host/processes/own-user.ts';
import { quoted } from '../host/terminal/shell-word.ts';
import { commands, missing, ok, type Remedy, type Verdict, warning } from '../host/values/check-result.ts';
import type { Check, Patient } from './check.ts';
import { textOf } from './kernel-files.ts';

const MIB = 2 ** 20;
/** With less free space captures and images will soon fail. */
const LITTLE_SPACE_BYTES = 1024 * MIB;
/** With less free space not even the database can grow. */
const NO_SPACE_BYTES = 16 * MIB;
const FOR_OTHERS = 0o007;

/** File systems on which locks and shared memory cannot be relied on (statfs(2)): SQLite's write-ahead log needs both. */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'SMB'],
  [0x01021997, '9P'],
]);

export function userName(uid: number): string {
  const line = textOf('/etc/passwd')
    ?.split('\n')
    .find((entry) => entry.split(':')[2] === String(uid));
  return line?.split(':')[0] ?? `user ${uid}`;
}

interface Place {
  path: string;
  status: Stats;
}

/** The directory, or its nearest accessible parent. */
async function nearest(directory: string): Promise<Place> {
  for (let path = directory; ; path = dirname(path)) {
    try {
      return { path, status: await stat(path) };
    } catch (thrown) {
      if (!['ENOENT', 'EACCES'].includes(systemCode(thrown) ?? '') || path === dirname(path)) throw thrown;
    }
  }
}

const REASONS: Record<string, string> = {
  EACCES: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of its path is a file',
};

function reasonOf(thrown: unknown): string {
  return REASONS[systemCode(thrown) ?? ''] ?? messageOf(thrown);
}

/** Fixes for the owner of the place, besides choosing another one. */
function remedy(directory: string, { status }: Place): Remedy {
  const [owner, own] = [userName(status.uid), userName(ownUser())];
  if (status.uid !== 0 && owner !== own)
    return { words: `run labwired as ${owner}: sudo -u ${owner} labwired`, commands: [] };
  const give = `install -d -o ${own} ${quoted(directory)}`;
  return { words: `let root give it to ${own}: ${give}`, commands: [give] };
}

/** Whether the directory can be used, or made, by this user: nothing is tried, only asked. */
async function usable(directory: string, key: string): Promise<Verdict> {
  const another = `choose another with ${key}`;
  let place: Place;
  try {
    place = await nearest(directory);
  } catch (thrown) {
    return missing(`${directory}: ${reasonOf(thrown)}`, another);
  }
  if (!place.status.isDirectory()) return missing(`${directory}: a part of its path is a file`, another);
  try {
    await access(place.path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (thrown) {
    const { words, commands } = remedy(directory, place);
    return missing(`${directory}: ${reasonOf(thrown)}`, { words: `${another}, or ${words}`, commands });
  }
  if (place.path !== directory) return ok(`${directory}, made when it is needed`);
  const mode = (place.status.mode & 0o7777).toString(8).padStart(4, '0');
  return ok(`${directory}, owner ${userName(place.status.uid)}, mode ${mode}`);
}

async function spaceAt(directory: string): Promise<{ free: number; type: number }> {
  const { bavail, bsize, type } = await statfs((await nearest(directory)).path);
  return { free: bavail * bsize, type };
}

async function examineState({ loaded: { config }, daemon }: Patient): Promise<Verdict> {
  const { state } = config;
  const verdict = await usable(state, '--state');
  if (verdict.state !== 'ok') return verdict;
  const { free, type } = await spaceAt(state);
  const holder = daemon === undefined ? '' : `, in use by the running labwired (pid ${daemon})`;
  const detail = `${verdict.detail}, ${Math.round(free / MIB).toLocaleString('en')} MiB free${holder}`;
  if (free < NO_SPACE_BYTES) return missing(detail, 'free some space: nothing can be saved');
  const network = NETWORK_FILE_SYSTEMS.get(type);
  if (network !== undefined) {
    return warning(
      `${detail}; on ${network}, where locks and shared memory of the database cannot be relied on`,
      'choose a directory on a local disk with --state; projects_path may stay on the network',
    );
  }
  if (free < LITTLE_SPACE_BYTES) return warning(detail, 'free some space: captures and disks of nodes grow');
  const mode = (await stat(state).catch(() => undefined))?.mode ?? 0;
  if ((mode & FOR_OTHERS) !== 0) {
    return warning(`${detail}; every user of this host can look into it`, commands(`chmod o-rwx ${quoted(state)}`));
  }
  return ok(detail);
}

export const stateDirectory: Check = { subject: 'state directory', see: 'install#directories', examine: examineState };

/** Whether both are on one file system. */
async function isOnDiskOf(one: string, other: string): Promise<boolean> {
  return (await nearest(one)).status.dev === (await nearest(other)).status.dev;
}

function directory(name: 'projects' | 'images' | 'symbols' | 'configs'): Check {
  const key = `${name}_path` as const;
  return {
    subject: `${name} directory`,
    see: 'install#directories',
    async examine({ loaded: { config } }) {
      const path = config.Server[key];
      // One line for the state directory says it all.
      if (isBelow(config.state, path) && (await usable(config.state, '--state')).state !== 'ok') return undefined;
      const verdict = await usable(path, `${key} in [Server]`);
      if (verdict.state !== 'ok' || (await isOnDiskOf(config.state, path))) return verdict;
      const { free } = await spaceAt(path);
      const detail = `${verdict.detail}, ${Math.round(free / MIB).toLocaleString('en')} MiB free`;
      return free < LITTLE_SPACE_BYTES
        ? warning(detail, 'free some space: what labs need there cannot be written')
        : ok(detail);
    },
  };
}

export const directories: readonly Check[] = (['projects', 'images', 'symbols', 'configs'] as const).map(directory);

export const logFile: Check = {
  subject: 'log file',
  see: 'install#directories',
  async examine({ loaded: { config } }) {
    const { log } = config.Server;
    if (log === '') return undefined;
    const fix = `make it writable for ${userName(ownUser())}, or choose another with --log`;
    try {
      const place = await nearest(log);
      if (place.path !== log && place.path !== dirname(log)) return missing(`${log}: no such directory`, fix);
      await access(place.path, constants.W_OK);
      return ok(log);
    } catch (thrown) {
      return missing(`${log}: ${reasonOf(thrown)}`, fix);
    }
  },
};
