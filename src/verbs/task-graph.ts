/**
 * The task graph as it can be looked at, opened with the first look: what changes it is a call of a
 * run.
 */
import { type Config, uuidOf } from '#model'
import { homePaths, publicKeyOf, type Store, signingKey } from '#record'
import type { GraphStore, MissionInfo, TaskGraph, TaskInfo } from '#tasks'

type Look = { signal: AbortSignal }

export type TaskGraphVerbs = {
  missions(given: object, look: Look): Promise<{ missions: MissionInfo[]; next: number | null }>
  /** With all of its tasks, the oldest first; null where there is none. */
  mission(missionID: string, look: Look): Promise<{ mission: MissionInfo; tasks: TaskInfo[] } | null>
  tasks(given: object, look: Look): Promise<{ tasks: TaskInfo[]; next: number | null }>
  task(taskID: string, look: Look): Promise<TaskInfo | null>
  hasArtifact(artifactID: string, look: Look): Promise<boolean>
  /** Ids that begin with a text, the newest first. */
  newest(kind: 'Mission' | 'Task', prefix: string, limit: number, look: Look): Promise<string[]>
  /** How many events of the record are not shown in the graph yet, and since when. */
  lag(look: Look): Promise<{ events: number; since: string | null }>
}

export function openTaskGraphVerbs(
  { home, taskGraph }: Config,
  record: Store,
): TaskGraphVerbs & { close(): Promise<void> } {
  let store: Promise<GraphStore> | undefined
  const address = taskGraph === 'sqlite' ? { file: homePaths(home).tasks } : taskGraph
  const opened = async () => {
    const tasks = await import('#tasks')
    store ??= tasks.openGraphStore(address)
    const graph: TaskGraph = tasks.openTaskGraph(await store)
    return { graph, tasks }
  }
  return {
    async missions(given, look) {
      const { graph, tasks } = await opened()
      return tasks.listMissions(graph, given, look)
    },
    async mission(missionID, look) {
      const { graph, tasks } = await opened()
      return tasks.getMission(graph, { missionID }, look)
    },
    async tasks(given, look) {
      const { graph, tasks } = await opened()
      return tasks.listTasks(graph, given, look)
    },
    async task(taskID, look) {
      const { graph, tasks } = await opened()
      return (await tasks.getTask(graph, { taskID }, look)).task
    },
    async hasArtifact(artifactID, look) {
      const { graph, tasks } = await opened()
      return (await tasks.getArtifact(graph, { artifactID }, look)).artifact !== null
    },
    async newest(kind, prefix, limit, look) {
      const { graph, tasks } = await opened()
      return tasks.newestNodes(graph, { kind, prefix, limit }, look)
    },
    async lag({ signal }) {
      const { graph, tasks } = await opened()
      return tasks.projectionLag({ store: graph.store, record, home: homeId(home) }, signal)
    },
    close: async () => (await store)?.close(),
  }
}

/** The same home, wherever its folder is moved. */
export function homeId(home: string): string {
  return uuidOf(`home/${publicKeyOf(signingKey(homePaths(home).keys))}`)
}
