/** Refuses a home folder that can never be created, before anything tries to. */
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '#model'

/** File systems of the kernel's own: Node's recursive mkdir never ends in them. */
const kernelFileSystems = [0x9fa0, 0x62656572, 0x27e0eb]

export function checkHome(home: string): void {
  const ancestor = nearestExisting(home)
  if (!statSync(ancestor).isDirectory()) throw cannotCreate(home, `"${ancestor}" is not a folder`)
  if (ancestor !== home && kernelFileSystems.includes(statfsSync(ancestor).type))
    throw cannotCreate(home, `"${ancestor}" belongs to the kernel, and nothing can be created there`)
}

function nearestExisting(path: string): string {
  for (let folder = path; ; folder = dirname(folder)) {
    if (exists(folder) || dirname(folder) === folder) return folder
  }
}

/**
 * A link that leads nowhere stands in the way as a file does, and is left to the code that creates
 * the folder.
 */
function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false // below a file, or not ours to look into
  }
}

function cannotCreate(home: string, why: string): AppError {
  const message = `Cannot use the home folder "${home}": ${why}. Choose a folder that you may write with --home`
  return new AppError('CONFIG_INVALID', message, { home })
}
