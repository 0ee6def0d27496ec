// This host's part in its cluster over time: the connection to NATS, again after each failure, the lease of this host, and on hosts that may be the
// controller the leases of the others.
import { setTimeout as sleep } from 'node:timers/promises';
import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { HeldLease } from '../api/leases.ts';
import { conflict, Failure, ignore, messageOf } from '../failures.ts';
import { Admissions } from './admissions.ts';
import type { ClusterLog } from './cluster-log.ts';
import { addressToward, connectMember } from './connection.ts';
import type { HostCalls } from './host-calls.ts';
import type { Hosts } from './hosts.ts';
import type { ClusterFiles, Membership } from './layout.ts';
import { type Lease, LeaseWatch, leasesOf, ownEntry, RENEWAL_MS, renewLease } from './leases.ts';
import { completeKeys, reloadNats, serverCounts, writeConfiguration } from './registry.ts';
import { replacedBy, requireRegistrar, serveRegistry, updateCopy } from './registry-copies.ts';
import type { FrameRelay } from './relay.ts';
import { raiseReplicas } from './replicas.ts';
import type { Succession } from './succession.ts';

/** How long (ms) until the next attempt to take part, after a failed one. */
const AGAIN_MS = 2_000;
/** How long (ms) to wait at one NATS server until most of them run. */
const MAJORITY_MS = 30_000;

/** What the server does for its part in the cluster. */
export interface ParticipationEvents {
  /** What the lease says of this host. */
  describe: () => Promise<Omit<Lease, 'id' | 'run' | 'name' | 'address' | 'outside_address' | 'runs_nats' | 'standby'>>;
  /** This host's lease was renewed: since when that was tried, and whether it had been held until then. */
  renewed: (since: number, isContinued: boolean) => void;
  /** A host holds a lease, this one included; called again with every renewal. */
  held: (lease: HeldLease) => void;
}

export interface ParticipationParts {
  files: ClusterFiles;
  /** Of this host's running server. */
  run: string;
  log: ClusterLog;
  events: ParticipationEvents;
  hosts: Hosts;
  calls: HostCalls;
  relay: FrameRelay;
  /** Of hosts that take turns at being the controller. */
  succession: Succession | undefined;
}

export class Participation {
  readonly #parts: ParticipationParts;
  #membership: Membership;
  readonly #admissions: Admissions;
  readonly #ending = new AbortController();
  #leave: (() => Promise<void>) | undefined;
  /** From which NATS sees this host. */
  #outsideAddress: string | undefined;
  #reason = '';
  #isAsking = false;
  #maintaining: Promise<void> | undefined;
  /** Names of hosts that were reported because their leases have the id of another host. */
  readonly #taken = new Set<string>();
  /** Sessions that ended. A server of NATS that does not answer is passed over by the next one. */
  #sessions = 0;

  constructor(membership: Membership, parts: ParticipationParts) {
    this.#parts = parts;
    this.#membership = membership;
    const { files, log } = parts;
    this.#admissions = new Admissions({ files, membership: () => this.#membership, log });
  }

  /** Takes a host out of the cluster. @throws Failure */
  async forget(name: string): Promise<void> {
    await this.#admissions.forget(name);
  }

  /** Ends this host's lease, so that others need not wait for that. */
  async leave(): Promise<void> {
    await this.#leave?.();
  }

  /** Takes no part any more. */
  end(): void {
    this.#ending.abort();
  }

  /** Takes part until `end`, and again after each failure. */
  async run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await this.#session();
      } catch (error) {
        this.#report(messageOf(error));
      }
      this.#sessions += 1;
      this.#parts.calls.break('the connection to NATS ended');
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
    }
  }

  #report(reason: string): void {
    if (reason !== this.#reason && !this.#ending.signal.aborted)
      this.#parts.log.warn('this host does not take part in the cluster', { reason });
    this.#reason = reason;
  }

  async #session(): Promise<void> {
    const { files, calls, relay, succession, run, log } = this.#parts;
    const { host, controller, cluster } = this.#membership;
    const nats = await connectMember(files, this.#membership, {}, this.#sessions);
    try {
      calls.nats = nats;
      void this.#follow(nats);
      if (controller) {
        await requireRegistrar(nats, files, host);
        // An older release wrote other permissions, and had fewer keys.
        await completeKeys(files);
        if (await writeConfiguration(files, this.#membership)) await reloadNats(files);
        this.#admissions.serve(nats);
        serveRegistry(nats, { files, host, log });
      }
      const leases = await this.#openLeases(nats);
      const address = await addressToward(nats.getServer());
      // With the lease the controller begins to send, so that the host listens before.
      await ownEntry(leases, { name: host, run });
      calls.serve(nats);
      relay.hear(nats);
      await nats.flush();
      await this.#renew(nats, leases, address);
      const watch = controller || succession ? await this.#watch(leases) : undefined;
      try {
        this.#reach(nats);
        await calls.findController(nats);
        this.#leave = async () => void (await leases.delete(host));
        this.#reason = '';
        log.info('this host takes part in the cluster', { cluster, host });
        await Promise.all([this.#keep({ nats, leases, address, watch }), succession?.run(nats)]);
      } finally {
        watch?.stop();
        this.#leave = undefined;
      }
    } finally {
      calls.nats = undefined;
      this.#reach(undefined);
      await nats.close();
      await this.#maintaining;
    }
  }

  /** Waits for most of the NATS servers. The connection stays: without it the hosts that are to run the others could not join. */
  async #openLeases(nats: NatsConnection): Promise<KV> {
    const { signal } = this.#ending;
    const deadline = performance.now() + MAJORITY_MS;
    for (;;) {
      try {
        return await leasesOf(nats, this.#membership.controller);
      } catch (error) {
        const failure = await this.#leaseFailure(error);
        if (nats.isClosed() || signal.aborted || performance.now() > deadline) throw failure;
        this.#report(messageOf(failure));
        await sleep(AGAIN_MS, undefined, { signal });
      }
    }
  }

  async #leaseFailure(error: unknown): Promise<unknown> {
    const { wanted, found } = await serverCounts(this.#parts.files);
    if (wanted === 1) return error;
    return conflict(
      `most of the cluster's NATS servers must run: ${found} of ${wanted} hosts have joined with "--storage" (${messageOf(error)})`,
    );
  }

  /** Renews the lease until the connection is closed. Failures of NATS are waited for; @throws Failure if another host holds the name */
  async #keep({
    nats,
    leases,
    address,
    watch,
  }: {
    nats: NatsConnection;
    leases: KV;
    address: string;
    watch: LeaseWatch | undefined;
  }): Promise<void> {
    const { signal } = this.#ending;
    const closed = nats.closed();
    while (!nats.isClosed() && !signal.aborted) {
      await Promise.race([closed, sleep(RENEWAL_MS, undefined, { signal }).catch(() => {})]);
      if (nats.isClosed() || signal.aborted) return;
      // The list is read again with the next renewal.
      if (this.#membership.controller) await this.#parts.hosts.forgetRemoved().catch(ignore);
      // Not awaited: the lease must be renewed meanwhile.
      void this.#parts.calls.findController(nats);
      void this.#endIfReplaced(nats);
      const isRenewed = await this.#renew(nats, leases, address).then(
        () => true,
        (error: unknown) => {
          if (error instanceof Failure) throw error;
          // NATS is away for now; the connection is made again by its client.
          return false;
        },
      );
      // Both are tried again with the next renewal.
      await watch?.check(isRenewed).catch(() => {});
      // Not awaited, as a NATS that has just died is asked for seconds.
      if (isRenewed)
        this.#maintaining ??= this.#maintain(nats)
          .catch(ignore)
          .finally(() => {
            this.#maintaining = undefined;
          });
    }
  }

  /** The NATS of a host that comes back may reach the others only after its server has begun to take part. The next session says the reason. */
  async #endIfReplaced(nats: NatsConnection): Promise<void> {
    const { controller, host } = this.#membership;
    if (!controller || this.#isAsking) return;
    this.#isAsking = true;
    try {
      if ((await replacedBy(nats, this.#parts.files, host)) !== undefined) await nats.close();
    } catch {
      // It is asked again with the next renewal.
    } finally {
      this.#isAsking = false;
    }
  }

  /** Keeps up with the NATS servers that have come and gone. */
  async #maintain(nats: NatsConnection): Promise<void> {
    const { controller, server, servers, existing } = this.#membership;
    if (existing) {
      // Three copies are what its administrator was asked for.
      if (controller) await raiseReplicas(nats, { found: Math.min(3, nats.info?.connect_urls?.length ?? 1) });
      return;
    }
    if (controller) await raiseReplicas(nats, await serverCounts(this.#parts.files));
    else if (server !== undefined)
      await this.#parts.hosts.forgetRemoved(() => updateCopy(nats, this.#parts.files, this.#membership));
    // NATS says only those that run.
    const found = nats.info?.connect_urls?.toSorted() ?? [];
    if (found.length < 2 || found.join() === servers.toSorted().join()) return;
    await this.#parts.files.setServers(found);
    this.#membership = { ...this.#membership, servers: found };
  }

  async #renew(nats: NatsConnection, leases: KV, address: string): Promise<void> {
    const { run, succession, events } = this.#parts;
    const { id, host: name } = this.#membership;
    // While the client connects again it knows nothing of the server.
    this.#outsideAddress = nats.info?.client_ip ?? this.#outsideAddress;
    const outside_address = this.#outsideAddress ?? address;
    const runs_nats = this.#membership.server !== undefined;
    const said = await events.describe();
    const since = performance.now();
    const standby = succession && ({ standby: succession.isReady ? 'ready' : 'waiting' } as const);
    const lease = { ...said, ...standby, id, run, name, address, outside_address, runs_nats };
    events.renewed(since, await renewLease(leases, lease));
  }

  /** @param nats undefined while NATS cannot be reached */
  #reach(nats: NatsConnection | undefined): void {
    const { relay, calls, hosts, succession } = this.#parts;
    relay.carrier = nats;
    for (const part of [calls, hosts, succession]) if (part) part.isReached = nats !== undefined;
  }

  async #follow(nats: NatsConnection): Promise<void> {
    for await (const { type } of nats.status()) {
      if (type === 'disconnect') {
        // Messages may be lost meanwhile.
        this.#parts.calls.break('the connection to NATS was lost');
        this.#reach(undefined);
        if (!this.#ending.signal.aborted) this.#parts.log.warn('the connection to NATS was lost; running nodes go on');
      } else if (type === 'reconnect') {
        this.#reach(nats);
        this.#parts.log.info('connected to NATS again');
      }
    }
  }

  async #watch(leases: KV): Promise<LeaseWatch> {
    const { files, hosts, events } = this.#parts;
    const { id: own, host, existing, controller } = this.#membership;
    const watch = new LeaseWatch(leases, {
      held: ({ id, name, address, outside_address: outsideAddress = address, port, ...lease }) => {
        const isThisHost = name === host;
        if (isThisHost !== (id === own) || hosts.isTaken({ id, name })) {
          this.#reportTaken(name);
          return;
        }
        const { outside_closes_after_seconds: seconds, outside_closed: isOutsideClosed = false } = lease;
        const outside = { outsideLimitMs: seconds === undefined ? undefined : seconds * 1_000, isOutsideClosed };
        const role = { standby: lease.standby, runsNats: lease.runs_nats === true };
        const found = (): void => {
          if (!isThisHost) hosts.held({ id, name });
          events.held({ id, name, address, outsideAddress, port, isThisHost, ...outside, ...role });
        };
        // A forgotten host still has the credentials; only the host of `init` knows those that are in the cluster.
        if (!existing || !controller) found();
        else void files.hosts().then((known) => known.some((one) => one.id === id) && found(), ignore);
      },
      ended: (name) => hosts.ended(name),
    });
    await watch.start();
    return watch;
  }

  #reportTaken(name: string): void {
    if (this.#taken.has(name)) return;
    this.#taken.add(name);
    this.#parts.log.warn('a host says that it is another one; it takes no part', { host: name });
  }
}
