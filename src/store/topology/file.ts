// Reads topology files from disk with upgrade, writes them, and detects changes by other programs.
import { hash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { REVISION, type Topology } from '../../api/topology.ts';
import { conflict, Failure, systemCode } from '../../failures.ts';
import { createAtomicFile, fileFailure, writeFileAtomically } from '../../host/files/atomic-file.ts';
import { log } from '../../host/log.ts';
import { LARGEST_FILE_BYTES, type ParseOptions } from './document.ts';
import { moveDynamipsFiles } from './dynamips-files.ts';
import { topologyTextBeside } from './lab-text-thread.ts';
import type { Outline } from './outline.ts';
import { outlineBeside, parseBeside } from './parsing-thread.ts';
import { moveLegacyFiles } from './upgrade-legacy-files.ts';

/** Unknown members named in a warning. */
const MOST_NAMED = 10;

/**
 * Identifies a state of a file, also after it was copied: size, time of the last change of its content (nanoseconds
 * since 1970), SHA-1 of the content.
 */
export type Fingerprint = string;

export interface TopologyFile {
  topology: Topology;
  /** Of the present file, after an upgrade. */
  fingerprint: Fingerprint;
  /** The file's former revision if it was rewritten, because it was older or had unknown members. */
  upgradedFrom: number | undefined;
}

/**
 * Reads a .gns3 file. An older revision is upgraded on disk, too, with `version` as its writer; likewise a file with
 * unknown members, which are left out and logged. Before that it is copied to `<file>.backup<revision>`.
 * `Failure('conflict')` names the file, the mistake with its place, and the fix. A `readOnly` file, which another
 * server has open, is upgraded only in memory.
 */
export async function readTopologyFile(
  path: string,
  options: { version: string; readOnly?: boolean } & ParseOptions,
): Promise<TopologyFile> {
  const { bytes, fingerprint: found } = await readWhole(path);
  const { topology, revision, moves, pictures, unknown } = await explained(path, parseBeside(bytes, options));
  if (revision === REVISION && unknown.length === 0) return { topology, fingerprint: found, upgradedFrom: undefined };
  const upgraded = { ...topology, version: options.version };
  if (options.readOnly) return { topology: upgraded, fingerprint: found, upgradedFrom: undefined };
  try {
    await writeFileAtomically(`${path}.backup${revision}`, bytes);
    await moveDynamipsFiles(dirname(path), moves);
    if (pictures !== undefined) await moveLegacyFiles(dirname(path), pictures);
    const written = await writeTopologyFile(path, upgraded);
    if (unknown.length > 0) warnOfUnknown(path, unknown);
    return { topology: upgraded, fingerprint: written, upgradedFrom: revision };
  } catch (thrown) {
    throw notLoadable(thrown);
  }
}

/** The outline of the lab in a .gns3 file, which stays as it is even if it is of an older revision. */
export async function readOutline(path: string): Promise<Outline> {
  const { bytes } = await readWhole(path);
  return explained(path, outlineBeside(bytes));
}

/**
 * Writes a .gns3 file atomically and durably; the old one stays if anything fails. Returns the new fingerprint, which
 * is passed to `coming` before the old file is replaced. `content` may be the finished text.
 */
export async function writeTopologyFile(
  path: string,
  content: Topology | Uint8Array,
  coming: (fingerprint: Fingerprint) => Promise<void> = async () => {},
): Promise<Fingerprint> {
  await using file = await createAtomicFile(path);
  const text = content instanceof Uint8Array ? content : await topologyTextBeside(content);
  await file.write(text);
  const digest = digestOf(text);
  await coming(fingerprintOf(await file.sync(), digest));
  return fingerprintOf(await file.commit(), digest);
}

/** Whether there is a file of any kind. */
export async function hasTopologyFile(path: string): Promise<boolean> {
  return (await statusOf(path)) !== undefined;
}

/**
 * Which of the fingerprints the file has; `known` is undefined if none. Size and time suffice; if only the time differs
 * the file may have been copied, and its content is compared.
 */
export async function recognizeFile(
  path: string,
  fingerprints: readonly (Fingerprint | undefined)[],
): Promise<{ exists: boolean; known: Fingerprint | undefined }> {
  const status = await statusOf(path);
  if (status === undefined) return { exists: false, known: undefined };
  const candidates = fingerprints.filter((fingerprint) => fingerprint !== undefined);
  const former = `${status.ino}:${status.size}:${status.mtimeNs}`; // the format of earlier releases
  const same = candidates.find((one) => one === former || one.startsWith(`${status.size}:${status.mtimeNs}:`));
  if (same !== undefined) return { exists: true, known: same };
  const copied = candidates.filter((one) => one.startsWith(`${status.size}:`));
  if (copied.length === 0 || !status.isFile()) return { exists: true, known: undefined };
  const digest = digestOf((await readWhole(path)).bytes);
  return { exists: true, known: copied.find((one) => one.endsWith(`:${digest}`)) };
}

async function statusOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true });
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return undefined;
    throw fileFailure(thrown, path);
  }
}

function digestOf(content: string | Uint8Array): string {
  return hash('sha1', content);
}

function fingerprintOf(status: { size: bigint; mtimeNs: bigint }, digest: string): Fingerprint {
  return `${status.size}:${status.mtimeNs}:${digest}`;
}

async function readWhole(path: string): Promise<{ bytes: Buffer; fingerprint: Fingerprint }> {
  try {
    // Not blocking: a FIFO with this name is reported, not waited for.
    await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const status = await handle.stat({ bigint: true });
    if (!status.isFile()) throw conflict(`${path}: it is not a regular file; name the .gns3 file of a project`);
    if (status.size > LARGEST_FILE_BYTES) {
      throw conflict(`${path}: a topology file has at most ${LARGEST_FILE_BYTES} bytes, this one ${status.size}`);
    }
    // The status is read first: a change during the read makes the fingerprint outdated, and is detected later.
    const bytes = await handle.readFile();
    return { fingerprint: fingerprintOf(status, digestOf(bytes)), bytes };
  } catch (thrown) {
    throw notLoadable(fileFailure(thrown, path));
  }
}

function warnOfUnknown(path: string, unknown: readonly string[]): void {
  const named = unknown.slice(0, MOST_NAMED).join(', ');
  const more = unknown.length - MOST_NAMED;
  log.warn('members of a lab that this release does not know are left out; the file as it was is kept beside it', {
    file: path,
    members: more > 0 ? `${named} and ${more} more` : named,
  });
}

/** Adds the file and the fix to the mistake that `parsing` finds. */
async function explained<Parsed>(path: string, parsing: Promise<Parsed>): Promise<Parsed> {
  try {
    return await parsing;
  } catch (thrown) {
    throw thrown instanceof Failure ? damaged(path, thrown.message, thrown) : thrown;
  }
}

function damaged(path: string, reason: string, cause: unknown): Failure {
  return conflict(`${path} cannot be loaded: ${reason} (correct the file, or put back an earlier copy of it)`, {
    cause,
  });
}

/**
 * Reports a file that is missing, unreadable or cannot be upgraded as one that cannot be loaded; a full disk stays as
 * it is.
 */
function notLoadable(thrown: unknown): unknown {
  if (!(thrown instanceof Failure) || thrown.code === 'out-of-space') return thrown;
  return conflict(thrown.message, { cause: thrown });
}
