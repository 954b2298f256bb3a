/**
 * Clears away the folders of boxes whose process is no more: a crash must not leave a trace for
 * ever.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isOrphan } from './owner.ts'
import { hostPath } from './pipes.ts'

export async function reapFolders(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter(isOrphan)) await removeFolder(join(folder, name))
}

/** With what is still mounted in it: runsc leaves its empty network there. */
export async function removeFolder(folder: string): Promise<void> {
  const mounted = mountsBelow(folder)
  if (mounted.length > 0) await promisify(execFile)('umount', ['-l', ...mounted], { env: { PATH: hostPath } })
  await rm(folder, { recursive: true, force: true })
}

function mountsBelow(folder: string): string[] {
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) =>
      (line.split(' ')[1] ?? '').replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8))),
    )
    .filter((path) => path.startsWith(`${folder}/`))
}
