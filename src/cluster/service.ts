// The cluster of a running server: what the other parts of the server ask of it.
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { conflict, ignore, unavailable } from '../failures.ts';
import type { ClusterLog } from './cluster-log.ts';
import { HostCalls } from './host-calls.ts';
import { type HostEvents, Hosts, type NamedHost } from './hosts.ts';
import { ClusterFiles, type Membership } from './layout.ts';
import { type Lease, readLeases } from './leases.ts';
import { serverIdOf } from './nats-configuration.ts';
import { isJoined } from './nats-users.ts';
import { fetchObject, type Objects, objectsOf } from './objects.ts';
import { Participation, type ParticipationEvents } from './participation.ts';
import { FrameRelay } from './relay.ts';
import { type FileListing, type Restored, type Shared, SharedFiles } from './shared-files.ts';
import { Succession, type Successor } from './succession.ts';

const NO_STANDBY =
  'No other host can be the controller: let one join with --standby, and restart labwired on the host of "init".';

export interface ClusterParts extends ParticipationEvents {
  state: string;
  /** `name` of section `[Cluster]`: the only cluster in which this host may take part; empty for the one that it joined. */
  cluster: string;
  log: ClusterLog;
  /** Serves a stream as a connection of HTTP to this host's compute. */
  accept: (stream: Duplex) => void;
  /** Serves a stream as a connection of clients that another host passes on. */
  acceptClient: (stream: Duplex, host: string) => void;
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
  /** Keeps files for the next controller; returns the paths of those that are too large. */
  keepFiles(listing: FileListing, shared: readonly Shared[]): Promise<string[]>;
  /** Forgets the files that are kept and belong to none of these, such as those of a deleted lab. */
  forgetFiles(listing: FileListing, shared: () => Promise<readonly Shared[]>): Promise<void>;
  /** Removes from NATS what no file has that is kept; returns false while files are being kept. */
  sweepFiles(listing: FileListing): Promise<boolean>;
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
    throw conflict(
      `[Cluster] name = ${parts.cluster}: this host joined the cluster "${membership.cluster}". Correct the name, or run "labwired cluster leave" and join again.`,
    );
  }
  const known = membership.controller ? (await files.hosts()).filter(({ id }) => id !== membership.id) : [];
  const service = new Service(parts, files, membership, known);
  service.begin();
  return service;
}

class Service implements Cluster {
  readonly #parts: ClusterParts;
  /** Which host of which cluster this is. */
  readonly #membership: Membership;
  readonly #run = randomUUID();
  readonly #hosts: Hosts;
  readonly #calls: HostCalls;
  readonly relay: FrameRelay;
  readonly known: readonly NamedHost[];
  readonly #shared: SharedFiles;
  readonly #succession: Succession | undefined;
  readonly #participation: Participation;

  constructor(parts: ClusterParts, files: ClusterFiles, membership: Membership, known: readonly NamedHost[]) {
    this.#parts = parts;
    this.#membership = membership;
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
    this.#participation = new Participation(membership, {
      ...{ files, run: this.#run, log, events: parts },
      ...{ hosts: this.#hosts, calls: this.#calls, relay: this.relay, succession: this.#succession },
    });
  }

  begin(): void {
    void this.#participation.run();
  }

  get isController(): boolean {
    return this.#calls.isController;
  }

  get isCertain(): boolean {
    return this.#succession?.isCertain === true;
  }

  async next(to?: string): Promise<Lease> {
    if (!this.#succession || !this.isController) throw conflict(NO_STANDBY);
    const nats = this.#requireNats();
    const leases = await readLeases(nats);
    const candidates = leases.filter(({ name, standby }) => name !== this.#membership.host && standby !== undefined);
    // One that is being drained is to have no part in the cluster, unless it is named.
    const others = candidates.filter(({ name }) => name === to || !this.#parts.isDraining(name));
    if (to !== undefined && !others.some(({ name }) => name === to))
      throw conflict(
        `${to} cannot be the controller: choose one of ${others.map(({ name }) => name).join(', ') || 'no host'}, which hold a lease and stand by.`,
      );
    const ready = others.find(({ name, standby }) => standby === 'ready' && name === (to ?? name));
    if (ready) return ready;
    if (others.length > 0) throw conflict(`${to ?? 'No other host'} has not read the whole log yet: try again.`);
    const drained = candidates.map(({ name }) => name).join(', ');
    throw conflict(
      drained === '' ? NO_STANDBY : `Only hosts that are being drained stand by (${drained}): undrain one, or name it.`,
    );
  }

  get name(): string {
    return this.#membership.cluster;
  }

  async forget(name: string): Promise<void> {
    if (!this.#membership.controller)
      throw conflict(
        `compute_id: only the host of "labwired cluster init" can forget hosts: run "labwired cluster forget ${name}" there.`,
      );
    await this.#participation.forget(name);
  }

  async handOver(to?: string): Promise<string> {
    const { id, name, run } = await this.next(to);
    await this.#succession?.handOver({ id, name, run });
    return name;
  }

  expect(hosts: readonly NamedHost[]): void {
    for (const host of hosts) if (host.id !== this.#membership.id) this.#hosts.expect(host);
  }

  async keepFiles(listing: FileListing, shared: readonly Shared[]): Promise<string[]> {
    return this.#shared.keep(await this.#objects(), listing, shared);
  }

  async forgetFiles(listing: FileListing, shared: () => Promise<readonly Shared[]>): Promise<void> {
    await this.#shared.forget(() => this.#objects(), listing, shared);
  }

  async sweepFiles(listing: FileListing): Promise<boolean> {
    return this.#shared.sweep(await this.#objects(), listing, () => this.isCertain);
  }

  async restoreFiles(listing: FileListing, restored?: Restored): Promise<void> {
    const fetch = (name: string, limit: number) => fetchObject(this.#requireNats(), name, limit);
    await this.#shared.restore(fetch, listing, restored);
  }

  #requireNats(): NatsConnection {
    const { nats } = this.#calls;
    if (!nats) throw unavailable('NATS is not reached.');
    return nats;
  }

  async #objects(): Promise<Objects> {
    return objectsOf(this.#requireNats());
  }

  sendAudit(line: object): void {
    this.#succession?.sendAudit(line);
  }

  async settled(): Promise<void> {
    await this.#succession?.settled();
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

  dial(host: string): Duplex {
    return this.#calls.dial(host);
  }

  dialController(): Duplex {
    return this.#calls.dialController();
  }

  async stop(): Promise<void> {
    this.#calls.endClients();
    // Others need not wait for the end of the lease.
    const left = Promise.all([this.#participation.leave(), this.#succession?.resign()]).catch(ignore);
    await Promise.race([left, sleep(500)]);
    this.#participation.end();
    await this.#succession?.stop();
    this.relay.stop();
    this.#calls.break('the server stops');
    await this.#calls.nats?.close();
  }
}
