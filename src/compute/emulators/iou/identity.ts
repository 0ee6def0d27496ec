// The ids of IOU images and of the fabric's ends of their cables on a host: files in a folder of the user, each locked
// by its holder.
import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { systemCode } from '../../../failures.ts';
import { makePrivateDirectory } from '../../../host/files/directories.ts';
import { lockFile, lockHolder } from '../../../host/system-calls.ts';
import { refusal } from './image.ts';
import { BRIDGE_OFFSET } from './netmap.ts';

const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** Folder of this user's ids, fixed in the images. */
export const SOCKETS = `/tmp/netio${process.getuid!()}`;

/** The ids of an image and of the fabric's end of its cables. */
export interface Identity {
  directory: string;
  application: number;
  bridge: number;
}

/** Ids in use here, by node: the system's locks do not distinguish parts of one process. */
const holders = new Map<number, string>();

/**
 * Reserves the id of the fabric's end for a node; `resources` release it.
 * @param isFresh the image is not started yet, so its own id must be free, too
 * @throws Failure `conflict` (`IOUError`) if one of the ids is in use on this host
 */
export async function takeIdentity(
  application: number,
  { name, isFresh }: { name: string; isFresh: boolean },
  resources: AsyncDisposableStack,
): Promise<Identity> {
  const other = holders.get(application);
  if (other !== undefined) throw inUse(application, `the node ${other}`);
  holders.set(application, name);
  resources.defer(() => void holders.delete(application));
  const bridge = application + BRIDGE_OFFSET;
  await makeFolder();
  if (isFresh) await mustBeFree(application);
  // A killed image leaves its id behind.
  for (const name of [`${application}`, `${application}.lck`]) {
    resources.defer(() => rm(`${SOCKETS}/${name}`, { force: true }));
  }
  const path = `${SOCKETS}/${bridge}`;
  const lock = await open(`${path}.lck`, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600);
  try {
    if (!lockFile(lock.fd)) throw inUse(bridge, holderOf(lock));
  } catch (error) {
    await lock.close();
    throw error;
  }
  // The lock goes last, so that it protects the files to the end.
  resources.defer(() => lock.close());
  resources.defer(() => rm(`${path}.lck`, { force: true }));
  resources.defer(() => rm(path, { force: true }));
  await lock.truncate();
  await lock.write(`${process.pid}\n`);
  return { directory: SOCKETS, application, bridge };
}

/** Another user's folder would let that user receive and send frames. */
async function makeFolder(): Promise<void> {
  if (!(await makePrivateDirectory(SOCKETS)))
    throw refusal(`${SOCKETS} belongs to another user: let root remove it, as images of IOU have no other place.`);
}

async function mustBeFree(id: number): Promise<void> {
  let lock: FileHandle;
  try {
    lock = await open(`${SOCKETS}/${id}.lck`, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  await using _ = lock;
  const holder = lockHolder(lock.fd);
  if (holder !== undefined) throw inUse(id, `process ${holder}`);
}

function holderOf(lock: FileHandle): string {
  const pid = lockHolder(lock.fd);
  return pid === undefined ? 'another process' : `process ${pid}`;
}

function inUse(id: number, whom: string) {
  return refusal(
    `application_id: ${id} is in use on this host by ${whom}; stop that, or give the node another application_id.`,
  );
}
