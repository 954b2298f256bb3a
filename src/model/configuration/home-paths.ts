/** Where the files of a home folder lie. */
import { join } from 'node:path'

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
