/**
 * The rows of learn.db: what was learned, by kind and key, together with the place in the record up
 * to which it was. Rows and place change in one transaction, so that a process may be killed
 * anywhere. It is only an index: a file that is damaged, or of another version, is begun again.
 */
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type Json, limits } from '#model'

export const rowKinds = ['run', 'edge', 'tool', 'example', 'shape', 'capability', 'use'] as const
export type RowKind = (typeof rowKinds)[number]

/** What is fitted on the rows at fixed counts of runs. */
type ModelName = 'attention' | 'planner'

/** A row as it stands in the file; null where it was removed, so that readers see that too. */
export type StoredRow = { kind: RowKind; key: string; value: Json | null; n: number }

/** The event of the home up to which was folded; `hash` tells it from that of a restored record. */
export type Position = { seq: number; n: number; hash: string }

/** A change of what rows or models hold, or of how they are derived, is a new version. */
const learnVersion = 7

export const start: Position = { seq: 0, n: 0, hash: '' }

const tables = `
  CREATE TABLE IF NOT EXISTS row (kind TEXT, key TEXT, value TEXT, n INTEGER NOT NULL, PRIMARY KEY (kind, key)) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS row_n ON row (n);
  CREATE TABLE IF NOT EXISTS meta (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, n INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS model (name TEXT PRIMARY KEY, count INTEGER NOT NULL, state TEXT NOT NULL) STRICT;
  INSERT OR IGNORE INTO meta VALUES (1, 0, 0, '');
  PRAGMA user_version = ${learnVersion};
`

type CachedRow = { kind: RowKind; key: string; value: unknown; n: number | null }

/** By its index: to have the order for nothing, SQLite would read every row of the file instead. */
const changedRows = 'SELECT kind, key, value, n FROM row INDEXED BY row_n WHERE n > ? ORDER BY kind, key'

/** The open file. Rows are put within a step of the fold, and read at any time. */
export class Rows {
  readonly #database: DatabaseSync
  readonly #get: StatementSync
  readonly #put: StatementSync
  readonly #move: StatementSync
  /** Rows as this process has read or written them, while no other has moved the position. */
  readonly #seen = Object.fromEntries(rowKinds.map((kind) => [kind, new Map()])) as Record<
    RowKind,
    Map<string, CachedRow>
  >
  #seenAt = 0
  readonly #dirty = new Set<CachedRow>()
  /** The number of the home's event that is being folded. */
  #n = 0

  /** `log` hears why a file was begun again. */
  constructor(file: string, log: (line: string) => void = () => {}) {
    this.#database = openDatabase(file, log)
    this.#get = this.#database.prepare('SELECT value FROM row WHERE kind = ? AND key = ?')
    this.#put = this.#database.prepare('INSERT OR REPLACE INTO row VALUES (?, ?, ?, ?)')
    this.#move = this.#database.prepare('UPDATE meta SET seq = ?, n = ?, hash = ?')
  }

  get<Value>(kind: RowKind, key: string): Value | undefined {
    return this.#known(kind, key).value as Value | undefined
  }

  /** What was there before is not read for it. */
  put(kind: RowKind, key: string, value: object): void {
    const seen = this.#seen[kind]
    const row: CachedRow = seen.get(key) ?? { kind, key, value: undefined, n: null }
    seen.set(key, row)
    this.#change(row, value)
  }

  update<Value extends object>(kind: RowKind, key: string, change: (known: Value | undefined) => Value): void {
    const row = this.#known(kind, key)
    this.#change(row, change(row.value as Value | undefined))
  }

  remove(kind: RowKind, key: string): void {
    const row = this.#known(kind, key)
    if (row.value !== undefined) this.#change(row, undefined)
  }

  #change(row: CachedRow, value: unknown): void {
    row.value = value
    row.n = this.#n
    this.#dirty.add(row)
  }

  #known(kind: RowKind, key: string): CachedRow {
    const found = this.#seen[kind].get(key)
    if (found !== undefined) return found
    const text = this.#get.get(kind, key)?.value
    const row = { kind, key, value: typeof text === 'string' ? JSON.parse(text) : undefined, n: null }
    if (this.#database.isTransaction) this.#seen[kind].set(key, row)
    return row
  }

  all<Value>(kind: RowKind): { key: string; value: Value }[] {
    if (this.#database.isTransaction) this.#flush()
    const rows = this.#database.prepare('SELECT key, value FROM row WHERE kind = ? AND value IS NOT NULL ORDER BY key')
    return rows.all(kind).map(({ key, value }) => ({ key: key as string, value: JSON.parse(value as string) as Value }))
  }

  count(kind: RowKind): number {
    const counted = this.#database.prepare('SELECT count(*) AS rows FROM row WHERE kind = ? AND value IS NOT NULL')
    return counted.get(kind)!.rows as number
  }

  /** Also those that were removed. */
  changedSince(n: number): StoredRow[] {
    const rows = this.#database.prepare(changedRows)
    return rows.all(n).map((row) => {
      return { ...row, value: row.value === null ? null : JSON.parse(row.value as string) } as StoredRow
    })
  }

  position(): Position {
    return { ...this.#database.prepare('SELECT seq, n, hash FROM meta').get() } as Position
  }

  /**
   * One step of the fold: false where another process is at it. What `step` puts is written
   * together with the position that it answers; null: nothing was found. It says by `at` which
   * event of the home it folds.
   */
  advance(step: (from: Position, at: (n: number) => void) => Position | null): boolean {
    if (!this.#begin()) return false
    let isMoved = false
    this.#commit(() => {
      const from = this.position()
      if (from.seq !== this.#seenAt || this.#seenCount() > limits.learnRowsCachedMax) this.#forget()
      const to = step(from, (n) => {
        this.#n = n
      })
      isMoved = to !== null
      this.#flush()
      if (to !== null) this.#moveTo(to)
      this.#seenAt = (to ?? from).seq
    })
    return isMoved
  }

  /** Empties everything, and begins with these rows. */
  reset(rows: readonly StoredRow[], position: Position): void {
    this.#database.exec('BEGIN IMMEDIATE')
    this.#forget()
    this.#commit(() => {
      this.#database.exec('DELETE FROM row; DELETE FROM model')
      for (const { kind, key, value, n } of rows) this.#write(kind, key, value, n)
      this.#moveTo(position)
    })
  }

  /** SHA-256 over kind, key and value of all rows in the order of their keys. */
  digest(): string {
    const hash = createHash('sha256')
    const rows = this.#database.prepare('SELECT kind, key, value FROM row WHERE value IS NOT NULL ORDER BY kind, key')
    for (const { kind, key, value } of rows.iterate()) hash.update(`${kind}\0${key}\0${value}\n`)
    return hash.digest('hex')
  }

  /** At how many runs a model was fitted: it is no row, and in no digest. */
  modelCount(name: ModelName): number | null {
    const found = this.#database.prepare('SELECT count FROM model WHERE name = ?').get(name)
    return (found?.count as number | undefined) ?? null
  }

  model(name: ModelName): string | null {
    const found = this.#database.prepare('SELECT state FROM model WHERE name = ?').get(name)
    return (found?.state as string | undefined) ?? null
  }

  putModel(name: ModelName, count: number, state: string): void {
    this.#database.prepare('INSERT OR REPLACE INTO model VALUES (?, ?, ?)').run(name, count, state)
  }

  close(): void {
    this.#database.close()
  }

  #begin(): boolean {
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      return true
    } catch (error) {
      if (isBusy(error)) return false
      throw error
    }
  }

  #commit(work: () => void): void {
    try {
      work()
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#forget()
      this.#dirty.clear()
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  #flush(): void {
    for (const row of this.#dirty) {
      this.#write(row.kind, row.key, row.value ?? null, row.n!)
      // One for each run: it is not asked for again.
      if (row.kind === 'run' || row.kind === 'use') this.#seen[row.kind].delete(row.key)
    }
    this.#dirty.clear()
  }

  #write(kind: RowKind, key: string, value: unknown, n: number): void {
    this.#put.run(kind, key, value === null ? null : JSON.stringify(value), n)
  }

  #seenCount(): number {
    return rowKinds.reduce((sum, kind) => sum + this.#seen[kind].size, 0)
  }

  #forget(): void {
    for (const kind of rowKinds) this.#seen[kind].clear()
  }

  #moveTo({ seq, n, hash }: Position): void {
    this.#move.run(seq, n, hash)
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
    log(`learn.db is of version ${version}, not ${learnVersion}: it is made again from the record`)
  } catch (error) {
    if (isBusy(error)) throw error
    log(`learn.db cannot be read (${(error as Error).message}): it is made again from the record`)
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
