// State shared by the machines of one compute: the limit of concurrent starts, cached disk checks, and unique
// resources: images written directly, and guest CIDs.
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { Slots } from '../../../host/values/slots.ts';
import type { ProgramOwner } from '../../nodes/lifecycle/node-program.ts';
import { KnownDisks } from './known-disks.ts';
import { refusal } from './refusal.ts';

const FIRST_CID = 3;
/** A start runs qemu-img and QEMU. More concurrent starts are not faster, and take memory. */
const STARTS_A_CORE = 2;

/** The node as its machine sees it. */
export interface MachineOwner extends ProgramOwner {
  readonly host: QemuHost;
}

export class QemuHost {
  readonly disks = new KnownDisks();
  /** From the path of an image to the node that writes to it. */
  readonly #images = new Map<string, string>();
  readonly #cids = new Set<number>();
  readonly #starts = new Slots(STARTS_A_CORE * availableParallelism());

  /** Waits for a slot to start a machine. @throws the signal's reason if it is aborted before */
  startSlot(signal: AbortSignal): Promise<Disposable> {
    return this.#starts.take(signal);
  }

  /**
   * Reserves the images that a node writes to, in place of its previous ones.
   * @throws Failure `conflict` (`QemuError`) if another node writes to one of them; nothing has changed then
   */
  reserveImages({ id, name }: { id: string; name: string }, paths: readonly string[]): void {
    for (const path of paths) {
      if ((this.#images.get(path) ?? id) === id) continue;
      const message = `Another node writes to the disk image ${basename(path)} itself: give ${name} linked_clone, or another image.`;
      throw refusal(message);
    }
    for (const [path, user] of [...this.#images]) if (user === id) this.#images.delete(path);
    for (const path of paths) this.#images.set(path, id);
  }

  /** Reserves a CID for a guest until `resources` are disposed: its console's port, or the lowest free number. */
  reserveCid(console: number | null, resources: AsyncDisposableStack): number {
    if (console !== null) return console;
    let cid = FIRST_CID;
    while (this.#cids.has(cid)) cid += 1;
    this.#cids.add(cid);
    resources.defer(() => void this.#cids.delete(cid));
    return cid;
  }
}
