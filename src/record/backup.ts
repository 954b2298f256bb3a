/** Online backup: the database as one file, and beside it the files that it names. Keys stay at home. */
import { cpSync, existsSync, mkdirSync } from 'node:fs'
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
    await backup(database, file)
    mend(join(beside, 'checkpoints.jsonl'), file)
    cpSync(blobs, join(beside, 'blobs'), { recursive: true })
    cpSync(artifacts, join(beside, 'artifacts'), { recursive: true })
  } catch (error) {
    throw storeError(error, `back up to ${file}`)
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
