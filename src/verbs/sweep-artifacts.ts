/**
 * Removes artifacts that have no node: store_artifact stores the content first and its node after
 * it, and a process that died in between leaves a content without a node.
 */
import { type Config, finishedStatuses, limits, type RunId, toAppError } from '#model'
import { type Artifacts, artifactsAddress, openArtifacts, type Store } from '#record'
import type { TaskGraphVerbs } from './task-graph.ts'

type Swept = { store: Store; artifacts: Artifacts; taskGraph: Pick<TaskGraphVerbs, 'hasArtifact'> }

/**
 * Only what a run of this record stored, which is finished and will not store it again; and only
 * where neither the graph nor that run names it. Whatever has no such run stays: files of a person,
 * outputs of scripts, artifacts of other homes in the same bucket.
 */
export async function sweepArtifacts(swept: Swept, signal: AbortSignal, now = new Date()): Promise<string[]> {
  const { artifacts, taskGraph } = swept
  const before = new Date(now.getTime() - limits.artifactUnclaimedMsMax)
  const removed: string[] = []
  await artifacts.removeUnfinished(before, signal)
  for (const { id, path } of await artifacts.storedBefore(before, signal)) {
    signal.throwIfAborted()
    const { run } = (await artifacts.get(path, signal)) ?? {}
    if (run === undefined || isNamed(swept.store, run as RunId, id)) continue
    if (await taskGraph.hasArtifact(id, { signal })) continue
    await artifacts.remove(path, signal)
    removed.push(path)
  }
  return removed
}

/** True also where it is not known, or may still come. */
function isNamed(store: Store, run: RunId, id: string): boolean {
  const row = store.run(run)
  if (row === undefined || !finishedStatuses.some((status) => status === row.status)) return true
  return store.lines(run).some((line) => line.includes(id))
}

type ArtifactHolders = Omit<Swept, 'artifacts'>

/**
 * Beside what a gateway does, until the function that comes back is called. What fails is told, and
 * tried again at the next start.
 */
export function sweepBeside(
  { store, taskGraph }: ArtifactHolders,
  config: Config,
  log: (line: string) => void,
): () => void {
  const over = new AbortController()
  const artifacts = openArtifacts(artifactsAddress(config))
  sweepArtifacts({ store, artifacts, taskGraph }, over.signal).then(
    ({ length }) => {
      if (length > 0) log(`Removed artifacts that neither a run nor the task graph knows: ${length}`)
    },
    (error) => {
      if (!over.signal.aborted) log(toAppError(error).message)
    },
  )
  return () => over.abort()
}
