// The tables of labwire.db, one script per version. Never change a released script; append a new one.

/** Applied in order; `PRAGMA user_version` counts the applied ones. */
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
  // The fingerprint of a file about to replace the .gns3 file: if that happened before a crash, the file is ours.
  'ALTER TABLE lab ADD COLUMN coming TEXT',
  // The lab is closing: after a crash the next start closes it.
  'ALTER TABLE lab ADD COLUMN closing INTEGER NOT NULL DEFAULT 0',
  // What other computes may have of a project, until the outcome there is known.
  `CREATE TABLE remote_object (
    position INTEGER PRIMARY KEY,
    compute_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    path TEXT NOT NULL,
    UNIQUE (compute_id, path)
  )`,
  // The project was deleted while the compute was unreachable: its files there are still to be deleted.
  'ALTER TABLE remote_object ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0',
  // The last events of the controller, for the next one of a cluster.
  `CREATE TABLE event (
    position INTEGER PRIMARY KEY,
    bus TEXT NOT NULL,
    epoch TEXT NOT NULL,
    number INTEGER NOT NULL,
    project_id TEXT,
    action TEXT NOT NULL,
    body TEXT NOT NULL
  )`,
];
