/** Lists runs newest first, narrowed by what their rows, their first events and their calls say. */
import { type JsonObject, type RecordedBody, type RunId, type RunStatus, splitToolId } from '#model'
import type { RunRow, Store } from '#record'

export type RunFilter = {
  limit?: number
  status?: readonly RunStatus[]
  /** RFC 3339; runs that started at or after it. */
  since?: string
  mode?: RecordedBody<'run.started'>['mode']
  /** A tool that the run called, `server:name`. */
  tool?: string
  /** A server of which the run called a tool. */
  server?: string
}

/** First events are read in batches, so that a short list of a large home stays cheap. */
const batchSize = 100

export function listRuns(store: Store, filter: RunFilter = {}): JsonObject[] {
  const { limit = Number.POSITIVE_INFINITY, status, since } = filter
  const rows = store.runs({
    ...(status === undefined ? {} : { status }),
    // Only what stands in the row itself can be cut off by the database.
    ...(Number.isFinite(limit) && !narrowsByEvents(filter) ? { limit } : {}),
  })
  const found: JsonObject[] = []
  for (let at = 0; at < rows.length && found.length < limit; at += batchSize) {
    const batch = rows.slice(at, at + batchSize).filter(({ startedAt }) => since === undefined || startedAt >= since)
    const started = store.startedEvents(batch.map(({ run }) => run))
    for (const row of batch) {
      const mode = started.get(row.run)?.mode ?? 'run'
      if (found.length < limit && matches(store, row.run, mode, filter)) found.push(lineOf(row, mode))
    }
  }
  return found
}

function narrowsByEvents({ since, mode, tool, server }: RunFilter): boolean {
  return [since, mode, tool, server].some((given) => given !== undefined)
}

function matches(store: Store, run: RunId, mode: RunFilter['mode'], filter: RunFilter): boolean {
  if (filter.mode !== undefined && filter.mode !== mode) return false
  const { tool, server } = filter
  if (tool === undefined && server === undefined) return true
  return store.events(run, { type: 'call.issued' }).some(({ body }) => {
    const called = (body as RecordedBody<'call.issued'>).tool
    return (tool === undefined || called === tool) && (server === undefined || splitToolId(called)?.server === server)
  })
}

function lineOf({ run, status, intent, startedAt, callCount }: RunRow, mode: string | undefined): JsonObject {
  return { run, status, mode: mode ?? 'run', intent, startedAt, callCount }
}
