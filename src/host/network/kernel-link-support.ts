// Whether this process may have the kernel forward frames between nodes' interfaces.

import { closeSync } from 'node:fs';
import { BpfMap, loadTrafficProgram, SystemError } from '../system-calls.ts';
import { COUNTER_BYTES, nodeProgram, WAY_BYTES } from './cable-programs.ts';

let tried: { reason: string | undefined } | undefined;

/** Why kernel links are unavailable; undefined if they are not. Tested once, by loading their program. */
export function kernelLinksUnavailable(): string | undefined {
  tried ??= { reason: tryProgram() };
  return tried.reason;
}

function tryProgram(): string | undefined {
  using maps = new DisposableStack();
  try {
    const [ways, counters] = [new BpfMap('hash', WAY_BYTES, 1), new BpfMap('array', COUNTER_BYTES, 1)];
    maps.defer(() => ways.close());
    maps.defer(() => counters.close());
    closeSync(loadTrafficProgram('labwire_probe', nodeProgram(0, ways.descriptor, counters.descriptor)));
    return undefined;
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    if (error.code === 'EPERM') return 'CAP_BPF and CAP_NET_ADMIN are missing';
    return `this kernel does not load the program: ${error.message}`;
  }
}
