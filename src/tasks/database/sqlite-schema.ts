/**
 * The tables of the task graph's file, and their version; a file of a newer version is left alone.
 */
import type { DatabaseSync } from 'node:sqlite'
import { AppError } from '#model'

const version = 3

const tables = `
  CREATE TABLE node (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT, status TEXT, mission TEXT, priority INTEGER,
    created TEXT NOT NULL, updated TEXT NOT NULL, properties TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX node_by_kind ON node (kind, status, created, id);
  CREATE INDEX node_by_mission ON node (mission, status, created, id) WHERE mission IS NOT NULL;
  CREATE TABLE edge (
    source TEXT NOT NULL REFERENCES node (id), type TEXT NOT NULL, target TEXT NOT NULL REFERENCES node (id),
    created TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (source, type, target)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX edge_by_target ON edge (target, type, source);
  CREATE UNIQUE INDEX edge_by_position ON edge (position);
  CREATE TABLE receipt (key TEXT PRIMARY KEY, answer TEXT NOT NULL, at TEXT NOT NULL) STRICT, WITHOUT ROWID;
`

/**
 * Since the second version: nodes that show a run, and how far the runs of a home are in the graph.
 */
const second = `
  ALTER TABLE node ADD COLUMN run TEXT;
  CREATE INDEX node_by_run ON node (run) WHERE run IS NOT NULL;
  CREATE INDEX node_made ON node (kind, created, id) WHERE run IS NULL;
  CREATE TABLE projection (home TEXT PRIMARY KEY, seq INTEGER NOT NULL, digest TEXT NOT NULL) STRICT, WITHOUT ROWID;
`

/**
 * Since the third: what is queued in the order in which it is handed out, so that a claim looks at
 * the first tasks and not at all of them.
 */
const third = `
  CREATE INDEX node_queued ON node (coalesce(priority, 0) DESC, created, id)
    WHERE kind = 'Task' AND status = 'QUEUED' AND run IS NULL;
`

/**
 * Creates the tables where there are none; refused as busy while another connection writes, and
 * then repeated whole. Durable by WAL with FULL: an acknowledged write survives a power cut.
 */
export function migrate(database: DatabaseSync): void {
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF')
  if (versionOf(database) === version) return
  database.exec('BEGIN IMMEDIATE')
  try {
    const found = versionOf(database)
    if (found > version) throw newer(found)
    if (found === 0) database.exec(tables)
    if (found < 2) database.exec(second)
    if (found < 3) database.exec(third)
    database.exec(`PRAGMA user_version = ${version}`)
    database.exec('COMMIT')
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK')
  }
}

function versionOf(database: DatabaseSync): number {
  return (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
}

function newer(found: number): AppError {
  const message = `Cannot open the task graph: its file has version ${found} and this program reads up to ${version}. Use a newer metier`
  return new AppError('CONFIG_INVALID', message, { version: found })
}
