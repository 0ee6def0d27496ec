// Totals of the fabric since its start.

import type { Drops, FabricTotals } from './model.ts';

export function noDrops(): Drops {
  return {
    noCable: 0,
    noDevice: 0,
    frequencyDrop: 0,
    packetLoss: 0,
    packetFilters: 0,
    loss: 0,
    rateQueue: 0,
    delayQueue: 0,
    deviceQueue: 0,
    wrongTag: 0,
    noCircuit: 0,
    empty: 0,
    receiveQueue: 0,
    tooLong: 0,
    runt: 0,
    malformed: 0,
    interfaceDown: 0,
    sendQueue: 0,
    sendFailed: 0,
  };
}

export function noTotals(): FabricTotals {
  return {
    toCable: { frames: 0, bytes: 0 },
    toDevice: { frames: 0, bytes: 0 },
    drops: noDrops(),
    captured: { frames: 0, bytes: 0, drops: 0, filtered: 0 },
  };
}

/** Adds the given parts of `more` to `sum`. */
export function add(sum: FabricTotals, more: Partial<FabricTotals>): void {
  for (const part of Object.keys(sum) as (keyof FabricTotals)[]) {
    const into = sum[part] as unknown as Record<string, number>;
    for (const [name, count] of Object.entries(more[part] ?? {})) into[name] = into[name]! + count;
  }
}

export function sumOf(all: Iterable<FabricTotals>): FabricTotals {
  const sum = noTotals();
  for (const totals of all) add(sum, totals);
  return sum;
}
