/**
 * Shows the runs of this home in the task graph, where the configuration asks for it: looks at the
 * record now and then, beside whatever this process does. A graph that is away is tried again
 * later, and nothing waits for it.
 */
import { type Config, type DagTask, limits, toAppError } from '#model'
import { homePaths, type Store } from '#record'
import { loadEngine } from '#run'
import type { GraphStore, Projection, RunSource } from '#tasks'
import { planOf } from '#verbs/views'
import { homeId } from './task-graph.ts'

const { needsOf } = await loadEngine()

/**
 * Ends with one last look where the graph answered before: what is left is for the next process.
 */
export function projectRuns(store: Store, config: Config, log: (line: string) => void): () => Promise<void> {
  const leaving = new AbortController()
  let graph: GraphStore | undefined
  let projection: Projection | undefined
  let looking: Promise<void> | null = null
  let isReached = config.taskGraph === 'sqlite'
  let failures = 0
  let notBefore = 0

  const open = async (): Promise<Projection> => {
    const { openGraphStore, openProjection } = await import('#tasks')
    const { home, taskGraph } = config
    graph ??= await openGraphStore(taskGraph === 'sqlite' ? { file: homePaths(home).tasks } : taskGraph)
    return openProjection({ store: graph, record: store, source: sourceOf(store), home: homeId(home) })
  }
  const look = async (signal: AbortSignal) => {
    try {
      projection ??= await open()
      await projection.catchUp(signal)
      isReached = true
      failures = 0
    } catch (error) {
      isReached = false
      if (signal.aborted) return
      if (failures === 0) log(`Cannot show runs in the task graph, and will try again: ${toAppError(error).message}`)
      notBefore = performance.now() + Math.min(limits.projectionLookMs * 2 ** ++failures, limits.projectionPauseMsMax)
    }
  }
  const timer = setInterval(() => {
    if (looking !== null || performance.now() < notBefore) return
    looking = look(leaving.signal).finally(() => {
      looking = null
    })
  }, limits.projectionLookMs).unref()

  return async () => {
    clearInterval(timer)
    const over = AbortSignal.timeout(limits.projectionCloseMsMax)
    const last = async () => {
      await looking
      await look(over)
    }
    if (isReached) await Promise.race([last(), aborted(over)])
    leaving.abort()
    if (isReached) await graph?.close()
    else void graph?.close().catch(() => {})
  }
}

function sourceOf(store: Store): RunSource {
  return {
    value: store.value,
    plannedTasks: ({ plan }) => {
      const recorded = planOf(store.value(plan)).plan
      return recorded.kind === 'dag' ? recorded.tasks.map(plannedTask) : []
    },
  }
}

function plannedTask(task: DagTask) {
  return { id: task.id, title: task.tool ?? `Task ${task.id} (${task.type ?? 'code_execution'})`, needs: needsOf(task) }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
