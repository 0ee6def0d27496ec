// The cluster's part of a running server: keeps the connection to NATS and this host's lease, and on the controller follows the leases of the
// others.
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KV } from '@nats-io/kv';
import type { ObjectStore } from '@nats-io/obj';
import type { NatsConnection } from '@nats-io/transport-node';
import type { HeldLease } from '../api/leases.ts';
import { Failure, ignore, messageOf } from '../failures.ts';
import { Admissions } from './admissions.ts';
import type { ClusterLog } from './cluster-log.ts';
import { addressToward, connectMember } from './connection.ts';
import { HostCalls } from './host-calls.ts';
import { type HostEvents, Hosts, type NamedHost } from './hosts.ts';
import { ClusterFiles, type Membership } from './layout.ts';
import { type Lease, LeaseWatch, leasesOf, ownEntry, RENEWAL_MS, readLeases, renewLease } from './leases.ts';
import { serverIdOf } from './nats-configuration.ts';
import { isJoined } from './nats-users.ts';
import { fetchObject, objectsOf } from './objects.ts';
import { completeKeys, reloadNats, serverCounts, writeConfiguration } from './registry.ts';
import { replacedBy, requireRegistrar, serveRegistry, updateCopy } from './registry-copies.ts';
import { FrameRelay } from './relay.ts';
import { raiseReplicas } from './replicas.ts';
import { type FileListing, type Restored, type Shared, SharedFiles } from './shared-files.ts';
import { Succession, type Successor } from './succession.ts';

/** How long (ms) until the next attempt to take part, after a failed one. */
const AGAIN_MS = 2_000;
/** How long (ms) to wait at one NATS server until most of them run. */
const MAJORITY_MS = 30_000;
const NO_STANDBY =
  'No other host can be the controller: let one join with --standby, and restart labwired on the host of "init".';

export interface ClusterParts {
  state: string;
  /** `name` of section `[Cluster]`: the only cluster in which this host may take part; empty for the one that it joined. */
  cluster: string;
  log: ClusterLog;
  /** What the lease says of this host. */
  describe: () => Promise<Omit<Lease, 'id' | 'run' | 'name' | 'address' | 'outside_address' | 'runs_nats' | 'standby'>>;
  /** This host's lease was renewed: since when that was tried, and whether it had been held until then. */
  renewed: (since: number, isContinued: boolean) => void;
  /** Serves a stream as a connection of HTTP to this host's compute. */
  accept: (stream: Duplex) => void;
  /** Serves a stream as a connection of clients that another host passes on. */
  acceptClient: (stream: Duplex, host: string) => void;
  /** A host holds a lease, this one included; called again with every renewal. */
  held: (lease: HeldLease) => void;
  /** How long a host has held no lease, while this one was connected to NATS, until `absent` is called; 0: never. */
  failoverMs: number;
  absent: HostEvents['absent'];
  /** It is in the cluster no more. */
  forgotten: HostEvents['forgotten'];
  /** Whether a host is being drained, as the controller knows it. */
  isDraining: (host: string) => boolean;
  /** Directories outside of the state directory that may have files of labs. */
  roots?: readonly string[];
  /** Given on hosts that take turns at being the controller. */
  successor?: Successor | undefined;
}

export interface Cluster {
  readonly name: string;
  /** Hosts that may hold a lease, other than this one. Empty on hosts that are not the controller. */
  known: readonly NamedHost[];
  /** A connection to the compute of a host; fails at once if that holds no lease. */
  dial(host: string): Duplex;
  readonly isController: boolean;
  /** A connection to the controller, for clients of this host. @throws Error with the reason if there is none */
  dialController(): Duplex;
  readonly relay: FrameRelay;
  /** Whether this host is the controller for certain, where hosts take turns. */
  readonly isCertain: boolean;
  /**
   * The host that can be the controller next.
   * @throws Failure `conflict` with the reason if there is none, or not this one
   */
  next(to?: string): Promise<Lease>;
  /** Takes a host out of the cluster. @throws Failure */
  forget(name: string): Promise<void>;
  /** Makes it the controller; returns its name. */
  handOver(to?: string): Promise<string>;
  /** This host is the controller now: those of these hosts that hold no lease are absent after a while. */
  expect(hosts: readonly NamedHost[]): void;
  /** Keeps files for the next controller; returns how many are too large. */
  keepFiles(listing: FileListing, shared: readonly Shared[]): Promise<number>;
  /** Forgets the files that are kept and belong to none of these, such as those of a deleted lab. */
  forgetFiles(listing: FileListing, shared: () => Promise<readonly Shared[]>): Promise<void>;
  /** Makes the files of labs here as the last controller kept them. */
  restoreFiles(listing: FileListing, restored?: Restored): Promise<void>;
  /** A line of the audit trail that this host has noted as the controller. */
  sendAudit(line: object): void;
  /** This host does not become the controller any more; resolves when it neither becomes it nor stops being it. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** Whether this host takes turns with others at being the controller. */
export async function takesTurns(state: string): Promise<boolean> {
  const files = new ClusterFiles(state);
  const membership = await files.membership();
  return membership !== undefined && files.takesTurns(membership);
}

/** Whether this host is the controller as long as it is in its cluster. */
export async function isFixedController(state: string): Promise<boolean> {
  const { controller } = await new ClusterFiles(state).member();
  return controller && !(await takesTurns(state));
}

/** @throws Failure `conflict` if this host is in no cluster, or in another one than its configuration says */
export async function startCluster(parts: ClusterParts): Promise<Cluster> {
  const files = new ClusterFiles(parts.state);
  const membership = await files.member();
  if (parts.cluster !== '' && membership.cluster !== parts.cluster) {
    throw new Failure(
      'conflict',
      `[Cluster] name = ${parts.cluster}: this host joined the cluster "${membership.cluster}". Correct the name, or run "labwired cluster leave" and join again.`,
    );
  }
  const known = membership.controller ? (await files.hosts()).filter(({ id }) => id !== membership.id) : [];
  const service = new Service(parts, files, membership, known);
  void service.run();
  return service;
}

class Service implements Cluster {
  readonly #parts: ClusterParts;
  readonly #files: ClusterFiles;
  #membership: Membership;
  readonly #run = randomUUID();
  readonly #ending = new AbortController();
  readonly #hosts: Hosts;
  readonly #calls: HostCalls;
  readonly relay: FrameRelay;
  readonly known: readonly NamedHost[];
  readonly #shared: SharedFiles;
  readonly #succession: Succession | undefined;
  #leave: (() => Promise<void>) | undefined;
  /** From which NATS sees this host. */
  #outsideAddress: string | undefined;
  #reason = '';
  #isAsking = false;
  /** Names of hosts that were reported because their leases have the id of another host. */
  readonly #taken = new Set<string>();
  /** Sessions that ended. A server of NATS that does not answer is passed over by the next one. */
  #sessions = 0;
  readonly #admissions: Admissions;

  constructor(parts: ClusterParts, files: ClusterFiles, membership: Membership, known: readonly NamedHost[]) {
    this.#parts = parts;
    this.#files = files;
    this.#membership = membership;
    this.#admissions = new Admissions({ files, membership: () => this.#membership, log: parts.log });
    this.known = known;
    const { state, roots = [] } = parts;
    this.#shared = new SharedFiles({ state, roots, directory: files.path('replica') });
    this.relay = new FrameRelay(membership.host, !membership.existing && isJoined(membership));
    this.#hosts = new Hosts(files, known, this.#hostEvents(), parts.failoverMs);
    const { id, host: name } = membership;
    const { log, successor, accept, acceptClient } = parts;
    this.#calls = new HostCalls(
      {
        ...{ host: name, run: this.#run, accept, acceptClient },
        holds: (host) => this.#hosts.holds(host),
        isCertain: () => this.#succession?.isCertain ?? true,
        handOver: (to) => this.handOver(to),
      },
      membership.controller && !successor,
    );
    if (successor)
      this.#succession = new Succession({
        ...{ log, directory: files.path('replica'), own: { id, name, run: this.#run } },
        server: membership.server === undefined ? undefined : serverIdOf(membership.cluster, name),
        successor: {
          ...successor,
          begin: membership.controller ? successor.begin : undefined,
          lead: async (database, own) => {
            this.#calls.lead();
            await successor.lead(database, own);
            this.#calls.answerClients();
          },
          step: async (isOrderly) => {
            this.#calls.endClients();
            try {
              await successor.step(isOrderly);
            } finally {
              this.#calls.follow();
            }
          },
        },
      });
  }

  get isController(): boolean {
    return this.#calls.isController;
  }

  get isCertain(): boolean {
    return this.#succession?.isCertain === true;
  }

  async next(to?: string): Promise<Lease> {
    if (!this.#succession || !this.isController) throw new Failure('conflict', NO_STANDBY);
    const nats = this.#requireNats();
    const leases = await readLeases(nats);
    const candidates = leases.filter(({ name, standby }) => name !== this.#membership.host && standby !== undefined);
    // One that is being drained is to have no part in the cluster, unless it is named.
    const others = candidates.filter(({ name }) => name === to || !this.#parts.isDraining(name));
    if (to !== undefined && !others.some(({ name }) => name === to))
      throw new Failure(
        'conflict',
        `${to} cannot be the controller: choose one of ${others.map(({ name }) => name).join(', ') || 'no host'}, which hold a lease and stand by.`,
      );
    const ready = others.find(({ name, standby }) => standby === 'ready' && name === (to ?? name));
    if (ready) return ready;
    if (others.length > 0)
      throw new Failure('conflict', `${to ?? 'No other host'} has not read the whole log yet: try again.`);
    const drained = candidates.map(({ name }) => name).join(', ');
    throw new Failure(
      'conflict',
      drained === '' ? NO_STANDBY : `Only hosts that are being drained stand by (${drained}): undrain one, or name it.`,
    );
  }

  get name(): string {
    return this.#membership.cluster;
  }

  async forget(name: string): Promise<void> {
    if (!this.#membership.controller)
      throw new Failure(
        'conflict',
        `compute_id: only the host of "labwired cluster init" can forget hosts: run "labwired cluster forget ${name}" there.`,
      );
    await this.#admissions.forget(name);
  }

  async handOver(to?: string): Promise<string> {
    const { id, name, run } = await this.next(to);
    await this.#succession?.handOver({ id, name, run });
    return name;
  }

  expect(hosts: readonly NamedHost[]): void {
    for (const host of hosts) if (host.id !== this.#membership.id) this.#hosts.expect(host);
  }

  async keepFiles(listing: FileListing, shared: readonly Shared[]): Promise<number> {
    return this.#shared.keep(await this.#objects(), listing, shared);
  }

  async forgetFiles(listing: FileListing, shared: () => Promise<readonly Shared[]>): Promise<void> {
    await this.#shared.forget(() => this.#objects(), listing, shared);
  }

  async restoreFiles(listing: FileListing, restored?: Restored): Promise<void> {
    const fetch = (name: string, limit: number) => fetchObject(this.#requireNats(), name, limit);
    await this.#shared.restore(fetch, listing, restored);
  }

  #requireNats(): NatsConnection {
    const { nats } = this.#calls;
    if (!nats) throw new Failure('unavailable', 'NATS is not reached.');
    return nats;
  }

  async #objects(): Promise<ObjectStore> {
    return objectsOf(this.#requireNats());
  }

  sendAudit(line: object): void {
    this.#succession?.sendAudit(line);
  }

  async settled(): Promise<void> {
    await this.#succession?.settled();
  }

  /** Whether this host is the controller, or may be. */
  get #mayControl(): boolean {
    return this.#membership.controller || this.#succession !== undefined;
  }

  #hostEvents(): HostEvents {
    const { log, absent, forgotten } = this.#parts;
    return {
      came: ({ name }) => log.info('a host holds its lease', { host: name }),
      lost: ({ name }) => {
        log.warn('the lease of a host has ended', { host: name });
        this.#calls.break('its lease has ended', (host) => host === name);
      },
      absent: (host) => {
        log.warn('a host is gone; others run its nodes', { host: host.name });
        absent(host);
      },
      forgotten: (host) => {
        log.info('a host is in the cluster no more', { host: host.name });
        this.#calls.break('it was forgotten', (name) => name === host.name);
        forgotten(host);
      },
    };
  }

  /** Takes part until `stop`, and again after each failure. */
  async run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await this.#session();
      } catch (error) {
        this.#report(messageOf(error));
      }
      this.#sessions += 1;
      this.#calls.break('the connection to NATS ended');
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
    }
  }

  #report(reason: string): void {
    if (reason !== this.#reason && !this.#ending.signal.aborted)
      this.#parts.log.warn('this host does not take part in the cluster', { reason });
    this.#reason = reason;
  }

  async #session(): Promise<void> {
    const { host, controller, cluster } = this.#membership;
    const nats = await connectMember(this.#files, this.#membership, {}, this.#sessions);
    try {
      this.#calls.nats = nats;
      void this.#follow(nats);
      if (controller) {
        await requireRegistrar(nats, this.#files, host);
        // An older release wrote other permissions, and had fewer keys.
        await completeKeys(this.#files);
        if (await writeConfiguration(this.#files, this.#membership)) await reloadNats(this.#files);
        this.#admissions.serve(nats);
        serveRegistry(nats, this.#files, host);
      }
      const leases = await this.#openLeases(nats);
      const address = await addressToward(nats.getServer());
      // With the lease the controller begins to send, so that the host listens before.
      await ownEntry(leases, { name: host, run: this.#run });
      this.#calls.serve(nats);
      this.relay.hear(nats);
      await nats.flush();
      await this.#renew(nats, leases, address);
      const watch = this.#mayControl ? await this.#watch(leases) : undefined;
      try {
        this.#reach(nats);
        await this.#calls.findController(nats);
        this.#leave = async () => void (await leases.delete(host));
        this.#reason = '';
        this.#parts.log.info('this host takes part in the cluster', { cluster, host });
        await Promise.all([this.#keep({ nats, leases, address, watch }), this.#succession?.run(nats)]);
      } finally {
        watch?.stop();
        this.#leave = undefined;
      }
    } finally {
      this.#calls.nats = undefined;
      this.#reach(undefined);
      await nats.close();
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
    const { wanted, found } = await serverCounts(this.#files);
    if (wanted === 1) return error;
    return new Failure(
      'conflict',
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
      if (this.#membership.controller) await this.#hosts.forgetRemoved().catch(ignore);
      // Not awaited: the lease must be renewed meanwhile.
      void this.#calls.findController(nats);
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
      if (isRenewed) await this.#maintain(nats).catch(() => {});
    }
  }

  /**
   * The NATS of a host that comes back may reach the others only after its server has begun to take part. The next session says the reason.
   */
  async #endIfReplaced(nats: NatsConnection): Promise<void> {
    const { controller, host } = this.#membership;
    if (!controller || this.#isAsking) return;
    this.#isAsking = true;
    try {
      if ((await replacedBy(nats, this.#files, host)) !== undefined) await nats.close();
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
    if (controller) await raiseReplicas(nats, await serverCounts(this.#files));
    else if (server !== undefined) await updateCopy(nats, this.#files, this.#membership);
    // NATS says only those that run.
    const found = nats.info?.connect_urls?.toSorted() ?? [];
    if (found.length < 2 || found.join() === servers.toSorted().join()) return;
    await this.#files.setServers(found);
    this.#membership = { ...this.#membership, servers: found };
  }

  async #renew(nats: NatsConnection, leases: KV, address: string): Promise<void> {
    const { id, host: name } = this.#membership;
    // While the client connects again it knows nothing of the server.
    this.#outsideAddress = nats.info?.client_ip ?? this.#outsideAddress;
    const outside_address = this.#outsideAddress ?? address;
    const runs_nats = this.#membership.server !== undefined;
    const said = await this.#parts.describe();
    const since = performance.now();
    const standby = this.#succession && ({ standby: this.#succession.isReady ? 'ready' : 'waiting' } as const);
    const lease = { ...said, ...standby, id, run: this.#run, name, address, outside_address, runs_nats };
    this.#parts.renewed(since, await renewLease(leases, lease));
  }

  /** @param nats undefined while NATS cannot be reached */
  #reach(nats: NatsConnection | undefined): void {
    this.relay.carrier = nats;
    this.#calls.isReached = nats !== undefined;
    this.#hosts.isReached = nats !== undefined;
    if (this.#succession) this.#succession.isReached = nats !== undefined;
  }

  async #follow(nats: NatsConnection): Promise<void> {
    for await (const { type } of nats.status()) {
      if (type === 'disconnect') {
        // Messages may be lost meanwhile.
        this.#calls.break('the connection to NATS was lost');
        this.#reach(undefined);
        if (!this.#ending.signal.aborted) this.#parts.log.warn('the connection to NATS was lost; running nodes go on');
      } else if (type === 'reconnect') {
        this.#reach(nats);
        this.#parts.log.info('connected to NATS again');
      }
    }
  }

  dial(host: string): Duplex {
    return this.#calls.dial(host);
  }

  dialController(): Duplex {
    return this.#calls.dialController();
  }

  async #watch(leases: KV): Promise<LeaseWatch> {
    const { id: own, host, existing, controller } = this.#membership;
    const watch = new LeaseWatch(leases, {
      held: ({ id, name, address, outside_address: outsideAddress = address, port, ...lease }) => {
        const isThisHost = name === host;
        if (isThisHost !== (id === own) || this.#hosts.isTaken({ id, name })) {
          this.#reportTaken(name);
          return;
        }
        const { outside_closes_after_seconds: seconds, outside_closed: isOutsideClosed = false } = lease;
        const outside = { outsideLimitMs: seconds === undefined ? undefined : seconds * 1_000, isOutsideClosed };
        const role = { standby: lease.standby, runsNats: lease.runs_nats === true };
        const found = (): void => {
          if (!isThisHost) this.#hosts.held({ id, name });
          this.#parts.held({ id, name, address, outsideAddress, port, isThisHost, ...outside, ...role });
        };
        // A forgotten host still has the credentials; only the host of `init` knows those that are in the cluster.
        if (!existing || !controller) found();
        else void this.#files.hosts().then((hosts) => hosts.some((host) => host.id === id) && found(), ignore);
      },
      ended: (name) => this.#hosts.ended(name),
    });
    await watch.start();
    return watch;
  }

  #reportTaken(name: string): void {
    if (this.#taken.has(name)) return;
    this.#taken.add(name);
    this.#parts.log.warn('a host says that it is another one; it takes no part', { host: name });
  }

  async stop(): Promise<void> {
    this.#calls.endClients();
    // Others need not wait for the end of the lease.
    const left = Promise.all([this.#leave?.(), this.#succession?.resign()]).catch(ignore);
    await Promise.race([left, sleep(500)]);
    this.#ending.abort();
    await this.#succession?.stop();
    this.relay.stop();
    this.#calls.break('the server stops');
    await this.#calls.nats?.close();
  }
}
