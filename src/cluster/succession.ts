// Takes turns at being the controller with the other hosts that may: follows the log while another host is, and hands the server the database
// when this one is chosen.
import { once } from 'node:events';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { conflict, ignore, messageOf } from '../failures.ts';
import type { Database } from '../store/database.ts';
import { AuditTrail, type OwnTrail } from './audit-trail.ts';
import type { ClusterLog } from './cluster-log.ts';
import { Election, type Holder } from './election.ts';
import type { NamedHost } from './hosts.ts';
import { changesStream, LogWriter, logUse } from './log.ts';
import { createObjects, objectsOf } from './objects.ts';
import { Replica, storeCopy } from './replica.ts';
import { moveLeaders } from './stream-leaders.ts';
import { DATABASE_OBJECT } from './subjects.ts';

/** Part of the log's space after which a copy of the database replaces it. */
const LONG = 1 / 12;
const LOOK_MS = 10_000;

/** What the server gives to a host that may be the controller. */
export interface Successor {
  /** Opens a database, with all tables. */
  open: (path: string) => Promise<Database>;
  /** The version of the tables that this release has. */
  schema: number;
  /** On the first controller of the cluster: writes a copy of the labs that the host has had so far. */
  begin: ((path: string) => Promise<unknown>) | undefined;
  /** This host is the controller now, with this database. */
  lead: (database: Database, own: NamedHost) => Promise<void>;
  /** Called now and then with the copy of the database while another host is the controller. */
  followed: (database: Database, own: NamedHost, signal: AbortSignal) => Promise<void>;
  /**
   * It is the controller no more; all that would change the database has ended when this resolves.
   * @param isOrderly whether this host can still write, so that files can be kept for the next controller
   */
  step: (isOrderly: boolean) => Promise<void>;
  /** The audit trail of this host, to which lines of other controllers are added. */
  audit: OwnTrail;
}

export interface SuccessionParts {
  /** Of the copy of the database. */
  directory: string;
  own: NamedHost & { run: string };
  /** The name of the NATS on this host, if it runs one of the cluster's. */
  server: string | undefined;
  log: ClusterLog;
  successor: Successor;
}

export class Succession {
  readonly #parts: SuccessionParts;
  readonly #election: Election;
  readonly #audit: AuditTrail;
  readonly #ending = new AbortController();
  #nats: NatsConnection | undefined;
  #replica: Replica | undefined;
  #writer: LogWriter | undefined;
  #database: Database | undefined;
  /** Changes of this host's role, one after the other. */
  #turn: Promise<void> = Promise.resolve();
  /** Aborted when this host is chosen: it does not wait for NATS to send files of the former controller. */
  #looking = new AbortController();
  #isLookQueued = false;
  /** Whether the object store has a copy of the database. */
  #isStored = false;
  #isReached = false;
  #wasCut = false;

  constructor(parts: SuccessionParts) {
    this.#parts = parts;
    const { directory, own, log, successor } = parts;
    this.#audit = new AuditTrail({
      ...{ path: join(directory, 'audit-position'), hostId: own.id, log, own: successor.audit },
    });
    this.#election = new Election(parts.own, {
      isReady: () => this.isReady,
      won: () => {
        log.info('this host has the key of the controller');
        this.#looking.abort();
        this.#next(() => this.#lead());
      },
      lost: ({ name }) => this.#lose(`${name} has taken over`),
    });
  }

  /** The controller, as far as this host knows. */
  get controller(): NamedHost | undefined {
    return this.#election.holder;
  }

  /** Whether this host is the controller for certain, so that changes are possible. */
  get isCertain(): boolean {
    return this.#election.isCertain;
  }

  /** Whether this host could be the controller now, or is it. */
  get isReady(): boolean {
    return this.#database !== undefined || this.#replica?.isRecent === true;
  }

  set isReached(isReached: boolean) {
    if (isReached && this.#wasCut) this.#election.reconnected();
    this.#isReached = isReached;
    this.#wasCut = !isReached;
    if (this.#writer) this.#writer.isReached = isReached;
  }

  #next(act: () => Promise<void>): void {
    this.#turn = this.#turn.then(act).catch((error: unknown) => {
      this.#parts.log.error('the change of the controller failed', { reason: messageOf(error) });
    });
  }

  /** Takes part until the connection ends. */
  async run(nats: NatsConnection): Promise<void> {
    // What was made with the former connection is closed with it.
    if (this.#database && this.#nats !== nats) this.#lose('its connection to NATS was closed');
    this.#nats = nats;
    await changesStream(nats);
    await createObjects(nats);
    if (!this.#database) this.#next(() => this.#follow());
    const looking = setInterval(() => this.#queueLook(), LOOK_MS);
    try {
      const { signal } = this.#ending;
      await Promise.all([this.#election.run(nats, signal), this.#audit.run(nats, signal)]);
    } finally {
      clearInterval(looking);
    }
  }

  async #follow(): Promise<void> {
    const { directory, successor, log } = this.#parts;
    const nats = this.#nats;
    if (!nats || this.#ending.signal.aborted) return;
    await this.#replica?.stop();
    await this.#replica?.database?.close();
    this.#replica = new Replica({
      ...{ directory, nats, open: successor.open, schema: successor.schema },
      failed: (reason) => log.warn('the log of the cluster cannot be followed', { reason }),
    });
    await this.#replica.createFrom(successor.begin);
    this.#replica.start();
  }

  async #lead(): Promise<void> {
    const { log, successor } = this.#parts;
    const [nats, replica] = [this.#nats, this.#replica];
    if (!nats || !replica || this.#database) return;
    const { schema } = successor;
    const isHeld = (): boolean => this.isCertain && !this.#ending.signal.aborted;
    let [database, writer]: [Database?, LogWriter?] = [];
    try {
      database = await replica.finish(isHeld);
      writer = new LogWriter(nats, { schema, last: replica.seen, lost: (reason) => this.#lose(reason) });
      writer.isReached = this.#isReached;
      // From now on it is informed whether NATS is reached, and that another host has the key.
      this.#writer = writer;
      await this.#begin(writer, database, isHeld);
    } catch (error) {
      // The rest of the log cannot be read, or it takes no changes, while this host holds the key. Another host may be able to.
      log.info('this host cannot be the controller yet', { reason: messageOf(error) });
      return this.#endRole(() => this.#election.give(undefined));
    }
    this.#database = database;
    try {
      await database.keepIn(writer);
      await successor.lead(database, this.#parts.own);
      log.info('this host is the controller now');
    } catch (error) {
      // Another host may be able to.
      return this.#lose(`it cannot start: ${messageOf(error)}`, () => this.#election.give(undefined));
    }
    this.#isStored = false;
    await this.#keepCopy(database);
    await this.#moveLeaders();
  }

  /** Makes room in a log that the controllers before this one have filled. */
  async #begin(writer: LogWriter, database: Database, isHeld: () => boolean): Promise<void> {
    try {
      await writer.begin(isHeld);
    } catch (error) {
      if (!writer.isFull || !this.#nats) throw error;
      await storeCopy(this.#nats, database, this.#parts.directory);
      await writer.begin(isHeld);
    }
  }

  /** Called by the election and by the log; the role ends once. */
  #lose(reason: string, release: () => void | Promise<void> = () => this.#election.release()): void {
    this.#writer?.refuse(`This host is the controller no more: ${reason}. Try again.`);
    this.#next(() => this.#stepDown(reason, release));
  }

  async #stepDown(reason: string, release: () => void | Promise<void>): Promise<void> {
    if (!this.#database) return;
    this.#parts.log.warn('this host is the controller no more', { reason });
    await this.#step(false);
    await this.#endRole(release);
  }

  /** Never rejects: whatever could not be ended, this host is the controller no more. */
  async #step(isOrderly: boolean): Promise<void> {
    const { successor, log } = this.#parts;
    await successor.step(isOrderly).catch((error: unknown) => {
      log.error('the controller did not end in order', { reason: messageOf(error) });
    });
  }

  async #endRole(release: () => void | Promise<void>): Promise<void> {
    this.#database = undefined;
    this.#writer = undefined;
    try {
      await release();
    } finally {
      await this.#follow();
    }
  }

  /**
   * Ends the role in order: pending changes finish first, and the key is kept until then.
   * @throws Failure `conflict` if this host is not the controller
   */
  async handOver(to: Holder): Promise<void> {
    const given = this.#turn.then(() => this.#handOver(to));
    this.#next(() => given.catch(ignore));
    await given;
  }

  async #handOver(to: Holder): Promise<void> {
    if (!this.#database || !this.isCertain) throw conflict('This host is not the controller now.');
    this.#parts.log.info('this host hands the role of the controller over', { to: to.name });
    await this.#step(true);
    await this.#audit.flush();
    this.#writer?.refuse(`This host is the controller no more: ${to.name} is. Try again.`);
    await this.#endRole(() => this.#election.give(to));
  }

  /** The controller has noted a line of the audit trail. */
  sendAudit(line: object): void {
    this.#audit.send(line);
  }

  /** The server ends: another host need not wait for the end of the key. */
  async resign(): Promise<void> {
    await Promise.all([this.#election.give(undefined), this.#audit.flush()]);
  }

  /** At most one waits or runs: each would copy files again before this host can take over. */
  #queueLook(): void {
    if (this.#isLookQueued) return;
    this.#isLookQueued = true;
    this.#next(() =>
      this.#look().finally(() => {
        this.#isLookQueued = false;
      }),
    );
  }

  async #look(): Promise<void> {
    if (this.#database) {
      await this.#keepCopy(this.#database);
      await this.#moveLeaders();
    } else if (!this.#replica?.isStarted) await this.#follow();
    // While this host has the key, taking over comes next.
    else if (this.controller?.id === this.#parts.own.id) return;
    else if (this.#replica.database && this.#replica.isFollowing) await this.#copyFiles(this.#replica.database);
  }

  async #moveLeaders(): Promise<void> {
    const { server } = this.#parts;
    // It is tried again with the next look.
    if (this.#nats && server !== undefined) await moveLeaders(this.#nats, server).catch(ignore);
  }

  async #copyFiles(database: Database): Promise<void> {
    const { successor, own, log } = this.#parts;
    this.#looking = new AbortController();
    const { signal } = this.#looking;
    try {
      await Promise.race([successor.followed(database, own, signal), once(signal, 'abort')]);
    } catch (error) {
      log.warn('files of labs are not copied from the controller', { reason: messageOf(error) });
    }
  }

  /** Stores a copy of the database for other hosts if there is none, and in the place of a long log; later if that fails. */
  async #keepCopy(database: Database): Promise<void> {
    const nats = this.#nats;
    if (!nats || !this.isCertain) return;
    try {
      this.#isStored ||= await (await objectsOf(nats)).has(DATABASE_OBJECT);
      if (this.#isStored && (await logUse(nats)) <= LONG) return;
      await storeCopy(nats, database, this.#parts.directory);
      this.#isStored = true;
    } catch (error) {
      this.#parts.log.warn('no new copy of the database is stored for other hosts', { reason: messageOf(error) });
    }
  }

  /** Resolves when this host's role changes no more, until the next change. */
  async settled(): Promise<void> {
    this.#ending.abort();
    await this.#turn;
  }

  /** Ends after the server has stopped the controller. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#turn.catch(ignore);
    await this.#replica?.stop();
    await this.#replica?.database?.close();
  }
}
