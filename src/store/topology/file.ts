// Topology files on disk: reading with upgrade, writing, and noticing the edits of others.
import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure, systemCode } from '../../failures.ts';
import { createAtomicFile, fileFailure, writeFileAtomically } from '../../host/atomic-file.ts';
import { type ParsedTopology, parseTopology, serializeTopology } from './document.ts';
import { moveDynamipsFiles } from './dynamips-files.ts';
import { REVISION, type Topology } from './schema.ts';
import { moveLegacyFiles } from './upgrade-legacy-files.ts';

/** Bytes; labs of thousands of nodes have a few MiB. */
const LARGEST_FILE = 128 * 1024 * 1024;

/** Tells one state of a file from another: inode, size and time of the last change of its content. */
export type Fingerprint = string;

export interface TopologyFile {
  topology: Topology;
  /** Of the file as it is now, after an upgrade. */
  fingerprint: Fingerprint;
  /** Revision that the file had, if it was an older one. */
  upgradedFrom: number | undefined;
}

/**
 * Reads a .gns3 file. One of an older revision is upgraded on disk, too, and then names `version` as its writer;
 * before that it is copied to `<file>.backup<revision>`. `Failure('conflict')` names the file, says what is wrong
 * where, and how to go on.
 */
export async function readTopologyFile(path: string, options: { version: string }): Promise<TopologyFile> {
  const { bytes, fingerprint: found } = await readWhole(path);
  const { topology, revision, moves, pictures } = parse(path, bytes);
  if (revision === REVISION) return { topology, fingerprint: found, upgradedFrom: undefined };
  const upgraded = { ...topology, version: options.version };
  try {
    await writeFileAtomically(`${path}.backup${revision}`, bytes);
    await moveDynamipsFiles(dirname(path), moves);
    if (pictures !== undefined) await moveLegacyFiles(dirname(path), pictures);
    return { topology: upgraded, fingerprint: await writeTopologyFile(path, upgraded), upgradedFrom: revision };
  } catch (thrown) {
    throw notLoadable(thrown);
  }
}

/**
 * Writes a .gns3 file atomically and durably; the old one stays if anything fails. Answers the new one's fingerprint, which `coming` is
 * told before it takes the place of the old one.
 */
export async function writeTopologyFile(
  path: string,
  topology: Topology,
  coming: (fingerprint: Fingerprint) => Promise<void> = async () => {},
): Promise<Fingerprint> {
  await using file = await createAtomicFile(path);
  await file.write(serializeTopology(topology));
  await coming(fingerprintOf(await file.sync()));
  return fingerprintOf(await file.commit());
}

/** The fingerprint of a file, or undefined if there is none. */
export async function fingerprint(path: string): Promise<Fingerprint | undefined> {
  try {
    return fingerprintOf(await stat(path, { bigint: true }));
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return undefined;
    throw fileFailure(thrown, path);
  }
}

function fingerprintOf(status: { ino: bigint; size: bigint; mtimeNs: bigint }): Fingerprint {
  return `${status.ino}:${status.size}:${status.mtimeNs}`;
}

async function readWhole(path: string): Promise<{ bytes: Buffer; fingerprint: Fingerprint }> {
  try {
    // Not blocking: a FIFO of this name is answered, not waited for.
    await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const status = await handle.stat({ bigint: true });
    if (!status.isFile())
      throw new Failure('conflict', `${path}: it is not a regular file; name the .gns3 file of a project`);
    if (status.size > LARGEST_FILE) {
      throw new Failure(
        'conflict',
        `${path}: a topology file has at most ${LARGEST_FILE} bytes, this one ${status.size}`,
      );
    }
    // The fingerprint is taken first: an edit while we read makes it stale, and is so noticed later.
    return { fingerprint: fingerprintOf(status), bytes: await handle.readFile() };
  } catch (thrown) {
    throw notLoadable(fileFailure(thrown, path));
  }
}

function parse(path: string, bytes: Uint8Array): ParsedTopology {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (thrown) {
    throw damaged(path, 'it is not UTF-8 text', thrown);
  }
  try {
    return parseTopology(text);
  } catch (thrown) {
    throw thrown instanceof Failure ? damaged(path, thrown.message, thrown) : thrown;
  }
}

function damaged(path: string, reason: string, cause: unknown): Failure {
  return new Failure(
    'conflict',
    `${path} cannot be loaded: ${reason} (correct the file, or put back an earlier copy of it)`,
    { cause },
  );
}

/**
 * A file that is missing or may not be read or upgraded is, to a client, one that cannot be loaded; a full disk stays
 * what it is.
 */
function notLoadable(thrown: unknown): unknown {
  if (!(thrown instanceof Failure) || thrown.code === 'out-of-space') return thrown;
  return new Failure('conflict', thrown.message, { cause: thrown });
}
