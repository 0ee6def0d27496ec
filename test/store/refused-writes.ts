// A database that refuses some writes, as one whose disk fails in the middle of a change.
import { join } from 'node:path';
import { connect, settle } from '../../src/store/database.ts';
import { DATABASE } from '../../src/store/other-states.ts';

/**
 * From now on these writes fail, and the transactions that they are in.
 * @param what of SQLite's CREATE TRIGGER: `UPDATE ON document WHEN NEW.kind = 'groups'`
 * @returns makes them succeed again
 */
export async function refuseWrites(stateDirectory: string, what: string): Promise<() => Promise<void>> {
  const run = async (statement: string): Promise<void> => {
    const database = await connect(join(stateDirectory, DATABASE));
    await settle((done) => database.run(statement, done));
    await settle((done) => database.close(done));
  };
  await run(`CREATE TRIGGER refused BEFORE ${what} BEGIN SELECT RAISE(ABORT, 'refused'); END`);
  return () => run('DROP TRIGGER refused');
}
