// Whether this process may have the kernel forward frames between nodes' interfaces.

import { SystemError, withTrafficProgram } from '../system-calls.ts';
import { nodeProgram } from './cable-programs.ts';
import { KernelMaps } from './kernel-maps.ts';

let tried: { reason: string | undefined } | undefined;

/** Why kernel links are unavailable; undefined if they are not. Tested once, by loading their program. */
export function kernelLinksUnavailable(): string | undefined {
  tried ??= { reason: tryProgram() };
  return tried.reason;
}

function tryProgram(): string | undefined {
  try {
    const maps = new KernelMaps(1);
    try {
      const instructions = nodeProgram({ number: 0, relayIndex: 1, lab: 1 }, maps.descriptors);
      withTrafficProgram('labwire_probe', instructions, () => {});
    } finally {
      maps.close();
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    if (error.code === 'EPERM') return 'CAP_BPF and CAP_NET_ADMIN are missing';
    return `this kernel does not load the program: ${error.message}`;
  }
}
