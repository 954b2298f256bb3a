/** The home folder: where everything of one record lies. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { AppError } from '#model'
import { storeError } from './store-error.ts'
import { syncFolder } from './sync-folder.ts'

export const homePaths = (home: string) => ({
  database: join(home, 'metier.db'),
  tasks: join(home, 'tasks.db'),
  /** What was learned: an index that is made from the record. */
  learn: join(home, 'learn.db'),
  checkpoints: join(home, 'checkpoints.jsonl'),
  blobs: join(home, 'blobs'),
  artifacts: join(home, 'artifacts'),
  keys: join(home, 'keys'),
  processes: join(home, 'processes'),
  /** Where a backup is prepared to become the record; there only until that is done. */
  restoring: join(home, 'restoring'),
  /** What is left of that, once it is done: to be removed by the next who comes. */
  restored: join(home, 'restored'),
})

export type HomePaths = ReturnType<typeof homePaths>

/** What is half restored is neither the old record nor the new one. */
export function refuseHalfRestored(home: string): void {
  const { restoring, restored } = homePaths(home)
  rmSync(restored, { recursive: true, force: true })
  if (!existsSync(restoring)) return
  const next = 'Run "metier restore FILE" again, or wait until it is done'
  throw new AppError('CONFIG_INVALID', `Cannot open the home ${home}: a backup is being restored into it. ${next}`, {
    home,
  })
}

/** Makes the folder and its rooms, for its owner's eyes only and invisible to git. */
export function createHome(home: string): void {
  const { blobs, artifacts, keys, processes } = homePaths(home)
  try {
    const isNew = mkdirSync(home, { recursive: true, mode: 0o700 }) !== undefined
    for (const folder of [blobs, artifacts, keys, processes]) mkdirSync(folder, { recursive: true, mode: 0o700 })
    const ignore = join(home, '.gitignore')
    if (!existsSync(ignore)) writeFileSync(ignore, '*\n')
    if (isNew) syncFolder(dirname(home))
  } catch (error) {
    throw storeError(error, `open the home folder ${home}`)
  }
}
