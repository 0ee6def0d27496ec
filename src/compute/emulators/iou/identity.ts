// The ids by which images of IOU and those that talk to them find one another on a host: files in a folder of the user, of which each
// holder has locked its own.
import { constants } from 'node:fs';
import { chmod, type FileHandle, lstat, mkdir, open, rm } from 'node:fs/promises';
import { systemCode } from '../../../failures.ts';
import { lockFile, lockHolder } from '../../../host/system-calls.ts';
import { refusal } from './image.ts';
import { BRIDGE_OFFSET } from './netmap.ts';

const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** Where the ids of this user lie. The images have it built in. */
export const SOCKETS = `/tmp/netio${process.getuid!()}`;

/** What an image and the fabric's end of its cables are called. */
export interface Identity {
  directory: string;
  application: number;
  bridge: number;
}

/** Ids in use here, and the nodes that have them: the system's locks do not tell parts of one process apart. */
const holders = new Map<number, string>();

/**
 * Takes the id of the fabric's end for a node; `resources` give it back.
 * @param isFresh the image is yet to be started: nobody may have its own id either
 * @throws Failure `conflict` (`IOUError`) when one of the ids is in use on this host
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
  // An image that was killed has left its own.
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
  // The lock goes last: as long as it is there, so are its files.
  resources.defer(() => lock.close());
  resources.defer(() => rm(`${path}.lck`, { force: true }));
  resources.defer(() => rm(path, { force: true }));
  await lock.truncate();
  await lock.write(`${process.pid}\n`);
  return { directory: SOCKETS, application, bridge };
}

/** In a folder of another user, frames would be anybody's. */
async function makeFolder(): Promise<void> {
  await mkdir(SOCKETS, { mode: 0o700 }).catch((error: unknown) => {
    if (systemCode(error) !== 'EEXIST') throw error;
  });
  const found = await lstat(SOCKETS);
  if (!found.isDirectory() || found.uid !== process.getuid!())
    throw refusal(`${SOCKETS} belongs to somebody else: let root remove it, as images of IOU have no other place.`);
  if ((found.mode & 0o077) !== 0) await chmod(SOCKETS, 0o700);
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
