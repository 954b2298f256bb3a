/**
 * Online backup: the database as one file, and beside it the files that it names, verified
 * together. Keys stay at home.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { AppError, isUuid, limits } from '#model'
import { copyFile, copyFolder, digestOfFile, type HomePaths, homePaths, storeError, syncFolder } from '#record/disk'
import { mendCheckpoints } from '#record/ledger'
import { verifyAt } from '#record/verify'

/** `digest` is that of `file`: `ledger.restored` names it. */
export type BackedUp = { file: string; files: string; events: number; digest: string }

/** Where the parts of a backup lie; `keys` are those of the home that it is of, or goes to. */
export function backupPaths(file: string, { keys }: HomePaths): HomePaths {
  return { ...homePaths(`${file}.files`), database: file, keys }
}

/**
 * Writes FILE and FILE.files/, readable by their owner only: together with a home's `keys/` they
 * are a home again.
 */
export async function backUp(home: string, database: DatabaseSync, file: string): Promise<BackedUp> {
  const paths = homePaths(home)
  const copy = backupPaths(file, paths)
  const files = `${file}.files`
  if (existsSync(file) || existsSync(files)) {
    const details = 'it exists already'
    throw new AppError('INVALID_INPUT_PARAM', `Cannot back up to ${file}: ${details}`, { param: 'file', details })
  }
  try {
    await copyAll(paths, copy, files, database)
    return { file, files, events: await verifyCopy(copy), digest: digestOfFile(file).digest }
  } catch (error) {
    rmSync(file, { force: true })
    rmSync(files, { recursive: true, force: true })
    throw storeError(error, `back up to ${file}`)
  }
}

async function copyAll(from: HomePaths, to: HomePaths, files: string, database: DatabaseSync): Promise<void> {
  mkdirSync(files, { mode: 0o700 })
  // First: a copy that were older than its checkpoints would not verify.
  if (existsSync(from.checkpoints)) copyFile(from.checkpoints, to.checkpoints)
  // Before and after: a run may be purged, or name a new blob, while the database is being copied.
  copyBlobs(from.blobs, to.blobs)
  // Made by us and empty: else it would be readable to others until it is written.
  closeSync(openSync(to.database, 'wx', 0o600))
  await backup(database, to.database)
  settle(to)
  copyBlobs(from.blobs, to.blobs)
  copyArtifacts(from.artifacts, to.artifacts)
  await copyTasks(from.tasks, to.tasks)
  for (const path of [to.blobs, files, dirname(files)]) syncFolder(path)
}

/** Those that are not there yet; what is still being written has no name yet. */
function copyBlobs(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(from)) {
    if (/^[0-9a-f]{64}$/.test(name) && !existsSync(join(to, name))) copyUnlessGone(join(from, name), join(to, name))
  }
}

/** A blob may be purged in this very moment; whether the copy needs it, its verification says. */
function copyUnlessGone(from: string, to: string): void {
  try {
    copyFile(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** The task graph is a database of its own: a copy of one moment, not of the record's. */
async function copyTasks(from: string, to: string): Promise<void> {
  if (!existsSync(from)) return
  closeSync(openSync(to, 'wx', 0o600))
  const database = new DatabaseSync(from, { readOnly: true, timeout: limits.graphWriteWaitMsMax })
  try {
    await backup(database, to)
  } finally {
    database.close()
  }
  asOneFile(to)
}

/** Those that are stored; what is still being written has another name. */
function copyArtifacts(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 })
  for (const name of readdirSync(from)) if (isUuid(name)) copyFolder(join(from, name), join(to, name))
  syncFolder(to)
}

/** Checkpoints that were made meanwhile belong to the copy too. */
function settle({ database, checkpoints }: HomePaths): void {
  const copy = new DatabaseSync(database)
  try {
    mendCheckpoints(checkpoints, copy)
  } finally {
    copy.close()
  }
  asOneFile(database)
}

/** Without a log beside it, which could be left behind; and on disk. */
export function asOneFile(file: string): void {
  const database = new DatabaseSync(file)
  try {
    database.exec('PRAGMA journal_mode = DELETE')
  } finally {
    database.close()
  }
  const descriptor = openSync(file, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

async function verifyCopy(copy: HomePaths): Promise<number> {
  const { ok, events, reason } = await verifyAt(copy)
  if (ok) return events
  const next = 'Run "metier audit verify"'
  throw new AppError('LEDGER_BROKEN', `Cannot back up the record: the copy does not verify: ${reason}. ${next}`)
}
