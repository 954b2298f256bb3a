/**
 * A small text that only this home can read, in one file of its keys, changed by one process at a
 * time.
 */
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { limits, replaceFile } from '#model'
import { sealingKey } from './keys.ts'
import { openSealed, sealText } from './seal.ts'
import { isBusy, storeError } from './store-error.ts'
import { syncFolder } from './sync-folder.ts'

export type SealedFile = {
  /** Null where there is none. */
  read(): string | null
  /** Durable when it returns; another process sees the old text or the new one, never a half. */
  write(text: string): void
  remove(): void
  /** Differs after every write, ours or another process's. */
  version(): string
  /** Does the work while no other process does; the kernel lets go of the lock when we die. */
  locked<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value>
}

export function openSealedFile(folder: string, name: string): SealedFile {
  const file = join(folder, `${name}.sealed`)
  return {
    read() {
      const ciphertext = readIfThere(file)
      return ciphertext === null ? null : openSealed(ciphertext, name, sealingKey(folder))
    },
    write(text) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        replaceFile(file, sealText(text, name, sealingKey(folder)), { isDurable: true })
        syncFolder(folder)
      } catch (error) {
        throw storeError(error, `keep ${file}`)
      }
    },
    remove: () => rmSync(file, { force: true }),
    version() {
      const { ino, mtimeNs } = statSync(file, { throwIfNoEntry: false, bigint: true }) ?? { ino: 0n, mtimeNs: 0n }
      return `${ino} ${mtimeNs}`
    },
    async locked(signal, work) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const database = openLock(join(folder, `${name}.lock`))
      try {
        while (!isTaken(database)) await pause(limits.lockPollMs, undefined, { signal })
        return await work()
      } finally {
        database.close()
      }
    },
  }
}

function readIfThere(file: string): Uint8Array | null {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw storeError(error, `read ${file}`)
  }
}

function openLock(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file)
  } catch (error) {
    throw storeError(error, `open ${file}`)
  }
}

function isTaken(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw storeError(error, 'take a lock in the keys of the home')
  }
}
