// Records whose text is no JSON object: damage that SQLite does not see.
import { readObject } from './json.ts';

/** A record that no start reads as it is. */
export interface DamagedRecord {
  /** A project, or a kind of documents: `templates`, `computes` ... */
  table: string;
  id: string;
  body: string;
}

/** The condition of SQL that holds for a damaged record. Not OR, as SQLite may look at the type first. */
const DAMAGED = "CASE WHEN json_valid(body) THEN json_type(body) <> 'object' ELSE 1 END";

/** Those of projects and documents; the ones of open labs come from the labs' files at the start. `all` runs a query. */
export async function damagedRecords(all: <Row>(sql: string) => Promise<Row[]>): Promise<DamagedRecord[]> {
  return all(
    `SELECT 'project' AS "table", project_id AS id, CAST(body AS TEXT) AS body FROM project WHERE ${DAMAGED}
     UNION ALL SELECT kind, id, CAST(body AS TEXT) FROM document WHERE ${DAMAGED}`,
  );
}

/** The text of a record with its last brace, if only that is lost. */
export function repaired(body: string): string | undefined {
  const object = readObject(body);
  return object && JSON.stringify(object);
}
