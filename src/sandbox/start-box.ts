/**
 * Why a box did not start, and whether to start it again: what killed it once need not kill the
 * next.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { AppError, limits } from '#model'

/**
 * From outside: by a person, by the kernel that was short of memory. A shell reports the signal as
 * 128 and its number.
 */
const killedBy: readonly (string | number | null)[] = ['SIGKILL', 'SIGTERM', 128 + 9, 128 + 15]

/** The process of a box is gone, or as good as gone: how it ended, and its last words. */
export class BoxDeath extends AppError<'SANDBOX_EXECUTION_FAILED'> {
  readonly isKill: boolean
  readonly stderr: string

  constructor(how: string, end: string | number | null, stderr: string) {
    const isKill = killedBy.includes(end)
    const context = { stderr, ...(isKill ? { killed: true } : {}) }
    super('SANDBOX_EXECUTION_FAILED', `Cannot continue the program: its box ${how}; run it again`, context)
    this.isKill = isKill
    this.stderr = stderr
  }
}

/** What did not start may have wrapped the death of its box. */
function isKilled(thrown: unknown): boolean {
  for (let error = thrown; error instanceof Error; error = error.cause)
    if (error instanceof BoxDeath) return error.isKill
  return false
}

/**
 * Starts again what was killed while it started, after a pause that doubles; any other failure is
 * final.
 */
export async function startAgain<Started>(start: () => Promise<Started>): Promise<Started> {
  for (let tries = 1; ; tries++) {
    try {
      return await start()
    } catch (thrown) {
      if (tries === limits.boxStartTriesMax || !isKilled(thrown)) throw thrown
      await delay(limits.boxStartAgainMs * 2 ** (tries - 1))
    }
  }
}

/** What the system said when it refused to start a process, in words that name the remedy. */
export function spawnFailure({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'EMFILE' || code === 'ENFILE') return 'too many files are open; raise the limit with "ulimit -n 4096"'
  // The system refuses to place a descriptor above the limit, where one lies that we were started
  // with.
  if (code === 'EINVAL') return 'it may open too few files; raise the limit with "ulimit -n 4096"'
  if (code === 'EAGAIN') return 'the system starts no more processes; raise the limit with "ulimit -u"'
  if (code === 'ENOMEM') return 'the system has no memory left for another process'
  return message
}
