// A host of a cluster that takes turns at being the controller, as a process that can be killed, with a database and without a server. While
// it is the controller it makes one change after another. Prints a line of JSON for what happens.
import { startCluster } from '../../src/cluster/service.ts';
import { Database } from '../../src/store/database.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import { PUT } from './turn-host.ts';

/** Milliseconds between changes. */
const BETWEEN_MS = 50;

const [state = '', name = ''] = process.argv.slice(2);
const say = (what: string, details: object = {}): void =>
  void process.stdout.write(`${JSON.stringify({ at: Date.now(), what, ...details })}\n`);

let turn = 0;

async function change(database: Database): Promise<void> {
  turn += 1;
  const own = turn;
  for (let count = 0; own === turn; count += 1) {
    const id = `${name}-${process.pid}-${own}-${count}`;
    await database.run(PUT, id).then(
      () => say('wrote', { id }),
      (error: unknown) => say('refused', { id, reason: String(error) }),
    );
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS));
  }
}

await startCluster({
  ...{ state, cluster: 'lab', failoverMs: 500 },
  log: { info: say, warn: say, error: say },
  describe: async () => ({ version: '1', port: 3080, free_memory_bytes: 1, cores: 1, kvm: false, node_types: [] }),
  accept: (stream) => void stream.pipe(stream),
  acceptClient: () => {},
  renewed: () => {},
  held: ({ name: host, standby }) => say('held', { host, standby }),
  isDraining: () => false,
  absent: ({ name: host }) => say('absent', { host }),
  forgotten: () => {},
  successor: {
    open: (path) => Database.open(path, MIGRATIONS),
    schema: MIGRATIONS.length,
    begin: async (path) => (await Database.open(path, MIGRATIONS)).close(),
    lead: async (database) => {
      const rows = await database.all<{ id: string }>('SELECT id FROM document ORDER BY position');
      say('leads', { ids: rows.map(({ id }) => id) });
      void change(database);
    },
    followed: async () => {},
    step: async () => {
      turn += 1;
      say('steps down');
    },
    audit: { add: () => {}, settled: async () => {} },
  },
});
