// A snapshot: an archive in the project's folder `snapshots`, from which everything else follows (as in release 2.2.57).
import { createHash } from 'node:crypto';
import type { SnapshotObject } from '../../api/objects.ts';
import { conflict } from '../../failures.ts';
import { SNAPSHOT_EXTENSION, SNAPSHOTS } from '../archives/repacking.ts';

export interface Snapshot {
  snapshot_id: string;
  project_id: string;
  name: string;
  /** Seconds since 1970. */
  created_at: number;
  /** Path of the archive, relative to the project. */
  file: string;
}

/** `<name>_<DDMMYY>_<HHMMSS>`, in UTC. */
const FILE_NAME = new RegExp(`^(.+)_(\\d\\d)(\\d\\d)(\\d\\d)_(\\d\\d)(\\d\\d)(\\d\\d)${SNAPSHOT_EXTENSION}$`, 's');
const LONGEST_FILE_NAME_BYTES = 255;

/** The object that clients see (`Snapshot`). */
export function snapshotJson({ snapshot_id, project_id, name, created_at }: Snapshot): SnapshotObject {
  return { snapshot_id, project_id, name, created_at };
}

/**
 * File name of a new snapshot.
 * @throws Failure `conflict` for a name that cannot be part of a file name
 */
export function snapshotFileName(name: string, now: Date): string {
  const fileName = `${name}_${stampOf(now)}${SNAPSHOT_EXTENSION}`;
  if (/[/\\\0]/.test(name) || !name.isWellFormed()) {
    throw conflict('name: becomes a part of a file name; leave out "/", "\\" and NUL.');
  }
  if (Buffer.byteLength(fileName) > LONGEST_FILE_NAME_BYTES) {
    throw conflict(`name: the file name "${fileName}" has more than ${LONGEST_FILE_NAME_BYTES} bytes.`);
  }
  return fileName;
}

/** The snapshot in a file with this name and modification time (milliseconds since 1970); undefined for other files. */
export function snapshotOf(projectId: string, fileName: string, changed: number): Snapshot | undefined {
  const [, name, day, month, year, hours, minutes, seconds] = FILE_NAME.exec(fileName) ?? [];
  if (name === undefined) return undefined;
  // Two-digit years mean 1969 to 2068, as usual.
  const century = Number(year) < 69 ? '20' : '19';
  const time = new Date(`${century}${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
  if (Number.isNaN(time.getTime()) || !fileName.includes(stampOf(time))) return undefined;
  return {
    snapshot_id: `${lineOf(projectId, fileName)}${Math.round(changed).toString(16).padStart(12, '0').slice(-12)}`,
    project_id: projectId,
    name,
    created_at: time.getTime() / 1000,
    file: `${SNAPSHOTS}/${fileName}`,
  };
}

function stampOf(time: Date): string {
  const [, year, month, day, hours, minutes, seconds] = /^\d\d(\d\d)-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)/.exec(
    time.toISOString(),
  ) as RegExpExecArray;
  return `${day}${month}${year}_${hours}${minutes}${seconds}`;
}

/** Whether an id is a present or former one of this snapshot. */
export function isIdOf(id: string, { snapshot_id: current }: Snapshot): boolean {
  const line = current.slice(0, -12);
  return id.toLowerCase().startsWith(line) && /^[0-9a-f]{12}$/i.test(id.slice(line.length));
}

/**
 * The common part of all ids of a snapshot: a UUID of version 8 (RFC 9562) without its last group. It is derived from
 * the names, so it survives restarts and needs no storage. The last group is the file's modification time: a restore
 * sets that, because clients of the release expect a new id after one; former ids stay valid.
 */
function lineOf(projectId: string, fileName: string): string {
  const bytes = createHash('sha256').update(`${projectId}/${fileName}`).digest().subarray(0, 10);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})$/, '$1-$2-$3-$4-');
}
