// What machines of one compute share: how many start at the same time, what is known of their disks, and what they must not have
// twice: images that they write to themselves, and numbers that guests are called by.
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { Failure } from '../../../failures.ts';
import { Slots } from '../../../host/values/slots.ts';
import type { Services } from '../../services.ts';
import { KnownDisks } from './known-disks.ts';

const FIRST_CID = 3;
/** A start runs qemu-img and QEMU: more at the same time end no sooner, and take memory. */
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

/** A place among the machines that start at this time. @throws the signal's reason when that is aborted before there is one */
export function startSlot(services: Services, signal: AbortSignal): Promise<Disposable> {
  return of(services).starts.take(signal);
}

/**
 * Notes the images that a node writes to, in place of those that it had.
 * @throws Failure `conflict` (`QemuError`) when another node writes to one of them; nothing has changed then
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

/** A number for a guest, given back with `resources`: its console's port, or the lowest one that is free. */
export function reserveCid(services: Services, console: number | null, resources: AsyncDisposableStack): number {
  if (console !== null) return console;
  const { cids } = of(services);
  let cid = FIRST_CID;
  while (cids.has(cid)) cid += 1;
  cids.add(cid);
  resources.defer(() => void cids.delete(cid));
  return cid;
}
