// Removes interfaces by other threads. The kernel waits some 10 ms for its own readers whenever it removes interfaces, so
// those that come meanwhile are removed together.

import { close } from 'node:fs';
import { inNetworkOfAny, networkNamespace } from '../system-calls.ts';
import { removeLinks } from './kernel-interfaces.ts';

/** The most that are removed together: some 40 ms, during which no other change of the host's interfaces begins. */
const MOST = 128;

export interface Removal {
  index: number;
  /** Id of the process whose network namespace has it; undefined for this one's. */
  network: number | undefined;
  /** What {@link networkNamespace} returned there. */
  namespace: bigint;
  /** Of a TAP, which the kernel removes with its last descriptor; closed with it. */
  descriptor?: number;
}

export interface Relay extends Removal {
  descriptor: number;
}

let waiting: Removal[] = [];
let running: Promise<void> | undefined;

/** Removes the interface, and closes the descriptor of a TAP; resolves when both is done. Missing ones and refusals of the kernel are ignored. */
export function removeElsewhere(removal: Removal): Promise<void> {
  waiting.push(removal);
  running ??= removeAll();
  return running;
}

async function removeAll(): Promise<void> {
  // Those of the same turn come together.
  await undefined;
  for (let [first] = waiting; first !== undefined; [first] = waiting) {
    const { network, namespace } = first;
    const batch = waiting.filter((removal) => removal.namespace === namespace).slice(0, MOST);
    const taken = new Set(batch);
    waiting = waiting.filter((removal) => !taken.has(removal));
    try {
      await inNetworkOfAny(network, () => {
        // The id of an ended process may be reused: the index is another interface's there.
        if (networkNamespace() === namespace) return removeLinks(batch.map(({ index }) => index));
      });
    } catch {
      // The namespace may be gone. With its last descriptor the kernel removes each TAP by itself.
    }
    for (const { descriptor } of batch)
      if (descriptor !== undefined) await new Promise<void>((resolve) => close(descriptor, () => resolve()));
  }
  running = undefined;
}
