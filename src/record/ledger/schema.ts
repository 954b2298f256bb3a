/**
 * The database file: its tables, its settings, and a refusal in plain words where it cannot be
 * trusted.
 */
import { chmodSync, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AppError, limits } from '#model'
import { storeError, syncFolder } from '#record/disk'
import { addPinIndex, createTables, migrateFromV1 } from './tables.ts'

/** `Méti`, so that no foreign database is taken for ours. */
const applicationId = 0x4de97469
/**
 * From the third on every purge is signed; its tables are those of the second. The fourth finds the
 * pins of one tool by an index.
 */
const schemaVersion = 4
/** Older ones can corrupt a WAL file that several connections write. */
const sqliteVersionMin = [3, 51, 3]

/**
 * Creates or checks the file. Everything that could make it untrustworthy later is refused here.
 */
export function prepareDatabase(file: string, create: boolean): void {
  if (!create && !existsSync(file)) {
    throw new AppError('CONFIG_INVALID', `Cannot open the record: there is no ${file}. Name its folder with --home`)
  }
  try {
    const database = openForWriting(file)
    try {
      if (migrate(database, file)) {
        chmodSync(file, 0o600)
        syncFolder(dirname(file))
      }
    } finally {
      database.close()
    }
  } catch (error) {
    throw storeError(error, `open the record ${file}`)
  }
}

export function openForWriting(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: limits.storeBusyMsMax })
  refuseOldSqlite(database)
  demand(database, 'journal_mode', 'WAL', 'wal')
  demand(database, 'synchronous', 'FULL', 2)
  database.exec('PRAGMA recursive_triggers = ON; PRAGMA secure_delete = ON; PRAGMA journal_size_limit = 67108864')
  database.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON')
  harden(database)
  return database
}

export function openForReading(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: limits.storeBusyMsMax, readOnly: true })
  harden(database)
  return database
}

/** A newer process may change the tables under us: then we stop instead of guessing. */
export function refuseNewer(version: number): void {
  if (version <= schemaVersion) return
  const state = `its format is ${version}, and this metier knows ${schemaVersion}`
  throw new AppError('CONFIG_INVALID', `Cannot use the record: ${state}. Update metier`, {
    version,
    known: schemaVersion,
  })
}

/** True if the tables were made. */
function migrate(database: DatabaseSync, file: string): boolean {
  if (pragma(database, 'user_version') === schemaVersion && pragma(database, 'application_id') === applicationId) {
    return false
  }
  database.exec('BEGIN IMMEDIATE')
  const version = pragma(database, 'user_version') as number
  const isOurs = pragma(database, 'application_id') === applicationId
  refuseNewer(isOurs ? version : 0)
  if (version === 0 && pragma(database, 'schema_version') === 0) {
    createTables(database)
    database.exec(`PRAGMA application_id = ${applicationId}`)
  } else if (!isOurs) {
    throw new AppError('CONFIG_INVALID', `Cannot open the record ${file}: it is another program's database`)
  } else if (version === 1) {
    migrateFromV1(database)
  } else if (version < schemaVersion) {
    addPinIndex(database)
  } // else another process was first while this one waited for the lock
  database.exec(`PRAGMA user_version = ${schemaVersion}; COMMIT`)
  return version === 0
}

function refuseOldSqlite(database: DatabaseSync): void {
  const { version } = database.prepare('SELECT sqlite_version() AS version').get() as { version: string }
  const parts = version.split('.').map(Number)
  const difference = sqliteVersionMin.map((least, i) => (parts[i] ?? 0) - least).find((part) => part !== 0) ?? 0
  if (difference >= 0) return
  const state = `SQLite ${version} is older than ${sqliteVersionMin.join('.')}`
  throw new AppError('CONFIG_INVALID', `Cannot keep a record: ${state}. Use Node 24.15 or newer`, { version })
}

/** Sets what durability rests on, and reads it back: some file systems silently give less. */
function demand(database: DatabaseSync, name: string, value: string, expected: unknown): void {
  database.exec(`PRAGMA ${name} = ${value}`)
  const actual = pragma(database, name)
  if (actual === expected) return
  const state = `${name} is ${actual} instead of ${expected}, so a crash could lose what was acknowledged`
  throw new AppError('CONFIG_INVALID', `Cannot keep a record here: ${state}. Use a local disk`, { [name]: actual })
}

function harden(database: DatabaseSync): void {
  database.exec('PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY')
  setPageCache(database)
  database.enableDefensive(true)
}

/** 16 MiB for pages. */
export function setPageCache(database: DatabaseSync): void {
  database.exec('PRAGMA cache_size = -16384')
}

function pragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]
}
