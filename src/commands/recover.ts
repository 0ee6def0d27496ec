// `labwired recover`: repairs a damaged state directory as far as possible.
import type { Config } from '../config/schema.ts';
import type { DamagedRecord } from '../store/damaged-records.ts';
import { repairRecords, type Salvage, salvageDatabase } from '../store/salvage.ts';
import { becomeOwner } from './state-owner.ts';

/** Returns the output. */
export async function recover({ state, Server: { projects_path: projects } }: Config): Promise<string> {
  await becomeOwner(state);
  const salvage = await salvageDatabase(state);
  if (salvage !== undefined) return reportOf(salvage, projects);
  const repair = await repairRecords(state);
  if (repair === undefined) return `The database of ${state} is sound: there is nothing to recover.\n`;
  const records = (intro: string, found: readonly DamagedRecord[]): string =>
    list(
      intro,
      found.map(({ table, id }) => `${table} ${id}`),
    );
  return [
    'The database is sound except for single records.\n',
    records('These lacked only their last brace, and are whole again', repair.mended),
    records('These cannot be read, and were removed', repair.removed),
    records("These are mended from the labs' files at the next start", repair.left),
    `Projects that were removed are found by their .gns3 files at the next start if these are below ${projects}.\n`,
    `The damaged records are kept in ${repair.keptAs}.\n`,
  ].join('');
}

function reportOf({ rows, lost, incomplete, fromFiles, keptAs }: Salvage, projects: string): string {
  const counts = Object.entries(rows).map(([name, count]) => `  ${String(count).padStart(6)} ${name}\n`);
  return [
    'The database was rebuilt from what could be read:\n',
    ...counts,
    list('These could not be read', lost),
    incomplete ? 'More may be missing: parts of the database that name its records could not be read.\n' : '',
    list('These labs open from their files; changes of the last seconds may be missing', fromFiles),
    `Projects below ${projects} that are not among them are found by their .gns3 files at the next start.\n`,
    `The damaged files are kept as ${keptAs}*: delete them when nothing is missing.\n`,
  ].join('');
}

/** Nothing when the list is empty. */
function list(intro: string, items: readonly string[]): string {
  return items.length === 0 ? '' : `${intro}:\n${items.map((item) => `  ${item}\n`).join('')}`;
}
