/** Online backup: the database as one file, and beside it the files that it names. Keys stay at home. */
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { AppError } from '#model'
import { mendCheckpoints } from './checkpoint.ts'
import { homePaths } from './home.ts'
import { storeError } from './store-error.ts'

/** Writes FILE and FILE.files/: together with a home's `keys/` they are a home again. */
export async function backUp(home: string, database: DatabaseSync, file: string): Promise<void> {
  const { checkpoints, blobs, artifacts } = homePaths(home)
  const beside = `${file}.files`
  if (existsSync(file) || existsSync(beside)) {
    const details = 'it exists already'
    throw new AppError('INVALID_INPUT_PARAM', `Cannot back up to ${file}: ${details}`, { param: 'file', details })
  }
  try {
    mkdirSync(beside, { mode: 0o700 })
    // First: a copy that were older than its checkpoints would not verify.
    if (existsSync(checkpoints)) cpSync(checkpoints, join(beside, 'checkpoints.jsonl'))
    // Before and after: a run may be purged, or name a new blob, while the database is being copied.
    copyBlobs(blobs, join(beside, 'blobs'))
    await backup(database, file)
    mend(join(beside, 'checkpoints.jsonl'), file)
    copyBlobs(blobs, join(beside, 'blobs'))
    cpSync(artifacts, join(beside, 'artifacts'), { recursive: true })
  } catch (error) {
    throw storeError(error, `back up to ${file}`)
  }
}

/** Those that are not there yet; what is still being written has no name yet. */
function copyBlobs(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(from)) {
    if (/^[0-9a-f]{64}$/.test(name) && !existsSync(join(to, name))) cpSync(join(from, name), join(to, name))
  }
}

/** Checkpoints that were made while the database was being copied belong to the copy too. */
function mend(checkpoints: string, file: string): void {
  const copy = new DatabaseSync(file)
  try {
    mendCheckpoints(checkpoints, copy)
  } finally {
    copy.close()
  }
}
