// Reads the topology of an archive.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Topology } from '../../api/topology.ts';
import { conflict, messageOf } from '../../failures.ts';
import type { ArchiveReader } from '../../store/archive/reader.ts';
import { type JsonObject, parseJsonBounded } from '../../store/json.ts';
import { readTopologyFile } from '../../store/topology/file.ts';

/** Name of the topology in an archive. */
export const PROJECT_FILE = 'project.gns3';

/** Bytes; the same limit as for a topology file on disk. */
const LARGEST_PROJECT_BYTES = 128 * 1024 * 1024;

/** The content of an archive's topology. @throws Failure `conflict` if it is missing or too large */
export async function projectBytes(archive: ArchiveReader): Promise<Buffer> {
  const entry = archive.entries.get(PROJECT_FILE);
  if (entry?.kind !== 'file') throw conflict(`The archive has no ${PROJECT_FILE}: it is not of a project.`);
  if (entry.size > LARGEST_PROJECT_BYTES)
    throw conflict(`${PROJECT_FILE} has more than ${LARGEST_PROJECT_BYTES} bytes.`);
  return archive.bytes(entry);
}

/**
 * The topology of an archive as plain JSON.
 * @throws Failure `conflict` if it is missing or unreadable
 */
export async function readProject(archive: ArchiveReader): Promise<JsonObject> {
  const text = (await projectBytes(archive)).toString('utf8');
  let project: unknown;
  try {
    project = parseJsonBounded(text);
  } catch (error) {
    throw conflict(`${PROJECT_FILE} of the archive: ${messageOf(error)}`, { cause: error });
  }
  if (typeof project !== 'object' || project === null || Array.isArray(project)) {
    throw conflict(`${PROJECT_FILE} of the archive is not a JSON object.`);
  }
  return project as JsonObject;
}

/**
 * Takes the topology out of an unpacked archive. An older one is upgraded together with its files.
 * @throws Failure `conflict`
 */
export async function takeTopology(directory: string, version: string): Promise<Topology> {
  const file = join(directory, PROJECT_FILE);
  const { topology, upgradedFrom } = await readTopologyFile(file, { version, strict: true, keepSuspension: true });
  await rm(file);
  if (upgradedFrom !== undefined) await rm(`${file}.backup${upgradedFrom}`);
  return topology;
}
