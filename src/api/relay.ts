// How a NIO names a host of the cluster to which no direct way leads: NATS carries the frames of that link.

const START = 'relay:';

/** The `rhost` of a NIO. */
export const relayAddress = (host: string): string => `${START}${host}`;

/** The host that an `rhost` names so; undefined for every other address. */
export const relayedHost = (rhost: string): string | undefined =>
  rhost.startsWith(START) ? rhost.slice(START.length) : undefined;
