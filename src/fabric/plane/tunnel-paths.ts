// The paths of UDP cables to other hosts: their MTU, and frames that are too long for it.

import { familyOf, pathMtu, probePath, SystemError } from '../../host/system-calls.ts';
import type { TunnelNotice, TunnelStatistics } from '../model.ts';
import { Timer, type Timers } from './timers.ts';
import type { UdpEndpoint } from './udp-endpoint.ts';

/** How often (ms) paths are checked. */
const CHECK_MS = 5_000;
/** How soon (ms) after a probe: routers have answered it. */
const PROBED_MS = 500;
/** Checks from one probe to the next: probes are lost, and the kernel forgets what routers say after 10 minutes. */
const CHECKS_PER_PROBE = 12;
/** Headers of IP and UDP. */
const HEADER_BYTES = { 4: 28, 6: 48 } as const;
/** From here on the path stays on this host. */
const LOCAL_MTU = 65_535;

interface Tunnel {
  readonly host: string;
  readonly endpoint: UdpEndpoint;
  readonly notify: (notice: TunnelNotice) => void;
  /** 0 while there is no route. */
  pathMtu: number;
  readonly notified: Set<TunnelNotice['unfit']>;
}

export class TunnelPaths {
  readonly #tunnels = new Map<UdpEndpoint, Tunnel>();
  readonly #timer: Timer;
  #checks = 0;

  constructor(timers: Timers) {
    this.#timer = new Timer(timers, () => this.#check());
  }

  /** Watches the path of a cable, unless it stays on this host. `notify` is called once for each kind of unfit frames. */
  add(host: string, endpoint: UdpEndpoint, notify: Tunnel['notify']): void {
    const mtu = this.#measure(host);
    if (mtu !== undefined && mtu >= LOCAL_MTU) return;
    const isNew = !this.#tunnels.values().some((tunnel) => tunnel.host === host);
    const tunnel: Tunnel = { host, endpoint, notify, pathMtu: 0, notified: new Set() };
    this.#tunnels.set(endpoint, tunnel);
    if (mtu !== undefined) this.#use(tunnel, mtu);
    if (!isNew) return;
    if (mtu !== undefined) this.#probe(host, mtu);
    this.#timer.start(PROBED_MS);
  }

  remove(endpoint: UdpEndpoint): void {
    this.#tunnels.delete(endpoint);
    if (this.#tunnels.size === 0) this.#timer.stop();
  }

  /** Whether the cable leads to another host. */
  has(endpoint: UdpEndpoint): boolean {
    return this.#tunnels.has(endpoint);
  }

  /** Undefined for a cable that stays on this host, and while there is no route. */
  statistics(endpoint: UdpEndpoint): TunnelStatistics | undefined {
    const tunnel = this.#tunnels.get(endpoint);
    if (tunnel === undefined || tunnel.pathMtu === 0) return undefined;
    return { pathMtu: tunnel.pathMtu, longestWhole: longestWhole(tunnel), ...endpoint.unfit };
  }

  #check(): void {
    const doesProbe = this.#checks++ % CHECKS_PER_PROBE === CHECKS_PER_PROBE - 1;
    for (const [host, tunnels] of Map.groupBy(this.#tunnels.values(), (tunnel) => tunnel.host)) {
      const mtu = this.#measure(host);
      const isFirst = tunnels.every(({ pathMtu: known }) => known === 0);
      for (const tunnel of tunnels) this.#update(tunnel, mtu);
      if ((doesProbe || isFirst) && mtu !== undefined) this.#probe(host, mtu);
    }
    this.#timer.start(CHECK_MS);
  }

  #update(tunnel: Tunnel, mtu: number | undefined): void {
    const { endpoint, host, notified, notify } = tunnel;
    if (mtu !== undefined) this.#use(tunnel, mtu);
    endpoint.countOverflow();
    for (const unfit of ['fragmented', 'tooLong'] as const) {
      if (endpoint.unfit[unfit] === 0 || notified.has(unfit)) continue;
      notified.add(unfit);
      notify({ unfit, host, pathMtu: tunnel.pathMtu, longestWhole: longestWhole(tunnel) });
    }
  }

  #use(tunnel: Tunnel, mtu: number): void {
    if (tunnel.pathMtu === mtu) return;
    tunnel.pathMtu = mtu;
    tunnel.endpoint.longestWhole = longestWhole(tunnel);
  }

  /** Undefined without a route. */
  #measure(host: string): number | undefined {
    try {
      return pathMtu(host);
    } catch (error) {
      if (error instanceof SystemError) return undefined;
      throw error;
    }
  }

  /** Without the right to, the path MTU is that of the routes. */
  #probe(host: string, mtu: number): void {
    try {
      probePath(host, mtu);
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
    }
  }
}

function longestWhole({ host, pathMtu: mtu }: Tunnel): number {
  return mtu - HEADER_BYTES[familyOf(host)];
}
