// Files of the nodes of closed labs that are too large for NATS, such as disks. They stay on the host on which the lab was closed, and it opens
// there: elsewhere the nodes would begin with empty disks, which would replace the large ones later.
import { join } from 'node:path';
import * as v from 'valibot';
import type { Shared } from '../cluster/shared-files.ts';
import { conflict } from '../failures.ts';
import { isBelow } from '../host/files/relative-path.ts';
import { log } from '../host/log.ts';
import type { Documents } from '../store/documents.ts';
import type { NamedHost } from './cluster.ts';

/** By the id of the lab. */
const KIND = 'left-files';
const Noted = v.object({ host: v.string(), name: v.string() });

/** Of an open lab: the files of its nodes, which change all the time and are copied in another way. */
export const NODES_FILES = 'project-files';
const CAPTURES = join(NODES_FILES, 'captures');

async function notedOf(documents: Documents): Promise<Map<string, v.InferOutput<typeof Noted>>> {
  const noted = (await documents.list(KIND)).map(({ id, body }) => [id, v.parse(Noted, body)] as const);
  return new Map(noted);
}

/** @param isAll whether these are all labs: what is noted of others, which are open or deleted, is removed */
export async function noteLeftFiles(
  documents: Documents,
  { id: host, name }: NamedHost,
  { shared, left, isAll }: { shared: readonly Shared[]; left: readonly string[]; isAll: boolean },
): Promise<void> {
  const noted = await notedOf(documents);
  const isOfNode = (path: string) => (file: string) =>
    isBelow(join(path, NODES_FILES), file) && !isBelow(join(path, CAPTURES), file);
  for (const { path, closedLab: lab } of shared) {
    if (lab === undefined) continue;
    const former = noted.get(lab);
    noted.delete(lab);
    const hasSome = left.some(isOfNode(path));
    if (hasSome && !former) await documents.put(KIND, lab, { host, name });
    else if (!hasSome && former?.host === host) await documents.delete(KIND, lab);
  }
  if (isAll) for (const lab of noted.keys()) await documents.delete(KIND, lab);
}

/** @throws Failure `conflict` if another host of the cluster has such files of a lab that is to open here */
export async function requireLeftFiles(documents: Documents, { id: own }: NamedHost, lab: string): Promise<void> {
  const noted = (await notedOf(documents)).get(lab);
  if (!noted) return;
  const { host, name } = noted;
  if (host !== own) {
    const hosts = await documents.list('cluster-hosts');
    if (hosts.some(({ id }) => id === host))
      throw conflict(
        `Large files of this lab's nodes, such as disks, are only on ${name}, where the lab was closed. Make that the controller ("labwired cluster hand-over ${name}") and open the lab again. If it is gone for good, take it out of the cluster ("labwired cluster forget ${name}"): the lab then opens without these files.`,
      );
    log.warn('a lab opens without large files of its nodes', { project: lab, host: name });
  }
  await documents.delete(KIND, lab);
}
