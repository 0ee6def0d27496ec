// What the controller and the cluster's own code both know of the leases of hosts.

/** How long (ms) a lease is valid without renewal. */
export const LEASE_MS = 5_000;
