// The computes of the controller: the one of this process, `local`, and registered ones (as in release 2.2.57).
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Duplex } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import type { HeldLease } from '../../api/leases.ts';
import type { ComputeObject, HostLoad } from '../../api/objects.ts';
import { AUTO_ID } from '../../api/placement.ts';
import { type ComputeCreate, type ComputeUpdate, StoredCompute } from '../../api/routes/computes.ts';
import type { TopologyCompute } from '../../api/topology.ts';
import type { Config } from '../../config/schema.ts';
import { conflict, ignore, invalid, messageOf, notFound } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import type { Documents } from '../../store/documents.ts';
import type { Announcer } from '../events.ts';
import { mustBeAddress } from './address.ts';
import { autoObject } from './automatic.ts';
import { Compute, type ComputeDescription, type ComputeListener, type Place } from './compute.ts';
import { RemoteTransport } from './remote.ts';
import { type ComputeTransport, ComputeUnreachable } from './transport.ts';

/** Ids that only the server assigns, and the name that the release reserves for its own virtual machine. */
const RESERVED_IDS = ['local', 'vm', AUTO_ID];
/** Ids that cannot be addressed: clients and libraries remove them from paths. */
const UNADDRESSABLE_IDS = ['', '.', '..'];
const RESERVED_NAME = 'gns3vm';

/** Characters of the user in a generated name. */
const USER_CHARACTERS = 14;

/** A host of the cluster, as last seen. */
export type Member = Place & Pick<HeldLease, 'id' | 'port'>;

export interface ComputesOptions {
  config: Config;
  documents: Documents;
  announcer: Announcer;
  listener: Pick<ComputeListener, 'announced' | 'joined' | 'lost'>;
  /** Closes the open projects that have nodes there. */
  closeProjects: (compute: Compute) => Promise<void>;
}

export class Computes {
  readonly #computes = new Map<string, Compute>();
  readonly #passwords = new WeakMap<Compute, string | null>();
  /** Ids of hosts of the cluster. */
  readonly #members = new Set<string>();
  readonly #lock = new KeyedLock();
  readonly #options: ComputesOptions;
  readonly #listener: ComputeListener;
  /** Ids of hosts of the cluster that were being drained before the start of this server, and are not known yet. */
  readonly #drainedMembers = new Set<string>();
  /** The id of this host in its cluster, where another host may have been the controller before and called it so. */
  #hostId: string | undefined;
  /** `auto` as it was last announced. */
  #announcedAuto: ComputeObject | undefined;

  constructor(options: ComputesOptions) {
    this.#options = options;
    this.#listener = {
      ...options.listener,
      changed: (compute) => this.#announce('compute.updated', compute),
    };
  }

  #announce(action: 'compute.created' | 'compute.updated' | 'compute.deleted', compute: Compute): void {
    this.#options.announcer.controller.emit(action, compute.json());
    this.#announceAuto();
  }

  #announceAuto(): void {
    const before = this.#announcedAuto;
    const auto = this.auto();
    if (isDeepStrictEqual(before, auto)) return;
    this.#announcedAuto = auto;
    const { controller } = this.#options.announcer;
    if (!before && auto) controller.emit('compute.created', auto);
    else if (auto) controller.emit('compute.updated', auto);
    else if (before) controller.emit('compute.deleted', before);
  }

  /** Registers the stored computes and the one of this process, and connects to the latter. */
  async start(local: ComputeTransport, port: number): Promise<void> {
    const { host, protocol, user, version } = this.#options.config.Server;
    const description = {
      compute_id: 'local',
      name: hostname() === 'gns3vm' ? 'Main server' : hostname(),
      protocol,
      host: host === '0.0.0.0' ? '127.0.0.1' : host,
      port,
      user: user || null,
    };
    const compute = new Compute(description, {
      transport: local,
      version: version.v2.number,
      consoleHost: host,
      listener: this.#listener,
    });
    compute.mayBeWired = false;
    this.#computes.set(compute.id, compute);
    await compute.connect();
    for (const { id, body } of await this.#options.documents.list('computes')) {
      const stored = v.safeParse(StoredCompute, body);
      if (stored.success) this.#register(stored.output);
      else log.error('a stored compute is damaged; it is left out', { compute: id });
    }
    // Hosts of the cluster become computes later.
    for (const { id } of await this.#options.documents.list('draining')) {
      const drained = this.#computes.get(id);
      if (drained) drained.draining = true;
      else this.#drainedMembers.add(id);
    }
  }

  /**
   * Starts connecting to all disconnected computes without waiting. The projects must be loaded: they may have nodes
   * there.
   */
  connect(): void {
    for (const compute of this.#computes.values()) compute.connect().catch(ignore);
  }

  stop(): void {
    for (const compute of this.#computes.values()) compute.stop();
  }

  /** In order of registration, `local` first. */
  list(): Compute[] {
    return [...this.#computes.values()];
  }

  get(id: string): Compute {
    const compute = this.#computes.get(id === this.#hostId ? 'local' : id);
    if (!compute) throw notFound(`compute_id: there is no compute "${id}".`);
    return compute;
  }

  /** The object of `auto`; undefined where clients have no choice. */
  auto(): ComputeObject | undefined {
    return autoObject(this.list());
  }

  /** Whether a request asks for a host that the controller chooses. */
  isAuto(id: string): boolean {
    return id === AUTO_ID && !this.#computes.has(AUTO_ID);
  }

  /** The object of `auto` if the id names it and clients have a choice. */
  autoNamed(id: string): ComputeObject | undefined {
    return this.isAuto(id) ? this.auto() : undefined;
  }

  /**
   * As `get`, for what only a single host has.
   * @throws Failure `conflict` for `auto`
   */
  host(id: string): Compute {
    if (this.autoNamed(id)) {
      const hosts = this.list().map((compute) => compute.id);
      throw conflict(
        `compute_id: "${AUTO_ID}" stands for the host that is chosen for each node; name one of ${hosts.join(', ')}.`,
      );
    }
    return this.get(id);
  }

  /** As `get`; for `auto` this host, which sends images to the others when their nodes need them. */
  answering(id: string): Compute {
    return this.get(this.autoNamed(id) ? 'local' : id);
  }

  /** Lets a host take new nodes again, or no more. */
  async setDraining(id: string, draining: boolean): Promise<Compute> {
    return this.#lock.run('register', async () => {
      const compute = this.host(id);
      if (compute.draining === draining) return compute;
      if (draining) await this.#options.documents.put('draining', id, {});
      else await this.#options.documents.delete('draining', id);
      compute.draining = draining;
      this.#announce('compute.updated', compute);
      return compute;
    });
  }

  /**
   * Registers a compute unless it is known, and connects to it. An unreachable compute is retried from now on. An empty
   * name counts as none.
   * @throws Failure `invalid` (reserved ids), `conflict`: a taken name, or a problem at the compute, which is then
   * registered all the
   *   same
   */
  async create(given: ComputeCreate): Promise<Compute> {
    const id = given.compute_id ?? randomUUID();
    const { compute, known } = await this.#lock.run('register', () => this.#registered(id, given));
    await compute.connect().catch(ignoreUnreachable);
    this.#announce(known ? 'compute.updated' : 'compute.created', compute);
    return compute;
  }

  async #registered(id: string, given: ComputeCreate): Promise<{ compute: Compute; known: boolean }> {
    const known = this.#computes.get(id);
    if (known) return { compute: known, known: true };
    if (UNADDRESSABLE_IDS.includes(id)) {
      throw invalid(`compute_id: "${id}" cannot be part of an address; choose another, or leave it out.`);
    }
    if (RESERVED_IDS.includes(id)) throw invalid(`compute_id: "${id}" is the server's own; choose another.`);
    if (given.name === RESERVED_NAME) throw invalid(`name: "${RESERVED_NAME}" is reserved; choose another.`);
    if (given.name && this.list().some(({ name }) => name === given.name)) {
      throw conflict(`name: there is already a compute "${given.name}"; choose another name.`);
    }
    const { user, password } = credentialsOf(given.user, given.password);
    const { protocol, host, port } = given;
    const name = given.name || nameFor({ protocol, host, port, user });
    const stored = { compute_id: id, name, protocol, host, port, user, password };
    await this.#options.documents.change([
      { kind: 'computes', id, body: stored },
      { kind: 'draining', id, body: undefined },
    ]);
    return { compute: this.#register(stored), known: false };
  }

  #register({ password, ...description }: StoredCompute): Compute {
    const compute = new Compute(description, {
      transport: transportTo(description, password),
      version: this.#options.config.Server.version.v2.number,
      consoleHost: description.host,
      listener: this.#listener,
    });
    this.#computes.set(compute.id, compute);
    this.#passwords.set(compute, password);
    return compute;
  }

  /** Whether a topology's compute with this id is unknown and can be registered. */
  adopts(id: string): boolean {
    return !(this.#computes.has(id) || id === this.#hostId || [...RESERVED_IDS, ...UNADDRESSABLE_IDS].includes(id));
  }

  /**
   * Registers unknown computes of a topology's nodes, without credentials, as topologies have none. If its name is
   * taken, a compute is named by its id.
   */
  async adopt(given: readonly TopologyCompute[]): Promise<void> {
    for (const { compute_id: id, name, protocol, host, port } of given) {
      await this.#lock.run('register', async () => {
        if (!this.adopts(id)) return;
        const taken = name === RESERVED_NAME || this.list().some((compute) => compute.name === name);
        const wanted = { protocol, host, port, ...(taken ? { name: id } : { name }) };
        const { compute } = await this.#registered(id, wanted);
        this.#announce('compute.created', compute);
        log.info('a project brought a compute with it', { compute: id, host, port });
      });
    }
  }

  /**
   * Makes a host of the cluster a compute, and connects to it. It is not stored: the cluster knows its hosts.
   * @param dial opens a connection to it; throws while it holds no lease
   */
  async admitMember({ id, port, ...place }: Member, dial: () => Duplex): Promise<void> {
    const { name, address } = place;
    const description: ComputeDescription = {
      compute_id: id,
      name,
      protocol: 'http',
      host: address,
      port,
      user: null,
    };
    const compute = await this.#lock.run('register', async () => {
      const known = this.#computes.get(id);
      // Links follow when it is connected again.
      const isSame = isDeepStrictEqual(known?.place, place) && known?.description.port === port;
      if (known) known.place = place;
      if (known && isSame && this.#members.has(id)) return known;
      this.#members.add(id);
      const transport = new RemoteTransport(description, undefined, dial);
      if (known) {
        known.change(description, transport);
        return known;
      }
      const version = this.#options.config.Server.version.v2.number;
      const made = new Compute(description, { transport, version, consoleHost: address, listener: this.#listener });
      made.place = place;
      made.draining = this.#drainedMembers.delete(id);
      this.#computes.set(id, made);
      this.#announce('compute.created', made);
      return made;
    });
    compute.connect().catch(ignore);
  }

  /** Another host was the controller before: it called this one so, and its nodes here may be wired. */
  takeOver(hostId: string): void {
    this.#hostId = hostId;
    this.get('local').mayBeWired = true;
  }

  /** Says where this host is in the cluster. */
  placeLocal(place: Place): void {
    this.get('local').place = place;
  }

  #mustNotBeMember(id: string): void {
    if (!this.#members.has(id)) return;
    const { name } = this.get(id);
    throw conflict(
      `compute_id: the host ${name} belongs to the cluster, which sets its address and name. To remove it, run "labwired cluster forget ${name}".`,
    );
  }

  /**
   * Changes the given members and reconnects. A password is valid for one address: a new address gets none unless one
   * is given with it. Changes of `local` last until this process ends.
   */
  async update(id: string, given: ComputeUpdate): Promise<Compute> {
    return this.#lock.run('register', async () => {
      const compute = this.host(id);
      this.#mustNotBeMember(id);
      const { description: before } = compute;
      const { protocol = before.protocol, host = before.host, port = before.port } = given;
      const name = given.name || before.name;
      const isElsewhere = protocol !== before.protocol || host !== before.host || port !== before.port;
      const kept = isElsewhere ? null : this.#passwords.get(compute);
      const { user, password } = credentialsOf(
        given.user === undefined ? before.user : given.user,
        given.password === undefined ? kept : given.password,
      );
      const description = { compute_id: id, name, protocol, host, port, user };
      if (id === 'local') {
        compute.description = description;
        this.#announce('compute.updated', compute);
        return compute;
      }
      await this.#options.documents.put('computes', id, { ...description, password });
      this.#passwords.set(compute, password);
      compute.change(description, transportTo(description, password));
      return compute;
    });
  }

  /**
   * Closes the projects that use a compute and removes it; a missing one is ignored.
   * @throws Failure `conflict` for `local`: without it no project opens
   */
  async delete(id: string): Promise<void> {
    if (id === 'local') {
      throw conflict('compute_id: "local" is this server itself, which cannot be removed from its own list.');
    }
    if (this.autoNamed(id)) this.host(id); // refuses
    const compute = this.#computes.get(id);
    if (!compute) return;
    this.#mustNotBeMember(id);
    await this.#remove(compute);
  }

  /** The host of the cluster with this id; undefined for other computes. */
  memberNamed(id: string): Compute | undefined {
    return this.#members.has(id) ? this.#computes.get(id) : undefined;
  }

  /** Removes a host that left the cluster; ignored if it is not known as one. */
  async forgetMember(id: string): Promise<void> {
    const compute = this.#computes.get(id);
    if (compute && this.#members.delete(id)) await this.#remove(compute);
  }

  async #remove(compute: Compute): Promise<void> {
    const { id } = compute;
    // Outside the lock, because an opening may wait for it.
    await this.#options.closeProjects(compute);
    const isForgotten = await this.#lock.run('register', async () => {
      if (this.#computes.get(id) !== compute) return false;
      await this.#options.documents.change([
        { kind: 'computes', id, body: undefined },
        { kind: 'draining', id, body: undefined },
      ]);
      return this.#computes.delete(id);
    });
    if (!isForgotten) return;
    // Closes projects that were opened there meanwhile.
    await this.#options.closeProjects(compute);
    compute.stop();
    this.#announce('compute.deleted', compute);
  }

  /**
   * Load of all connected computes; one that rejects the request is left out.
   * @param ofNodes a project whose nodes' load is included; computes of the release ignore it
   */
  async statistics(ofNodes?: string): Promise<HostLoad[]> {
    const path = `/statistics${ofNodes === undefined ? '' : `?nodes=${encodeURIComponent(ofNodes)}`}`;
    const entries = await Promise.all(
      this.list().map(async (compute) => {
        try {
          const statistics = (await compute.get(path, { connect: false })) as HostLoad['statistics'];
          return { compute_id: compute.id, compute_name: compute.name, statistics };
        } catch (error) {
          log.warn('cannot read the load of a compute', { compute: compute.id, error: messageOf(error) });
          return undefined;
        }
      }),
    );
    return entries.filter((entry) => entry !== undefined);
  }
}

function ignoreUnreachable(error: unknown): void {
  if (!(error instanceof ComputeUnreachable)) throw error;
}

/** Trimmed; no user means no authentication. */
function credentialsOf(
  user: string | null | undefined,
  password: string | null | undefined,
): { user: string | null; password: string | null } {
  return { user: user?.trim() || null, password: password?.trim() ?? null };
}

function nameFor({ protocol, host, port, user }: Omit<ComputeDescription, 'compute_id' | 'name'>): string {
  const shown = user && user.length > USER_CHARACTERS ? `${user.slice(0, USER_CHARACTERS - 3)}...` : user;
  return `${protocol}://${shown ? `${shown}@` : ''}${host}:${port}`;
}

/** The transport to a compute; an invalid address is reported at its first use. */
function transportTo(description: ComputeDescription, password: string | null): ComputeTransport {
  try {
    mustBeAddress(description);
  } catch (error) {
    return { request: () => Promise.reject(error), openSocket: () => Promise.reject(error) };
  }
  const { user } = description;
  return new RemoteTransport(description, user === null ? undefined : { user, password: password ?? '' });
}
