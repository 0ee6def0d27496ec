// State shared by the machines of one compute: the limit of concurrent starts, cached disk checks, and unique
// resources: images written directly, and guest CIDs.
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { Failure } from '../../../failures.ts';
import { Slots } from '../../../host/values/slots.ts';
import type { Services } from '../../services.ts';
import { KnownDisks } from './known-disks.ts';

const FIRST_CID = 3;
/** A start runs qemu-img and QEMU. More concurrent starts are not faster, and take memory. */
const STARTS_A_CORE = 2;

interface Shared {
  /** From the path of an image to the node that writes to it. */
  images: Map<string, { id: string; name: string }>;
  cids: Set<number>;
  starts: Slots;
  disks: KnownDisks;
}

const known = new WeakMap<Services, Shared>();

function of(services: Services): Shared {
  const shared = known.get(services) ?? {
    images: new Map(),
    cids: new Set(),
    starts: new Slots(STARTS_A_CORE * availableParallelism()),
    disks: new KnownDisks(),
  };
  known.set(services, shared);
  return shared;
}

export function knownDisks(services: Services): KnownDisks {
  return of(services).disks;
}

/** Waits for a slot to start a machine. @throws the signal's reason if it is aborted before */
export function startSlot(services: Services, signal: AbortSignal): Promise<Disposable> {
  return of(services).starts.take(signal);
}

/**
 * Reserves the images that a node writes to, in place of its previous ones.
 * @throws Failure `conflict` (`QemuError`) if another node writes to one of them; nothing has changed then
 */
export function reserveImages(services: Services, node: { id: string; name: string }, paths: readonly string[]): void {
  const { images } = of(services);
  for (const path of paths) {
    const other = images.get(path);
    if (other === undefined || other.id === node.id) continue;
    const message = `Another node writes to the disk image ${basename(path)} itself: give ${node.name} linked_clone, or another image.`;
    throw new Failure('conflict', message, { exception: 'QemuError' });
  }
  for (const [path, { id }] of [...images]) if (id === node.id) images.delete(path);
  for (const path of paths) images.set(path, { id: node.id, name: node.name });
}

/** Reserves a CID for a guest until `resources` are disposed: its console's port, or the lowest free number. */
export function reserveCid(services: Services, console: number | null, resources: AsyncDisposableStack): number {
  if (console !== null) return console;
  const { cids } = of(services);
  let cid = FIRST_CID;
  while (cids.has(cid)) cid += 1;
  cids.add(cid);
  resources.defer(() => void cids.delete(cid));
  return cid;
}
