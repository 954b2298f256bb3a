/**
 * The projection of a home's runs into the task graph: a reader that follows the record by `seq`.
 * What it writes follows from the record alone, whole nodes under derived ids, in one transaction
 * with the position up to which the record is in the graph. So it can be killed anywhere, several
 * processes of a home may project at once, and a graph that was lost is built again.
 */
import { type Event, limits, type RunId, sha256 } from '#model'
import type { Store } from '#record'
import type { GraphStore, GraphWriter, Position } from '#tasks/database'
import { foldRun, newRunGraph, type RunGraph, type RunSource, takeChanges } from './run-graph.ts'

export type { PlannedTask, RunSource } from './run-graph.ts'

type ProjectedRecord = Pick<Store, 'eventsSince' | 'events'>

type ProjectionOptions = {
  store: GraphStore
  record: ProjectedRecord
  source: RunSource
  /** Which home this is, wherever its folder lies: many may share one graph. */
  home: string
}

export type Projection = {
  /**
   * Until everything that is on the record is in the graph; the number of events that were read.
   */
  catchUp(signal: AbortSignal): Promise<number>
}

type Batch = { to: Position; count: number; runs: RunGraph[]; purged: string[] }

const start: Position = { seq: 0, digest: '' }

export function openProjection({ store, record, source, home }: ProjectionOptions): Projection {
  /**
   * Runs under way, as far as they were folded; those that are not here are folded from their first
   * event.
   */
  const folded = new Map<string, RunGraph>()
  let known: Position | null = null

  const batchAfter = ({ seq }: Position): Batch | null => {
    const rows = record.eventsSince(seq, limits.projectionEventsMax)
    const last = rows.at(-1)
    if (last === undefined) return null
    const events = rows.map(({ line }) => JSON.parse(line) as Event)
    const purged = events.flatMap((event) => (event.type === 'run.purged' ? [event.body.run] : []))
    const touched = new Set(events.map(({ run }) => run).filter((run) => run !== 'home'))
    return {
      to: { seq: last.seq, digest: sha256(last.line) },
      count: rows.length,
      runs: [...touched].map((run) => fold(run)),
      purged,
    }
  }

  const fold = (run: string): RunGraph => {
    const graph = folded.get(run) ?? newRunGraph(run, home)
    folded.set(run, graph)
    for (const event of record.events(run as RunId, { after: graph.n })) foldRun(graph, event, source)
    return graph
  }

  const step = async (signal: AbortSignal): Promise<number> => {
    known ??= await positionOf(store, home, record, signal)
    const from: Position = known
    const batch = batchAfter(from)
    if (batch === null) return 0
    let isWritten = false
    try {
      isWritten = await write(store, home, batch, from, signal)
    } finally {
      if (!isWritten) known = null
      for (const { run, mission } of batch.runs) if (!isWritten || mission?.status !== 'ACTIVE') folded.delete(run)
    }
    if (isWritten) known = batch.to
    for (const run of [...folded.keys()].slice(0, -limits.projectionRunsMax)) folded.delete(run)
    return batch.count
  }

  return {
    async catchUp(signal) {
      let events = 0
      for (let read = await step(signal); read > 0; read = await step(signal)) {
        events += read
        await new Promise(setImmediate) // between batches this process does what it was started for
      }
      return events
    },
  }
}

/** False where another process was faster: what was folded for this batch is read again. */
function write(
  store: GraphStore,
  home: string,
  { to, runs, purged }: Batch,
  from: Position,
  signal: AbortSignal,
): Promise<boolean> {
  const changes = runs.map(takeChanges)
  return store.write(async (writer) => {
    const found = (await writer.lockProjected(home)) ?? start
    if (found.seq !== from.seq || found.digest !== from.digest) return false
    for (const { nodes } of changes) for (const part of parts(nodes)) await writer.mergeNodes(part)
    for (const { links } of changes) for (const part of parts(links)) await writer.mergeLinks(part)
    for (const run of purged) await writer.removeRun(run)
    await writer.setProjected(home, to)
    return true
  }, signal)
}

/**
 * Where the graph stands in the record. A record that was put back from a backup is another one:
 * what was projected of the lost part is removed, and projected again from the first event on.
 */
async function positionOf(
  store: GraphStore,
  home: string,
  record: ProjectedRecord,
  signal: AbortSignal,
): Promise<Position> {
  const found = await store.read((reader) => reader.projected(home), signal)
  if (found === null || isOf(record, found)) return found ?? start
  return store.write(async (writer: GraphWriter) => {
    const again = await writer.lockProjected(home)
    if (again === null || isOf(record, again)) return again ?? start
    await writer.removeProjected(home)
    await writer.setProjected(home, start)
    return start
  }, signal)
}

/**
 * Whether the record still has the event at which the graph stands; it may have been purged since.
 */
function isOf(record: ProjectedRecord, { seq, digest }: Position): boolean {
  if (seq === 0) return true
  const [row] = record.eventsSince(seq - 1, 1)
  return row !== undefined && (row.seq > seq || sha256(row.line) === digest)
}

/** How many events are not in the graph yet, counted up to a limit, and since when. */
export async function projectionLag(
  { store, record, home }: Pick<ProjectionOptions, 'store' | 'record' | 'home'>,
  signal: AbortSignal,
): Promise<{ events: number; since: string | null }> {
  const { seq } = (await store.read((reader) => reader.projected(home), signal)) ?? start
  const rows = record.eventsSince(seq, limits.projectionLagMax)
  const [first] = rows
  return { events: rows.length, since: first === undefined ? null : (JSON.parse(first.line) as Event).at }
}

function* parts<T>(list: readonly T[]): Iterable<T[]> {
  for (let at = 0; at < list.length; at += limits.projectionPartMax) yield list.slice(at, at + limits.projectionPartMax)
}
