/**
 * Reads and writes files below one folder without ever following a link: each folder is opened
 * through the descriptor of the one above it.
 */
import { constants } from 'node:fs'
import { type FileHandle, link, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { AppError, limits, newId, sha256 } from '#model'
import { refused } from './workspace-path.ts'

type File = { path: string; sha256: string; bytes: number }
/** `kept` is what was there before, under its new name. */
type Written = File & { kept?: File }

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_WRONLY, O_CREAT, O_EXCL, O_APPEND } = constants

const below = (folder: FileHandle, name: string) => `/proc/self/fd/${folder.fd}/${name}`

/**
 * `shown` is what scripts may read whatever our mask: they run as another user. Each new name is
 * synced in the folder above it.
 */
type Makes = 'none' | 'shown' | 'own'

/** Undefined where a folder on the way is missing and none is to be made. */
async function openFolder(root: string, parts: readonly string[], makes: Makes): Promise<FileHandle | undefined> {
  let folder = await open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch((error: unknown) => {
    throw unopened(root, error)
  })
  for (const part of parts) {
    const path = below(folder, part)
    try {
      const isNew = makes !== 'none' && (await isMade(path))
      const next = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
      if (isNew) await folder.sync()
      await folder.close()
      folder = next
      if (isNew && makes === 'shown') await folder.chmod(0o755)
    } catch (error) {
      await folder.close()
      if (codeOf(error) === 'ENOENT' && makes === 'none') return undefined
      throw notPlain(parts.join('/'), error)
    }
  }
  return folder
}

/**
 * The bytes of a plain file; null where there is none. Throws where a link or something else is in
 * its place, or where it is larger than `bytesMax`.
 */
export async function readPlain(root: string, path: string, bytesMax: number): Promise<Buffer | null> {
  const parts = path.split('/')
  const folder = await openFolder(root, parts.slice(0, -1), 'none')
  if (folder === undefined) return null
  try {
    return await readIn(folder, parts.at(-1)!, bytesMax)
  } finally {
    await folder.close()
  }
}

async function readIn(folder: FileHandle, name: string, bytesMax: number): Promise<Buffer | null> {
  let file: FileHandle
  try {
    file = await open(below(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw notPlain(name, error)
  }
  try {
    const { size, isFile } = await kindOf(file)
    if (!isFile) throw refused(name, 'does not name a plain file')
    if (size > bytesMax) throw refused(name, `names a file of more than ${bytesMax} bytes`)
    return await file.readFile()
  } finally {
    await file.close()
  }
}

async function kindOf(file: FileHandle): Promise<{ size: number; isFile: boolean }> {
  const found = await file.stat()
  return { size: found.size, isFile: found.isFile() }
}

/**
 * Writes a file whole or not at all, and synced. Where the same bytes are there already nothing is
 * done; other bytes are kept beside it as `NAME~N`.
 */
export async function writePlain(root: string, parts: readonly string[], bytes: Uint8Array): Promise<Written> {
  const folder = (await openFolder(root, parts.slice(0, -1), 'shown'))!
  const name = parts.at(-1)!
  const path = parts.join('/')
  try {
    const there = await readIn(folder, name, Number.MAX_SAFE_INTEGER)
    const written = { path, sha256: sha256(bytes), bytes: bytes.length }
    if (there?.equals(bytes)) return written
    const kept = there === null ? {} : { kept: await keep(folder, parts, there) }
    await replace(folder, name, bytes, 'shown')
    return { ...written, ...kept }
  } finally {
    await folder.close()
  }
}

/** The next free `NAME~N`; one that a crash left behind with these bytes is it already. */
async function keep(folder: FileHandle, parts: readonly string[], there: Buffer): Promise<File> {
  const name = parts.at(-1)!
  const file = (n: number): File => ({ path: `${parts.join('/')}~${n}`, sha256: sha256(there), bytes: there.length })
  const names = await readdir(below(folder, '.'))
  const numbers = names.flatMap((one) => (one.startsWith(`${name}~`) ? Number(one.slice(name.length + 1)) || [] : []))
  const last = Math.max(0, ...numbers)
  const newest = last === 0 ? null : await readIn(folder, `${name}~${last}`, Number.MAX_SAFE_INTEGER)
  if (newest?.equals(there)) return file(last)
  await link(below(folder, name), below(folder, `${name}~${last + 1}`))
  return file(last + 1)
}

async function replace(folder: FileHandle, name: string, bytes: Uint8Array, makes: Makes): Promise<void> {
  const draft = below(folder, `.${newId()}.new`)
  const file = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644).catch((error: unknown) => {
    throw notPlain(name, error)
  })
  try {
    if (makes === 'shown') await file.chmod(0o644)
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    await rename(draft, below(folder, name))
    await folder.sync()
  } catch (error) {
    await rm(draft, { force: true })
    throw notPlain(name, error)
  }
}

/**
 * The folder of a step that this script may have: one that is free, or that a crash left with this
 * script and no output.
 */
export async function stepFolder(root: string, wanted: string, script: Uint8Array): Promise<string> {
  for (let n = 1; ; n += 1) {
    const folder = n === 1 ? wanted : `${wanted}_${n}`
    const there = await readPlain(root, `${folder}/tool_script.py`, limits.agentFileBytesMax)
    const isTaken = (await readPlain(root, `${folder}/tool_output.txt`, Number.MAX_SAFE_INTEGER)) !== null
    if (!isTaken && (there === null || there.equals(script))) return folder
  }
}

type EntryKind = 'file' | 'folder' | 'link'

/** Every entry below `root`, folders before what is in them; `enters` says into which folders. */
export async function walk(root: string, enters: (path: string, kind: EntryKind) => boolean): Promise<void> {
  let left: number = limits.workspaceEntriesMax
  const look = async (path: string): Promise<void> => {
    for (const entry of await readdir(path === '' ? root : `${root}/${path}`, { withFileTypes: true })) {
      left -= 1
      if (left < 0) throw tooMany(root)
      const inside = path === '' ? entry.name : `${path}/${entry.name}`
      const kind = entry.isSymbolicLink() ? 'link' : entry.isDirectory() ? 'folder' : 'file'
      if (enters(inside, kind) && kind === 'folder') await look(inside)
    }
  }
  await look('')
}

function tooMany(root: string): AppError {
  const message = `Cannot show ${root} to a script: it has more than ${limits.workspaceEntriesMax} files; choose a smaller --workspace`
  return new AppError('SANDBOX_SETUP_FAILED', message, { entriesMax: limits.workspaceEntriesMax })
}

function unopened(folder: string, error: unknown): AppError {
  const details = codeOf(error) === 'ENOENT' ? 'there is no such folder' : `it cannot be opened (${codeOf(error)})`
  const message = `Cannot work in ${folder}: ${details}`
  return new AppError('INVALID_INPUT_PARAM', message, { param: 'workspace', details }, error)
}

/** What stands in the way of a write, as the model may read it. */
function notPlain(path: string, error: unknown): Error {
  const code = codeOf(error)
  if (code === 'ELOOP' || code === 'ENOTDIR' || code === 'EISDIR' || code === 'ENXIO')
    return refused(path, 'leads through a link, or through what is no folder')
  if (code === 'ENOENT') return refused(path, 'leads through a folder that is gone')
  if (code === 'ENOSPC') return new AppError('STORE_FULL', `Cannot write ${path}: the disk is full`, {}, error)
  return error as Error
}

/** False where it is there already. */
async function isMade(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o755 })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

function codeOf(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code
}

/** Makes a folder where there is none. */
export async function makeFolder(root: string, name: string): Promise<void> {
  const folder = await openFolder(root, [name], 'own')
  await folder!.close()
}

/** For our own books: written whole and synced, whatever was there. */
export async function replacePlain(root: string, parts: readonly string[], bytes: Uint8Array): Promise<void> {
  await inFolder(root, parts, (folder, name) => replace(folder, name, bytes, 'own'))
}

/** In one write. */
export async function appendPlain(root: string, parts: readonly string[], text: string): Promise<void> {
  await inFolder(root, parts, async (folder, name) => {
    const file = await open(below(folder, name), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o644)
    try {
      await file.write(text)
      await file.sync()
    } finally {
      await file.close()
    }
  })
}

type Use = (folder: FileHandle, name: string) => Promise<void>

async function inFolder(root: string, parts: readonly string[], use: Use): Promise<void> {
  const folder = (await openFolder(root, parts.slice(0, -1), 'own'))!
  try {
    await use(folder, parts.at(-1)!)
  } finally {
    await folder.close()
  }
}
