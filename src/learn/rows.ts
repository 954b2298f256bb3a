/**
 * The rows of learn.db: what was learned, by kind and key, together with the place in the record up
 * to which it was. Rows and place change in one transaction, so that a process may be killed
 * anywhere. It is only an index: a file that is damaged, or of another version, is begun again.
 */
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Json } from '#model'

export const rowKinds = ['run', 'edge', 'tool', 'example', 'shape', 'capability', 'use'] as const
export type RowKind = (typeof rowKinds)[number]

/** A row as it stands in the file; null where it was removed, so that readers see that too. */
export type StoredRow = { kind: RowKind; key: string; value: Json | null; n: number }

/** The event of the home up to which was folded; `hash` tells it from that of a restored record. */
export type Position = { seq: number; n: number; hash: string }

export type Rows = {
  get<Value>(kind: RowKind, key: string): Value | undefined
  put(kind: RowKind, key: string, value: object): void
  remove(kind: RowKind, key: string): void
  all<Value>(kind: RowKind): { key: string; value: Value }[]
  count(kind: RowKind): number
  /** Also those that were removed. */
  changedSince(n: number): StoredRow[]
  position(): Position
  /**
   * One step of the fold: false where another process is at it. What `step` puts is written
   * together with the position that it answers; null: nothing was found, nothing is written.
   */
  advance(step: (from: Position, at: (n: number) => void) => Position | null): boolean
  /** Empties everything, and begins with these rows. */
  reset(rows: readonly StoredRow[], position: Position): void
  /** SHA-256 over kind, key and value of all rows in the order of their keys. */
  digest(): string
  close(): void
}

/** A change of what rows hold, or of how they are derived, is a new version. */
export const learnVersion = 1

export const start: Position = { seq: 0, n: 0, hash: '' }

const tables = `
  CREATE TABLE IF NOT EXISTS row (kind TEXT, key TEXT, value TEXT, n INTEGER NOT NULL, PRIMARY KEY (kind, key)) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS row_n ON row (n);
  CREATE TABLE IF NOT EXISTS meta (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, n INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
  INSERT OR IGNORE INTO meta VALUES (1, 0, 0, '');
  PRAGMA user_version = ${learnVersion};
`

/** `log` hears why a file was begun again. */
export function openRows(file: string, log: (line: string) => void = () => {}): Rows {
  const database = openDatabase(file, log)
  const get = database.prepare('SELECT value FROM row WHERE kind = ? AND key = ?')
  const put = database.prepare('INSERT OR REPLACE INTO row VALUES (?, ?, ?, ?)')
  const list = database.prepare('SELECT key, value FROM row WHERE kind = ? AND value IS NOT NULL ORDER BY key')
  const changed = database.prepare('SELECT kind, key, value, n FROM row WHERE n > ? ORDER BY kind, key')
  const counted = database.prepare('SELECT count(*) AS rows FROM row WHERE kind = ? AND value IS NOT NULL')
  const everything = database.prepare('SELECT kind, key, value FROM row WHERE value IS NOT NULL ORDER BY kind, key')
  const where = database.prepare('SELECT seq, n, hash FROM meta')
  const move = database.prepare('UPDATE meta SET seq = ?, n = ?, hash = ?')
  /** Rows that this step has read or written: each is parsed and written once. */
  const seen = new Map<string, { kind: RowKind; key: string; value: unknown; n: number | null }>()
  let n = 0

  const position = () => ({ ...where.get() }) as Position
  const flush = () => {
    for (const { kind, key, value, n: at } of seen.values())
      if (at !== null) put.run(kind, key, value === undefined ? null : JSON.stringify(value), at)
    seen.clear()
  }
  const inTransaction = (work: () => void) => {
    try {
      work()
      database.exec('COMMIT')
    } catch (error) {
      seen.clear()
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }
  const known = (kind: RowKind, key: string) => {
    const name = `${kind}\0${key}`
    const found = seen.get(name)
    if (found !== undefined) return found
    const text = get.get(kind, key)?.value as string | null | undefined
    const row = { kind, key, value: typeof text === 'string' ? JSON.parse(text) : undefined, n: null as number | null }
    if (database.isTransaction) seen.set(name, row)
    return row
  }
  return {
    get: <Value>(kind: RowKind, key: string) => known(kind, key).value as Value | undefined,
    put: (kind, key, value) => void Object.assign(known(kind, key), { value, n }),
    remove(kind, key) {
      const row = known(kind, key)
      if (row.value !== undefined) Object.assign(row, { value: undefined, n })
    },
    all<Value>(kind: RowKind) {
      if (database.isTransaction) flush()
      return list.all(kind).map(({ key, value }) => {
        return { key: key as string, value: JSON.parse(value as string) as Value }
      })
    },
    count: (kind) => counted.get(kind)!.rows as number,
    changedSince: (after) =>
      changed.all(after).map((row) => {
        return { ...row, value: row.value === null ? null : JSON.parse(row.value as string) } as StoredRow
      }),
    position,
    advance(step) {
      try {
        database.exec('BEGIN IMMEDIATE')
      } catch (error) {
        if (isBusy(error)) return false
        throw error
      }
      let isMoved = false
      inTransaction(() => {
        const to = step(position(), (at) => {
          n = at
        })
        isMoved = to !== null
        flush()
        if (to !== null) move.run(to.seq, to.n, to.hash)
      })
      return isMoved
    },
    reset(rows, { seq, n: at, hash }) {
      database.exec('BEGIN IMMEDIATE')
      inTransaction(() => {
        database.exec('DELETE FROM row')
        for (const row of rows) put.run(row.kind, row.key, row.value === null ? null : JSON.stringify(row.value), row.n)
        move.run(seq, at, hash)
      })
    },
    digest() {
      const hash = createHash('sha256')
      for (const { kind, key, value } of everything.iterate()) hash.update(`${kind}\0${key}\0${value}\n`)
      return hash.digest('hex')
    },
    close: () => database.close(),
  }
}

/** Nothing is lost with it: what it held is read from the record again. */
function openDatabase(file: string, log: (line: string) => void): DatabaseSync {
  try {
    const database = connect(file)
    const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number }
    if (version === learnVersion) return database
    if (version === 0 && database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()!.tables === 0) {
      database.exec(`BEGIN IMMEDIATE; ${tables} COMMIT`)
      return database
    }
    database.close()
    log(`learn.db is of version ${version}, not ${learnVersion}: it is made anew from the record`)
  } catch (error) {
    if (isBusy(error)) throw error
    log(`learn.db cannot be read (${(error as Error).message}): it is made anew from the record`)
  }
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
  const database = connect(file)
  database.exec(`BEGIN IMMEDIATE; ${tables} COMMIT`)
  return database
}

function connect(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 2000 })
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
  return database
}

const isBusy = (error: unknown) => (error as { errcode?: number }).errcode === 5
