/** Refuses to begin where the system lets us open too few files to do anything useful with. */
import { readFileSync } from 'node:fs'
import { AppError, limits } from '#model'

/** Node has raised the soft limit to the hard one by now, so what is read here is final. */
export function checkOpenFiles(text: string = processLimits()): void {
  const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1]
  if (soft === undefined || Number(soft) >= limits.openFilesMin) return
  const message = `Cannot start: this process may open ${soft} files, and needs at least ${limits.openFilesMin}; raise the limit with "ulimit -n 4096"`
  throw new AppError('CONFIG_INVALID', message, { openFiles: Number(soft), openFilesMin: limits.openFilesMin })
}

/** Empty where the system has no such file: then nothing is known, and nothing is refused. */
function processLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'latin1')
  } catch {
    return ''
  }
}
