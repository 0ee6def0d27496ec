// What the controller and the cluster's own code both know of the leases of hosts.

/** How long (ms) a lease is valid without renewal. */
export const LEASE_MS = 5_000;

/** What a host's lease says of it. */
export interface HeldLease {
  id: string;
  /** Its name in the cluster. */
  name: string;
  address: string;
  /** The address from which NATS sees it: another one behind a masquerade. */
  outsideAddress: string;
  port: number;
  isThisHost: boolean;
  /** How long (ms) after its last renewal the host keeps clouds and NATs connected; undefined: for ever. */
  outsideLimitMs: number | undefined;
  /** They are cut off. */
  isOutsideClosed: boolean;
  /** Whether it may become the controller, and could now. */
  standby: 'waiting' | 'ready' | undefined;
  runsNats: boolean;
}
