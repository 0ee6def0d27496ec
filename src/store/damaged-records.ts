// Finds records whose text is not a JSON object: damage that SQLite does not detect.
import { readObject } from './json.ts';

/** A record that cannot be loaded. */
export interface DamagedRecord {
  /** `project`, or a kind of documents: `templates`, `computes` ... */
  table: string;
  id: string;
  body: string;
}

/** The SQL condition for a damaged record. Not OR, because SQLite may evaluate the type first. */
const DAMAGED = "CASE WHEN json_valid(body) THEN json_type(body) <> 'object' ELSE 1 END";

/**
 * Damaged projects and documents; those of open labs are restored from the labs' files at the start. `all` runs a
 * query.
 */
export async function damagedRecords(all: <Row>(sql: string) => Promise<Row[]>): Promise<DamagedRecord[]> {
  return all(
    `SELECT 'project' AS "table", project_id AS id, CAST(body AS TEXT) AS body FROM project WHERE ${DAMAGED}
     UNION ALL SELECT kind, id, CAST(body AS TEXT) FROM document WHERE ${DAMAGED}`,
  );
}

/** The text of a record with its last brace added, if only that is missing. */
export function repaired(body: string): string | undefined {
  const object = readObject(body);
  return object && JSON.stringify(object);
}
