// What the controller and the cluster's own code both know of the leases of hosts.
import * as v from 'valibot';

/** How long (ms) a lease is valid without renewal. */
export const LEASE_MS = 5_000;

/** Of a host that may become the controller: `ready` when it has the whole log of changes. */
export const Standby = v.picklist(['waiting', 'ready']);

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
  /** Set if it may become the controller. */
  standby: v.InferOutput<typeof Standby> | undefined;
  runsNats: boolean;
}
