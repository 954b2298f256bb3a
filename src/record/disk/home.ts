/** The home folder: where everything of one record lies. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { AppError, homePaths } from '#model'
import { storeError } from './store-error.ts'
import { syncFolder } from './sync-folder.ts'

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
