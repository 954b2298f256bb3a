/** The home folder: where everything of one record lies. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { storeError } from './store-error.ts'
import { syncFolder } from './sync-folder.ts'

export const homePaths = (home: string) => ({
  database: join(home, 'metier.db'),
  checkpoints: join(home, 'checkpoints.jsonl'),
  blobs: join(home, 'blobs'),
  artifacts: join(home, 'artifacts'),
  keys: join(home, 'keys'),
  processes: join(home, 'processes'),
})

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
