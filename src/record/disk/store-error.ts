/** What SQLite and the file system say, in our words. */
import { AppError, isObject } from '#model'

const sqliteBusy = 5
const sqliteReadOnly = 8
const sqliteDisk = 10
const sqliteCorrupt = 11
const sqliteFull = 13
const sqliteCannotOpen = 14
const sqliteNotADatabase = 26
const sqliteShmSize = 4874

const otherHome = 'Choose a folder that you may write with --home'

/** The error as an AppError; `doing` completes "Cannot …", `next` helps where a path is refused. */
export function storeError(thrown: unknown, doing: string, next = otherHome): AppError {
  if (thrown instanceof AppError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const code = isObject(thrown) ? thrown.code : undefined
  const { primary } = codesOf(thrown)
  if (isBusy(thrown)) {
    const state = 'another process has been writing to it all the while'
    return new AppError('TOOL_INTERNAL_ERROR', `Cannot ${doing}: ${state}. Try again`, {}, thrown)
  }
  if (isFull(thrown)) {
    return new AppError('STORE_FULL', `Cannot ${doing}: the disk is full. Free some space, then resume`, {}, thrown)
  }
  if (primary === sqliteNotADatabase || primary === sqliteCorrupt) {
    const repair = 'Restore a backup, or move the file away'
    return new AppError('LEDGER_BROKEN', `Cannot ${doing}: ${message}. ${repair}`, {}, thrown)
  }
  if (primary === sqliteReadOnly || primary === sqliteCannotOpen || isRefusal(code)) {
    return new AppError('CONFIG_INVALID', `Cannot ${doing}: ${message}. ${next}`, {}, thrown)
  }
  return new AppError('TOOL_INTERNAL_ERROR', `Cannot ${doing}: ${message}`, {}, thrown)
}

export function isBusy(thrown: unknown): boolean {
  return codesOf(thrown).primary === sqliteBusy
}

export function isFull(thrown: unknown): boolean {
  const { primary, extended } = codesOf(thrown)
  const code = isObject(thrown) ? thrown.code : undefined
  return primary === sqliteFull || extended === sqliteShmSize || code === 'ENOSPC' || code === 'EDQUOT'
}

/** The disk failed: not that it is full. */
export function isDiskError(thrown: unknown): boolean {
  const { primary, extended } = codesOf(thrown)
  return primary === sqliteDisk && extended !== sqliteShmSize
}

function codesOf(thrown: unknown): { primary: number; extended: number } {
  const extended = isObject(thrown) && typeof thrown.errcode === 'number' ? thrown.errcode : 0
  return { primary: extended & 0xff, extended }
}

function isRefusal(code: unknown): boolean {
  return (
    code === 'EACCES' ||
    code === 'ENOENT' ||
    code === 'EPERM' ||
    code === 'EROFS' ||
    code === 'ENOTDIR' ||
    code === 'EEXIST'
  )
}
