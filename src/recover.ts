// `labwired recover`: a damaged state directory, put in order as far as that goes.
import type { Config } from './config/schema.ts';
import { becomeOwner } from './owner.ts';
import { removeDamagedRecords, salvageDatabase } from './store/salvage.ts';

/** Answers what to print. */
export async function recover({ state, Server: { projects_path: projects } }: Config): Promise<string> {
  await becomeOwner(state);
  const salvage = await salvageDatabase(state);
  if (salvage === undefined) {
    const removed = await removeDamagedRecords(state);
    if (removed === undefined) return `The database of ${state} is sound: there is nothing to recover.\n`;
    return [
      'The database is sound but for these records, which no start can read; they were removed:\n',
      ...removed.records.map(({ table, id }) => `  ${table} ${id}\n`),
      `Projects among them are found by their .gns3 files at the next start. The records are kept in ${removed.keptAs}.\n`,
    ].join('');
  }
  const rows = Object.entries(salvage.rows).map(([name, count]) => `  ${String(count).padStart(6)} ${name}\n`);
  return [
    `The database was rebuilt from what could be read${salvage.incomplete ? ', which is not all of it' : ''}:\n`,
    ...rows,
    `Projects below ${projects} that are not among them are found by their .gns3 files at the next start.\n`,
    `The damaged files are kept as ${salvage.keptAs}*: delete them when nothing is missing.\n`,
  ].join('');
}
