// What is said of nodes that came, went, started or stopped.
import { STATUS, WORDS } from '../words.ts';

export interface StatusChange {
  name: string;
  /** Undefined for a node that is gone. */
  status: string | undefined;
  isNew: boolean;
}

/** More than these are counted and not named. */
const MOST_NAMED = 3;

/** `PC1, PC2 on. R1 deleted.` */
export function spokenChanges(changes: readonly StatusChange[]): string {
  const groups = Map.groupBy(changes, ({ status, isNew }) =>
    status === undefined ? WORDS.spoken.deleted : isNew ? WORDS.spoken.added : (STATUS[status] ?? status),
  );
  return [...groups]
    .map(([what, group]) => {
      const names = group.map(({ name }) => name);
      return `${group.length > MOST_NAMED ? WORDS.spoken.many(group.length) : names.join(', ')} ${what}.`;
    })
    .join(' ');
}
