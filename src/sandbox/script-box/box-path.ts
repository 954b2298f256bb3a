/** Where a file of a script lies in its box: a normalised absolute path below a folder of ours. */
import { posix } from 'node:path'
import { type AppError, limits } from '#model'

type Refusal = (details: string, value?: unknown) => AppError

export function parseBoxPath(folder: '/inputs/' | '/outputs/', path: string, refusal: Refusal): string {
  const normal = posix.normalize(path)
  const isInside = normal.startsWith(folder) && !normal.endsWith('/')
  if (!isInside) throw refusal(`must have an absolute path below ${folder}`, path)
  const isNameable = normal.split('/').every((part) => Buffer.byteLength(part) <= 255)
  const isShort = Buffer.byteLength(normal) <= limits.scriptPathBytesMax
  if (/[\x00-\x1f\x7f]/.test(normal) || !normal.isWellFormed() || !isNameable || !isShort)
    throw refusal('must have a path that can be a name', path)
  return normal
}

/** None twice, and none where another would need a folder. */
export function refuseOverlaps(paths: readonly string[], refusal: Refusal): void {
  const known = new Set<string>()
  for (const path of paths) {
    if (known.has(path)) throw refusal('must have different paths', path)
    known.add(path)
  }
  for (const path of paths) {
    const above = paths.find((other) => path.startsWith(`${other}/`))
    if (above) throw refusal(`cannot be both a file and a folder: "${above}"`, path)
  }
}
