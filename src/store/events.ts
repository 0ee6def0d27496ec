// The last events of a cluster's controller, in its database and so in the replicated log, for the next controller. Also counts the changes
// that clients get events of, so that the next controller knows whether events of the last ones may be missing.
import { KEPT_EVENTS } from '../api/events.ts';
import type { Database, Statement } from './database.ts';
import { storedObject } from './json.ts';

export interface StoredEvent {
  bus: string;
  epoch: string;
  number: number;
  projectId: string | undefined;
  action: string;
  event: object;
}

type Row = Pick<StoredEvent, 'bus' | 'epoch' | 'number' | 'action'> & { project_id: string | null; body: string };

/** Events after which older ones are deleted. */
const PRUNED_EVERY = 512;

const INSERT = 'INSERT INTO event (bus, epoch, number, project_id, action, body) VALUES (?, ?, ?, ?, ?, ?)';
const PRUNE = `DELETE FROM event WHERE bus = ?1 AND position <=
  (SELECT position FROM event WHERE bus = ?1 ORDER BY position DESC LIMIT 1 OFFSET ${KEPT_EVENTS})`;

/** Settings: how many changes there were that clients get events of, and of how many all events are stored. */
const CHANGED = 'event-changes';
const COVERED = 'event-changes-covered';
const COUNT: Statement = [
  `INSERT INTO setting VALUES ('${CHANGED}', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1`,
  [],
];
const COVER = `INSERT INTO setting SELECT '${COVERED}', value FROM setting WHERE name = '${CHANGED}'
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

const ANNOUNCED_TABLE = /^(?:INSERT INTO|UPDATE|DELETE FROM) (?:project|lab_record)\b/;
const DOCUMENT = /^(?:INSERT INTO|DELETE FROM) document\b/;
const ANNOUNCED_DOCUMENTS: ReadonlySet<unknown> = new Set(['templates', 'computes']);

const isAnnounced = ([sql, [kind]]: Statement): boolean =>
  ANNOUNCED_TABLE.test(sql) || (DOCUMENT.test(sql) && ANNOUNCED_DOCUMENTS.has(kind));

export class StoredEvents {
  readonly #database: Database;
  /** The first ones prune, too: a controller may end before it has had so many. */
  #sincePruned = PRUNED_EVERY;
  /** Whether changes were counted since all events were stored last. */
  #isUncovered = true;

  constructor(database: Database) {
    this.#database = database;
  }

  countChanges(): void {
    this.#database.complete((changes) => {
      if (!changes.some(isAnnounced)) return undefined;
      this.#isUncovered = true;
      return COUNT;
    });
  }

  /** Oldest first. */
  async list(): Promise<StoredEvent[]> {
    const rows = await this.#database.all<Row>('SELECT * FROM event ORDER BY position');
    return rows.flatMap(({ project_id: projectId, body, bus, epoch, number, action }) => {
      const event = storedObject<object>(body, `event ${epoch}-${number}`);
      return event === undefined ? [] : [{ bus, epoch, number, action, event, projectId: projectId ?? undefined }];
    });
  }

  /** Whether the events of all changes are stored. */
  async areComplete(): Promise<boolean> {
    const rows = await this.#database.all<{ value: string }>(
      'SELECT value FROM setting WHERE name IN (?, ?)',
      CHANGED,
      COVERED,
    );
    return rows.length === 0 || (rows.length === 2 && rows[0]?.value === rows[1]?.value);
  }

  /**
   * @param isComplete whether the events of all changes that were made before this call are stored with these
   * @param cut buses of which events before these are missing: older ones are deleted, so that the next controller reports a gap to each
   * client that would miss them
   */
  async add(
    events: readonly StoredEvent[],
    { isComplete, cut }: { isComplete: boolean; cut: ReadonlySet<string> },
  ): Promise<void> {
    const covers = isComplete && this.#isUncovered;
    if (events.length === 0 && cut.size === 0 && !covers) return;
    this.#sincePruned += events.length;
    const prunes = this.#sincePruned >= PRUNED_EVERY;
    if (prunes) this.#sincePruned = 0;
    // Not after it: a change may be counted meanwhile.
    if (covers) this.#isUncovered = false;
    const stored = this.#database.transaction(async ({ run, all }) => {
      for (const bus of cut) await run('DELETE FROM event WHERE bus = ?', bus);
      for (const { bus, epoch, number, projectId, action, event } of events)
        await run(INSERT, bus, epoch, number, projectId ?? null, action, JSON.stringify(event));
      if (prunes)
        for (const { bus } of await all<{ bus: string }>('SELECT DISTINCT bus FROM event')) await run(PRUNE, bus);
      if (covers) await run(COVER);
    });
    await stored.catch((error: unknown) => {
      this.#isUncovered ||= covers;
      throw error;
    });
  }

  async forget(projectId: string): Promise<void> {
    await this.#database.run('DELETE FROM event WHERE project_id = ?', projectId);
  }
}
