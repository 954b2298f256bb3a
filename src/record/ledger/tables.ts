/**
 * The tables of the database, how an older format becomes this one, and what of them can be made
 * again from the events.
 */
import { DatabaseSync } from 'node:sqlite'
import { homeChain } from '#model'
import { firstHash } from './event-line.ts'

/**
 * The events of the home that are few: an index holds them, and a query that says these words finds
 * it.
 */
export const indexedHomeEvents = `run = '${homeChain}' AND type NOT IN ('run.opened', 'run.closed')`

/**
 * The events that say which definition of a tool holds. An index finds those of one tool, for a
 * query that says these words.
 */
export const homePins = `run = '${homeChain}' AND type IN ('tool.pinned', 'tool.changed', 'tool.accepted')`
/**
 * Of a line that was damaged nothing: the index must not keep a home from being opened and
 * verified.
 */
export const pinnedTool = `iif(json_valid(line), json_extract(line, '$.body.tool'), NULL)`

/** Without it all pins of a home are read to check one tool; the fourth format has it. */
const pinIndex = `CREATE INDEX event_pin ON event (${pinnedTool}, n) WHERE ${homePins};`

/**
 * The record. `previous` is the seq of the event before in the chain: no append has to find its
 * place in an index of all.
 */
const events = `
  CREATE TABLE event (
    seq INTEGER PRIMARY KEY, run TEXT NOT NULL, n INTEGER NOT NULL, type TEXT NOT NULL, line TEXT NOT NULL,
    hash TEXT NOT NULL, previous INTEGER
  ) STRICT;
  CREATE INDEX event_home ON event (type, n) WHERE ${indexedHomeEvents};
  ${pinIndex}
  CREATE TRIGGER event_stays BEFORE UPDATE ON event BEGIN
    SELECT RAISE(ABORT, 'the record is append-only');
  END;
  CREATE TRIGGER event_remains BEFORE DELETE ON event WHEN NOT EXISTS (SELECT 1 FROM purged WHERE run = OLD.run) BEGIN
    SELECT RAISE(ABORT, 'the record is append-only');
  END;
`

/**
 * Indexes of the record, never the truth: verify() compares the heads with the chains. The home's
 * chain has a row too.
 */
const indexes = `
  CREATE TABLE run (
    id INTEGER PRIMARY KEY, run TEXT NOT NULL UNIQUE, owner TEXT, epoch INTEGER NOT NULL, status TEXT NOT NULL,
    started_at INTEGER NOT NULL, call_count INTEGER NOT NULL, n INTEGER NOT NULL, hash TEXT NOT NULL,
    at INTEGER NOT NULL, seq INTEGER
  ) STRICT;
  CREATE INDEX run_started ON run (started_at);
  CREATE INDEX run_status ON run (status, started_at);
  -- Apart from the run's row, which every append writes: these may be long and never change.
  CREATE TABLE request (id INTEGER PRIMARY KEY, key TEXT UNIQUE, intent TEXT) STRICT;
  -- Asked for by runs that are not finished; answer is NULL while it is open.
  CREATE TABLE approval (approval TEXT PRIMARY KEY, run TEXT NOT NULL, seq INTEGER NOT NULL, answer TEXT) STRICT, WITHOUT ROWID;
  CREATE INDEX approval_run ON approval (run);
  CREATE INDEX approval_open ON approval (seq) WHERE answer IS NULL;
  CREATE INDEX inbox_run ON inbox (run);
`

const rooms = `
  CREATE TABLE purged (run TEXT PRIMARY KEY, key TEXT UNIQUE) STRICT, WITHOUT ROWID;
  CREATE TABLE blob (run TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (run, digest)) STRICT, WITHOUT ROWID;
  CREATE INDEX blob_digest ON blob (digest);
  CREATE TABLE inbox (id INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, type TEXT NOT NULL, box BLOB NOT NULL) STRICT;
  CREATE TABLE sealed (
    run TEXT NOT NULL, placeholder TEXT NOT NULL, server TEXT NOT NULL, box BLOB NOT NULL,
    PRIMARY KEY (run, placeholder, server)
  ) STRICT, WITHOUT ROWID;
`

export function createTables(database: DatabaseSync): void {
  database.exec(rooms + events + indexes)
  database.prepare(`INSERT INTO run VALUES (1, '${homeChain}', NULL, 0, 'home', 0, 0, 0, ?, 0, NULL)`).run(firstHash)
}

/** The first format had an index of all events, and the request in the run's row. */
export function migrateFromV1(database: DatabaseSync): void {
  database.exec(`
    DROP TRIGGER event_stays; DROP TRIGGER event_remains; DROP INDEX event_checkpoint; DROP INDEX run_started;
    ALTER TABLE event RENAME TO first_event; ALTER TABLE run RENAME TO first_run;
    ${events} ${indexes}
    INSERT INTO event (seq, run, n, type, line, hash, previous)
      SELECT seq, run, n, type, line, hash, lag(seq) OVER (PARTITION BY run ORDER BY n) FROM first_event ORDER BY seq;
    INSERT INTO run (run, owner, epoch, status, started_at, call_count, n, hash, at, seq)
      SELECT run, owner, epoch, status, started_at, call_count, n, hash, at,
        (SELECT seq FROM first_event AS last WHERE last.run = first_run.run AND last.n = first_run.n)
      FROM first_run ORDER BY run <> '${homeChain}', started_at, run;
    INSERT INTO request SELECT run.id, key, intent FROM first_run JOIN run USING (run) WHERE run <> '${homeChain}';
    DROP TABLE first_event; DROP TABLE first_run;
  `)
  rebuildApprovals(database)
}

/** The second and the third format have these tables and all indexes but one. */
export function addPinIndex(database: DatabaseSync): void {
  database.exec(pinIndex)
}

/**
 * What the writer keeps up to date as approvals are asked for and answered, from the events alone.
 */
export function rebuildApprovals(database: DatabaseSync): void {
  database.exec(`
    DELETE FROM approval;
    CREATE TEMP TABLE told AS
      SELECT event.run, event.n, event.seq, event.type, json_extract(line, '$.body.approval') AS approval,
        json_extract(line, '$.body.call') AS call, json_extract(line, '$.body.answer') AS answer
      FROM event JOIN run USING (run)
      WHERE event.type IN ('approval.asked', 'approval.answered', 'call.resolved')
        AND status NOT IN ('done', 'failed', 'cancelled');
    CREATE INDEX temp.told_call ON told (run, call);
    INSERT OR REPLACE INTO approval SELECT approval, run, seq, (
      SELECT CASE later.type WHEN 'call.resolved' THEN 'cancelled' ELSE later.answer END FROM told AS later
      WHERE later.run = asked.run AND later.call = asked.call AND later.n > asked.n
        AND (later.type = 'call.resolved' OR later.type = 'approval.answered' AND later.approval = asked.approval)
      ORDER BY later.n LIMIT 1
    ) FROM told AS asked WHERE type = 'approval.asked' ORDER BY seq;
    DROP TABLE told;
  `)
}

/**
 * What of the tables, indexes and triggers is not as the database's format has them; null where all
 * are. The words count, not their spacing.
 */
export function schemaFault(database: DatabaseSync): string | null {
  const model = new DatabaseSync(':memory:')
  const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number }
  try {
    createTables(model)
    if (version < 4) model.exec('DROP INDEX event_pin')
    const [expected, found] = [schemaOf(model), schemaOf(database)]
    for (const name of new Set([...expected.keys(), ...found.keys()])) {
      if (expected.get(name) !== found.get(name)) return `the database was changed: its ${name} is not as it should be`
    }
    return null
  } finally {
    model.close()
  }
}

function schemaOf(database: DatabaseSync): Map<string, string> {
  const rows = database
    .prepare(
      `SELECT type || ' ' || name AS what, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'`,
    )
    .all() as { what: string; sql: string }[]
  return new Map(rows.map(({ what, sql }) => [what, sql.replace(/--[^\n]*|["\s]/g, '').toLowerCase()]))
}
