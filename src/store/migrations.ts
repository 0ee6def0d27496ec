// The tables of labwire.db, one script a version. A script that was released is never changed; a new one is appended.

/** Applied in order; `PRAGMA user_version` counts those that were. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  -- In all tables, position keeps the order of first insertion.
  CREATE TABLE project (
    position INTEGER PRIMARY KEY,
    project_id TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL
  );

  CREATE TABLE document (
    position INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (kind, id)
  );

  -- An open lab; changes counts its changes, written the ones that are in its .gns3 file.
  CREATE TABLE lab (
    project_id TEXT PRIMARY KEY REFERENCES project (project_id) ON DELETE CASCADE,
    changes INTEGER NOT NULL DEFAULT 0,
    written INTEGER NOT NULL DEFAULT 0,
    fingerprint TEXT
  ) WITHOUT ROWID;

  CREATE TABLE lab_record (
    position INTEGER PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES lab (project_id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (project_id, kind, id)
  );

  -- Counted by the database itself, so that no change can forget to.
  CREATE TRIGGER lab_record_added AFTER INSERT ON lab_record BEGIN
    UPDATE lab SET changes = changes + 1 WHERE project_id = NEW.project_id;
  END;
  CREATE TRIGGER lab_record_changed AFTER UPDATE ON lab_record BEGIN
    UPDATE lab SET changes = changes + 1 WHERE project_id = NEW.project_id;
  END;
  CREATE TRIGGER lab_record_removed AFTER DELETE ON lab_record BEGIN
    UPDATE lab SET changes = changes + 1 WHERE project_id = OLD.project_id;
  END;
  CREATE TRIGGER project_changed AFTER UPDATE ON project BEGIN
    UPDATE lab SET changes = changes + 1 WHERE project_id = NEW.project_id;
  END
  `,
  // The file that is about to take the place of the .gns3 file: should it have done so when we died, it is ours.
  'ALTER TABLE lab ADD COLUMN coming TEXT',
  // The lab is being closed: should we die meanwhile, the next start closes it.
  'ALTER TABLE lab ADD COLUMN closing INTEGER NOT NULL DEFAULT 0',
  // What other computes may have of a project, until it is known what became of it there.
  `CREATE TABLE remote_object (
    position INTEGER PRIMARY KEY,
    compute_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    path TEXT NOT NULL,
    UNIQUE (compute_id, path)
  )`,
  // The project was deleted while the compute could not be reached: its files there are to go.
  'ALTER TABLE remote_object ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0',
];
