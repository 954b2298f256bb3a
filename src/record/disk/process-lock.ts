/**
 * Who is alive: each process holds a lock on its own file for as long as it lives, and the kernel
 * lets go of it.
 */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { newId, type ProcessId } from '#model'
import { storeError } from './store-error.ts'

type ProcessLock = { process: ProcessId; release(): void }

/**
 * The file gets its name only once it is locked, so a name without a lock is always a dead process.
 */
export function lockProcess(folder: string): ProcessLock {
  const process = newId<ProcessId>()
  const file = join(folder, `${process}.db`)
  const database = lockFile(`${file}.new`)
  renameSync(`${file}.new`, file)
  return {
    process,
    release() {
      rmSync(file, { force: true })
      database.close()
    },
  }
}

function lockFile(file: string): DatabaseSync {
  try {
    const database = new DatabaseSync(file)
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    throw storeError(error, `open ${file}`)
  }
}

/**
 * True while the process holds its lock, as a stopped one (SIGSTOP) does. In doubt it is alive: no
 * run is taken from a living process.
 */
export function isProcessAlive(folder: string, process: string): boolean {
  const file = join(folder, `${process}.db`)
  if (!existsSync(file)) return false
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { readOnly: true })
    database.prepare('SELECT 1 FROM sqlite_schema').get()
    return false
  } catch {
    return existsSync(file)
  } finally {
    database?.close()
  }
}

/** Removes the locks of dead processes, and answers whose they were. */
export function removeDead(folder: string, self: string): ProcessId[] {
  const named = readdirSync(folder).flatMap((name) => /^([0-9a-f-]{36})\.db$/.exec(name)?.[1] ?? [])
  const dead = named.filter((process) => process !== self && !isProcessAlive(folder, process))
  for (const process of dead) removeLock(folder, process)
  return dead as ProcessId[]
}

/** For a process that was found dead: the next check need not try its lock. */
export function removeLock(folder: string, process: string): void {
  rmSync(join(folder, `${process}.db`), { force: true })
}
