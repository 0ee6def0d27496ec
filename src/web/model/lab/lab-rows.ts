// The rows of the list of labs: filtered, sorted, and grouped into folders by name: `CCNA/lab 3` is in `CCNA`.
import type { LabFigures } from '../../../api/routes/projects.ts';
import { compareNames } from '../../language.ts';
import type { ProjectObject } from '../server/types.ts';

export type SortKey = 'name' | 'state' | 'nodes' | 'owner' | 'changed';

export interface Order {
  key: SortKey;
  isDown: boolean;
}

export interface LabRow {
  kind: 'lab';
  project: ProjectObject;
  /** The name without its folder. */
  name: string;
  figures: LabFigures | undefined;
  /** Its account; empty if it has none or all labs belong to one account. */
  owner: string;
  /** Time of its last change in milliseconds since 1970; undefined if not known yet. */
  changed: number | undefined;
}

export interface FolderRow {
  kind: 'folder';
  name: string;
  labs: number;
  isOpen: boolean;
}

export interface RowsOptions {
  search: string;
  order: Order;
  figures: ReadonlyMap<string, LabFigures>;
  changes: ReadonlyMap<string, number>;
  owners: ReadonlyMap<string, { owner: string | null }>;
  /** Collapsed folders. Ignored during a search. */
  closed: ReadonlySet<string>;
}

/** Splits a name into folder and rest; no folder if it starts or ends with a slash. */
export function splitName(name: string): { folder: string | undefined; rest: string } {
  const at = name.lastIndexOf('/');
  const [folder, rest] = [name.slice(0, at).trim(), name.slice(at + 1).trim()];
  return at > 0 && folder && rest ? { folder, rest } : { folder: undefined, rest: name };
}

function stateRank({ status, damaged }: ProjectObject): number {
  return damaged ? 0 : status === 'opened' ? 1 : 2;
}

function compare(one: LabRow, other: LabRow, { key, isDown }: Order): number {
  const sign = isDown ? -1 : 1;
  const byKey: Readonly<Record<SortKey, () => number>> = {
    name: () => compareNames(one.name, other.name),
    state: () => stateRank(one.project) - stateRank(other.project),
    nodes: () => (one.figures?.running ?? -1) - (other.figures?.running ?? -1),
    owner: () => compareNames(one.owner, other.owner),
    // Latest first, to find recent work
    changed: () => (other.changed ?? 0) - (one.changed ?? 0),
  };
  return sign * byKey[key]() || compareNames(one.name, other.name);
}

/** Labs without a folder first, then each folder with its labs. */
export function labRows(projects: Iterable<ProjectObject>, options: RowsOptions): (LabRow | FolderRow)[] {
  const { search, order, figures, changes, owners, closed } = options;
  const words = search.trim().toLowerCase().split(/\s+/);
  // '' stands for labs without a folder; no folder has this name.
  const folders = new Map<string, LabRow[]>();
  for (const project of projects) {
    const { name, project_id } = project;
    const text = name.toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    const { folder = '', rest } = splitName(name);
    const rows = folders.get(folder) ?? [];
    const changed = changes.get(project_id);
    const owner = owners.get(project_id)?.owner ?? '';
    rows.push({ kind: 'lab', project, name: rest, figures: figures.get(project_id), owner, changed });
    folders.set(folder, rows);
  }
  const names = [...folders.keys()].sort(compareNames);
  return names.flatMap((name) => {
    const rows = (folders.get(name) ?? []).sort((one, other) => compare(one, other, order));
    if (name === '') return rows;
    const isOpen = search !== '' || !closed.has(name);
    return [{ kind: 'folder' as const, name, labs: rows.length, isOpen }, ...(isOpen ? rows : [])];
  });
}
