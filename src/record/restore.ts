/**
 * Puts a backup in the place of a record that is gone. The new database is staged in a folder of
 * the home, says there that it was restored, and is verified together with the files that it names;
 * then one hard link makes it the record.
 *
 *   no staging ──copy, append, verify──► staged ──link metier.db──► restored
 *   restored ──rename checkpoints, rename staging──► no staging
 *
 * While there is a staging folder, the home cannot be opened. A restore that was cut off before the
 * link starts over, one that was cut off after it is completed.
 */
import { existsSync, linkSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { AppError, type RunId } from '#model'
import {
  copyFile,
  copyFolder,
  createHome,
  digestOfFile,
  type HomePaths,
  homePaths,
  isProcessAlive,
  lockProcess,
  storeError,
  syncFolder,
} from '#record/disk'
import { openForReading } from '#record/ledger'
import { verifyAt } from '#record/verify'
import { asOneFile, backupPaths } from './backup.ts'
import { openStore } from './store.ts'

/**
 * `unfinished` runs may have gone further after the backup than it knows: look at one before you
 * resume it.
 */
export type Restored = { file: string; home: string; events: number; digest: string; unfinished: RunId[] }

export async function restore(home: string, file: string): Promise<Restored> {
  const paths = homePaths(home)
  const source = resolve(file)
  refuseMissing(source)
  createHome(home)
  // Others see that a process is here, and of two that restore at once neither goes on.
  const lock = lockProcess(paths.processes)
  try {
    refuseLiving(paths, lock.process)
    if (!isCommitted(paths)) await prepare(paths, backupPaths(source, paths))
    complete(paths)
    return { file, home, ...(await restoredState(home)) }
  } catch (error) {
    if (!isCommitted(paths)) rmSync(paths.restoring, { recursive: true, force: true })
    throw storeError(error, `restore ${file} to ${home}`)
  } finally {
    lock.release()
  }
}

/** Up to the link, nothing of it is seen; what is wrong with it is said here. */
async function prepare(paths: HomePaths, copy: HomePaths): Promise<void> {
  rmSync(paths.restoring, { recursive: true, force: true })
  refuseExisting(paths)
  await refuseBroken(copy)
  refuseWithoutKeys(copy)
  const staging = homePaths(paths.restoring)
  await stage(copy, paths.restoring)
  addFiles(copy, staging, paths)
  await refuseBroken({ ...paths, database: staging.database, checkpoints: staging.checkpoints })
  linkSync(staging.database, paths.database)
}

function refuseMissing(file: string): void {
  for (const part of [file, `${file}.files`]) {
    if (existsSync(part)) continue
    const details = `there is no ${part}; a backup is FILE and FILE.files/`
    throw new AppError('INVALID_INPUT_PARAM', `Cannot restore ${file}: ${details}`, { param: 'file', details })
  }
}

/** A process that has the home open would go on writing into a record that is no longer there. */
function refuseLiving({ processes }: HomePaths, self: string): void {
  const locks = readdirSync(processes).flatMap((name) => /^([0-9a-f-]{36})\.db$/.exec(name)?.[1] ?? [])
  const living = locks.find((process) => process !== self && isProcessAlive(processes, process))
  if (living === undefined) return
  throw new AppError('RUN_OWNED', `Cannot restore: process ${living} has this home open. End it first`, {
    owner: living,
  })
}

/**
 * A database without an event is what any command makes of an empty home: nothing is lost with it.
 */
function refuseExisting({ database, checkpoints }: HomePaths): void {
  if (!existsSync(checkpoints) && existsSync(database) && isEmpty(database)) {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${database}${suffix}`, { force: true })
  }
  const existing = [database, checkpoints].find((path) => existsSync(path))
  if (existing === undefined) return
  const details = `there is a record already, ${existing}`
  const next = 'Move metier.db and checkpoints.jsonl away first, and leave keys/ where it is'
  throw new AppError('INVALID_INPUT_PARAM', `Cannot restore: ${details}. ${next}`, { param: 'home', details })
}

function isEmpty(file: string): boolean {
  const database = openForReading(file)
  try {
    return database.prepare('SELECT 1 FROM event LIMIT 1').get() === undefined
  } catch {
    return false
  } finally {
    database.close()
  }
}

async function refuseBroken(paths: HomePaths): Promise<void> {
  const { ok, reason } = await verifyAt(paths)
  if (!ok) throw new AppError('LEDGER_BROKEN', `Cannot restore: the backup does not verify: ${reason}`)
}

/**
 * With another key the next checkpoint would not fit those before it, and what is sealed could not
 * be opened.
 */
function refuseWithoutKeys({ database, keys }: HomePaths): void {
  const copy = openForReading(database)
  try {
    const has = (query: string) => copy.prepare(query).get() !== undefined
    const isSigned = has(`SELECT 1 FROM event WHERE run = 'home' AND type = 'ledger.checkpointed' LIMIT 1`)
    const isSealed = has('SELECT 1 FROM sealed UNION ALL SELECT 1 FROM inbox LIMIT 1')
    const missing = [isSigned ? ['sign.pem'] : [], isSealed ? ['seal.key'] : []]
      .flat()
      .filter((name) => !existsSync(join(keys, name)))
    if (missing.length === 0) return
    const state = `the home's ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not in ${keys}`
    throw new AppError('CONFIG_INVALID', `Cannot restore: ${state}. Keys are not in a backup: put them back first`, {
      missing,
    })
  } finally {
    copy.close()
  }
}

/**
 * The database as a home of its own, with the word that it was restored as its last event before a
 * signed checkpoint.
 */
async function stage(copy: HomePaths, home: string): Promise<void> {
  const { database, checkpoints, keys } = homePaths(home)
  createHome(home)
  copyFile(copy.database, database)
  if (existsSync(copy.checkpoints)) copyFile(copy.checkpoints, checkpoints)
  copyFolder(copy.keys, keys)
  const { digest } = digestOfFile(copy.database)
  const store = await openStore({ home })
  try {
    await store.appendHome('ledger.restored', { from: copy.database, digest })
  } finally {
    await store.close()
  }
  asOneFile(database)
}

/**
 * Blobs, artifacts and keys have names of their own: what is there already stays, and what is added
 * does no harm if this fails.
 */
function addFiles(copy: HomePaths, staging: HomePaths, to: HomePaths): void {
  for (const folder of [copy.blobs, staging.blobs]) addMissing(folder, to.blobs)
  addMissing(copy.artifacts, to.artifacts)
  addMissing(staging.keys, to.keys)
  addTasks(copy.tasks, to.tasks)
}

/**
 * A task graph that is there stays, as every other file does: it may know more than the backup's.
 */
function addTasks(from: string, to: string): void {
  if (!existsSync(from) || existsSync(to)) return
  const draft = `${to}.new`
  rmSync(draft, { force: true })
  copyFile(from, draft)
  renameSync(draft, to)
}

function addMissing(from: string, to: string): void {
  for (const name of existsSync(from) ? readdirSync(from) : []) {
    if (existsSync(join(to, name))) continue
    const draft = join(to, `.${name}.new`)
    rmSync(draft, { recursive: true, force: true })
    const copy = statSync(join(from, name)).isDirectory() ? copyFolder : copyFile
    copy(join(from, name), draft)
    renameSync(draft, join(to, name))
  }
  syncFolder(to)
}

/** The link is there: the same file has both names. */
function isCommitted({ database, restoring }: HomePaths): boolean {
  const staged = homePaths(restoring).database
  return existsSync(staged) && existsSync(database) && statSync(staged).ino === statSync(database).ino
}

/** The staging folder goes in one step: half of it would not show that the link was made. */
function complete({ database, checkpoints, restoring, restored }: HomePaths): void {
  const staged = homePaths(restoring).checkpoints
  if (existsSync(staged)) renameSync(staged, checkpoints)
  syncFolder(dirname(database))
  rmSync(restored, { recursive: true, force: true })
  renameSync(restoring, restored)
  syncFolder(dirname(database))
  rmSync(restored, { recursive: true, force: true })
}

async function restoredState(home: string): Promise<Omit<Restored, 'file' | 'home'>> {
  const store = await openStore({ home, create: false })
  try {
    const last = store.events('home', { type: 'ledger.restored' }).at(-1)
    const digest = last?.type === 'ledger.restored' ? last.body.digest : ''
    const open = store.runs({ status: ['running', 'interrupted', 'approval_required', 'uncertain'] })
    return { events: store.stats().events, digest, unfinished: open.map(({ run }) => run) }
  } finally {
    await store.close()
  }
}
