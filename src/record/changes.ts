/** Sees what others wrote: SQLite's data_version is read every few milliseconds while somebody listens. */
import type { DatabaseSync } from 'node:sqlite'
import { limits, type RunId } from '#model'

export type Changes = {
  onChange(listener: () => void): () => void
  /** Fires for every row of the run's inbox that came since, also for those that wait already. */
  onInbox(run: RunId, listener: () => void): () => void
  /** Looks at once instead of at the next tick. */
  look(): void
  stop(): void
}

export function watchChanges(database: DatabaseSync): Changes {
  const version = database.prepare('PRAGMA data_version')
  const arrived = database.prepare('SELECT run, max(id) AS id FROM inbox GROUP BY run')
  const listeners = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  let seen: unknown

  function look(): void {
    const now = version.get()?.data_version
    if (now === seen) return
    seen = now
    for (const listener of [...listeners]) listener()
  }

  function onChange(listener: () => void): () => void {
    listeners.add(listener)
    timer ??= setInterval(look, limits.foreignPollMs).unref()
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) stop()
    }
  }

  function onInbox(run: RunId, listener: () => void): () => void {
    let last = 0
    seen = undefined
    return onChange(() => {
      const id = (arrived.all() as { run: string; id: number }[]).find((row) => row.run === run)?.id ?? 0
      if (id > last) listener()
      last = Math.max(last, id)
    })
  }

  function stop(): void {
    clearInterval(timer)
    timer = undefined
  }

  return { onChange, onInbox, look, stop }
}
