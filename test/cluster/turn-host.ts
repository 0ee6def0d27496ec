// A host that takes turns at being the controller, with a database and without a server.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import type { AuditLine } from '../../src/api/objects.ts';
import { connectMember } from '../../src/cluster/connection.ts';
import type { ClusterFiles, Membership } from '../../src/cluster/layout.ts';
import { Succession } from '../../src/cluster/succession.ts';
import { Database } from '../../src/store/database.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import type { Cleanup } from '../cleanup.ts';
import { eventually } from '../system/daemon.ts';

export const PUT = "INSERT INTO document (kind, id, body) VALUES ('settings', ?, '{}')";

export class TurnHost {
  readonly succession: Succession;
  /** The database of the cluster, while this host is the controller. */
  database: Database | undefined;
  /** How often it has become the controller. */
  turns = 0;
  nats: NatsConnection | undefined;
  /** Copies files of labs. */
  copy: (signal: AbortSignal) => Promise<unknown> = async () => {};
  /** It can neither begin nor end as the controller in order. */
  isBroken = false;
  /** Lines of other hosts. */
  readonly audit: AuditLine[] = [];
  readonly #connect: () => Promise<NatsConnection>;

  /** @param place has the directory of its copy */
  constructor(t: Cleanup, id: string, files: ClusterFiles, member: Membership, place = tmpdir()) {
    this.#connect = () => connectMember(files, member);
    const directory = mkdtempSync(join(place, 'labwire-turns-'));
    const say = (): void => {};
    this.succession = new Succession({
      directory,
      own: { id, name: id, run: id },
      server: undefined,
      log: { info: say, warn: say, error: say },
      successor: {
        open: (path) => Database.open(path, MIGRATIONS),
        schema: MIGRATIONS.length,
        begin: id === 'a' ? async (path) => (await Database.open(path, MIGRATIONS)).close() : undefined,
        lead: async (database) => {
          if (this.isBroken) throw new Error('broken');
          this.database = database;
          this.turns += 1;
        },
        followed: async (_database, _own, signal) => void (await this.copy(signal)),
        step: async () => {
          this.database = undefined;
          if (this.isBroken) throw new Error('broken');
        },
        audit: { add: (line) => void this.audit.push(line), settled: async () => {} },
      },
    });
    t.after(async () => {
      await this.succession.stop();
      await this.nats?.close();
      rmSync(directory, { recursive: true, force: true });
    });
  }

  async connect(): Promise<void> {
    this.nats = await this.#connect();
    this.succession.isReached = true;
    void this.succession.run(this.nats);
  }

  async leads(turns = 1): Promise<Database> {
    const database = await eventually(
      'the controller',
      () => (this.turns >= turns ? this.database : undefined),
      (found) => found !== undefined,
    );
    return database as Database;
  }
}
