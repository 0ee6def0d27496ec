// Capabilities that processes need for networks of the host and of containers (capabilities(7)).
import { readFileSync } from 'node:fs';

/** Bits of linux/capability.h. */
const BITS = { CAP_NET_ADMIN: 12n, CAP_NET_RAW: 13n, CAP_SYS_PTRACE: 19n, CAP_SYS_ADMIN: 21n, CAP_BPF: 39n };

export type Capability = keyof typeof BITS;

/**
 * How to give the server a capability. Not by setcap: the user who starts the executable could replace an addon while
 * it is loaded.
 */
export function capabilityFix(capability: Capability): string {
  return (
    `let "systemctl edit labwired" add ${capability} to CapabilityBoundingSet= and AmbientCapabilities= ` +
    '(systemd/interfaces.conf has all that clouds need, see docs/clouds.md), or run the server as root'
  );
}

/** The effective capabilities in the text of /proc/self/status. */
export function capabilitiesIn(status: string): Capability[] {
  const mask = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return (Object.keys(BITS) as Capability[]).filter((name) => (mask >> BITS[name]) & 1n);
}

/** The needed capabilities that a process does not have; all of them if that cannot be determined. */
export function lackedBy(pid: number | 'self', needed: readonly Capability[]): readonly Capability[] {
  try {
    const held = capabilitiesIn(readFileSync(`/proc/${pid}/status`, 'latin1'));
    return needed.filter((name) => !held.includes(name));
  } catch {
    return needed;
  }
}

/** Whether this process has the capability now. */
export function holds(capability: Capability): boolean {
  return lackedBy('self', [capability]).length === 0;
}
