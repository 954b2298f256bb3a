/**
 * Sees what was written, by us or by others: SQLite's data_version is read every few milliseconds
 * while there is a listener.
 */
import type { DatabaseSync } from 'node:sqlite'
import { limits, type RunId } from '#model'

type Changes = {
  onChange(listener: () => void): () => void
  /** Fires when something came into the run's inbox, also for what waits there already. */
  onInbox(run: RunId, listener: () => void): () => void
  /** Looks at once instead of at the next tick. */
  look(): void
  stop(): void
}

type InboxListener = { run: RunId; listener: () => void; lastId: number }

export function watchChanges(database: DatabaseSync): Changes {
  const version = database.prepare('PRAGMA data_version')
  const arrived = database.prepare('SELECT run, max(id) AS id FROM inbox GROUP BY run')
  const listeners = new Set<() => void>()
  const inboxListeners = new Set<InboxListener>()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let seen: unknown

  function look(): void {
    const now = version.get()?.data_version
    if (now === seen) return
    seen = now
    for (const listener of [...listeners]) listener()
    if (inboxListeners.size > 0) lookIntoInbox()
  }

  function lookIntoInbox(): void {
    const ids = new Map(arrived.all().map(({ run, id }) => [run as RunId, id as number]))
    for (const waiting of [...inboxListeners]) {
      const id = ids.get(waiting.run) ?? 0
      if (id <= waiting.lastId) continue
      waiting.lastId = id
      waiting.listener()
    }
  }

  function listen<Listener>(set: Set<Listener>, listener: Listener): () => void {
    set.add(listener)
    if (!isStopped) timer ??= setInterval(look, limits.foreignPollMs).unref()
    return () => {
      set.delete(listener)
      if (listeners.size + inboxListeners.size === 0) pause()
    }
  }

  function onInbox(run: RunId, listener: () => void): () => void {
    seen = undefined
    return listen(inboxListeners, { run, listener, lastId: 0 })
  }

  function pause(): void {
    clearInterval(timer)
    timer = undefined
  }

  function stop(): void {
    isStopped = true
    pause()
  }

  return { onChange: (listener) => listen(listeners, listener), onInbox, look, stop }
}
