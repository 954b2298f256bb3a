/** What of a workspace a script does not see: secrets, histories, configurations, our own books. */
import { realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { AppError, limits } from '#model'
import type { WorkspaceView } from '#sandbox'
import { makeFolder, walk } from './workspace-files.ts'
import { books, type Guarded, isHidden } from './workspace-path.ts'

/** Paths of ours that lie inside the workspace. */
export async function guardedIn(folder: string, own: readonly string[]): Promise<Guarded> {
  const real = await Promise.all(own.map((path) => realpath(path).catch(() => path)))
  return real.map((path) => relative(folder, path)).filter((path) => path !== '' && !path.startsWith('..'))
}

/**
 * Only what exists can be masked, and the books of a session may be written for the first time
 * while its first script runs: their folders are made before the box is. A link is masked where it
 * leads to, since it can only be read through that.
 */
export async function hiddenIn(folder: string, own: readonly string[]): Promise<WorkspaceView['hidden']> {
  if (await isClosed(folder)) throw closed(folder)
  for (const name of books) await makeFolder(folder, name)
  const guarded = await guardedIn(folder, own)
  const found = { file: [] as string[], folder: [] as string[], link: [] as string[] }
  await walk(folder, (path, kind) => {
    if (!isHidden(path, guarded)) return true
    found[kind].push(path)
    return false
  })
  if (found.file.length + found.folder.length + found.link.length > limits.workspaceHiddenMax) throw tooMany()
  for (const link of found.link) {
    const target = await targetOf(folder, link)
    if (target !== null) found[target.kind].push(target.path)
  }
  const folders = found.folder.filter((path) => !found.folder.some((above) => path.startsWith(`${above}/`)))
  const files = found.file.filter((path) => !folders.some((above) => path.startsWith(`${above}/`)))
  return { folders: [...new Set(folders)], files: [...new Set(files)] }
}

/** Null where it leads nowhere, or to what a script does not see anyway. */
async function targetOf(folder: string, link: string): Promise<{ path: string; kind: 'file' | 'folder' } | null> {
  const target = await realpath(join(folder, link)).catch(() => null)
  if (target === null || !target.startsWith(`${folder}/`)) return null
  return { path: relative(folder, target), kind: (await stat(target)).isDirectory() ? 'folder' : 'file' }
}

/** Boxes that root opens run as a user of their own, who owns nothing of it. */
async function isClosed(folder: string): Promise<boolean> {
  return process.getuid?.() === 0 && ((await stat(folder)).mode & 0o005) !== 0o005
}

function closed(folder: string): AppError {
  const message = `Cannot show the workspace to a script: a script that root starts runs as another user, who may not read this folder; chmod o+rx ${folder}`
  return new AppError('SANDBOX_SETUP_FAILED', message, { folder })
}

function tooMany(): AppError {
  const message = `Cannot show the workspace to a script: more than ${limits.workspaceHiddenMax} files of it must be hidden`
  return new AppError('SANDBOX_SETUP_FAILED', message, { hiddenMax: limits.workspaceHiddenMax })
}
