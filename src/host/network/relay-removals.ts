// Removes TAPs of the fabric. The kernel waits some 10 ms for its own readers whenever it removes interfaces, so those
// that come meanwhile are removed together.

import { close } from 'node:fs';
import { inNetworkOfAny, networkNamespace } from '../system-calls.ts';
import { removeLinks } from './kernel-interfaces.ts';

/** The most that are removed together: some 40 ms, during which no other change of the host's interfaces begins. */
const MOST = 128;

/** A TAP that the kernel removes with its last descriptor. */
export interface Relay {
  descriptor: number;
  index: number;
  /** Id of the process whose network namespace has it; undefined for this one's. */
  network: number | undefined;
  /** What {@link networkNamespace} returned there. */
  namespace: bigint;
}

let waiting: Relay[] = [];
let running: Promise<void> | undefined;

/** Removes the TAP by other threads, and closes its descriptor; resolves when both is done. */
export function removeRelay(relay: Relay): Promise<void> {
  waiting.push(relay);
  running ??= removeAll();
  return running;
}

async function removeAll(): Promise<void> {
  // Those of the same turn come together.
  await undefined;
  for (let [first] = waiting; first !== undefined; [first] = waiting) {
    const { network, namespace } = first;
    const batch = waiting.filter((relay) => relay.namespace === namespace).slice(0, MOST);
    const taken = new Set(batch);
    waiting = waiting.filter((relay) => !taken.has(relay));
    try {
      await inNetworkOfAny(network, () => {
        // The id of an ended process may be reused: the index is another interface's there.
        if (networkNamespace() === namespace) return removeLinks(batch.map(({ index }) => index));
      });
    } catch {
      // The namespace may be gone. With its last descriptor the kernel removes each one by itself.
    }
    for (const { descriptor } of batch) await new Promise<void>((resolve) => close(descriptor, () => resolve()));
  }
  running = undefined;
}
