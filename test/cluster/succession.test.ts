// Two hosts that take turns at being the controller, over a real NATS on this host.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { NatsConnection } from '@nats-io/transport-node';
import { connectMember } from '../../src/cluster/connection.ts';
import type { ClusterFiles, Membership } from '../../src/cluster/layout.ts';
import { Succession } from '../../src/cluster/succession.ts';
import { Database } from '../../src/store/database.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import { eventually } from '../system/daemon.ts';
import { threeMembers } from './hosts.ts';
import { Nats } from './nats.ts';

const PUT = "INSERT INTO document (kind, id, body) VALUES ('settings', ?, '{}')";

class Host {
  readonly succession: Succession;
  /** The database of the cluster, while this host is the controller. */
  database: Database | undefined;
  /** How often it has become the controller. */
  turns = 0;
  nats: NatsConnection | undefined;
  readonly #connect: () => Promise<NatsConnection>;

  constructor(t: TestContext, id: string, files: ClusterFiles, member: Membership) {
    this.#connect = () => connectMember(files, member);
    const directory = mkdtempSync(join(tmpdir(), 'labwire-turns-'));
    const say = (): void => {};
    this.succession = new Succession({
      directory,
      own: { id, name: id, run: id },
      log: { info: say, warn: say, error: say },
      successor: {
        open: (path) => Database.open(path, MIGRATIONS),
        schema: MIGRATIONS.length,
        begin: id === 'a' ? async (path) => (await Database.open(path, MIGRATIONS)).close() : undefined,
        lead: async (database) => {
          this.database = database;
          this.turns += 1;
        },
        followed: async () => {},
        step: async () => {
          this.database = undefined;
        },
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

test('one host is the controller, goes on with another connection, and is followed by the other one with all changes', async (t) => {
  const { files, members } = await threeMembers(t);
  await new Nats(t, files.path('nats.conf')).start();
  const [a, b] = ['a', 'b'].map((id) => new Host(t, id, files, members[0]!)) as [Host, Host];
  await a.connect();
  const first = await a.leads();
  await first.run(PUT, 'one');
  await b.connect();
  await eventually(
    'b to know the controller',
    () => b.succession.controller?.id,
    (id) => id === 'a',
  );

  // The client of NATS gives up for good, for example after a refusal.
  await a.nats?.close();
  await assert.rejects(first.run(PUT, 'refused'), { code: 'unavailable' });
  await a.connect();
  const again = await a.leads(2);
  await again.run(PUT, 'two');
  assert.equal(b.turns, 0);
  assert.ok(a.succession.isCertain && !b.succession.isCertain);

  await a.nats?.close();
  const other = await b.leads();
  assert.deepEqual(await other.all('SELECT id FROM document ORDER BY position'), [{ id: 'one' }, { id: 'two' }]);
  await other.run(PUT, 'three');
  assert.ok(!a.succession.isCertain);
  await a.connect();
  await eventually(
    'a to know the controller',
    () => a.succession.controller?.id,
    (id) => id === 'b' && a.database === undefined,
  );
  assert.deepEqual([a.turns, b.turns], [2, 1]);
});
