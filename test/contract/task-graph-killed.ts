/**
 * One write of the task graph in a process that is killed at a moment of it: `node
 * task-graph-killed.ts ADDRESS WHAT GIVEN RUN MOMENT`.
 */
import {
  addRelationship,
  type Caller,
  claimReadyTask,
  createTask,
  type GraphStore,
  openGraphStore,
  openTaskGraph,
  type TaskGraph,
} from '#tasks'

export const writes = { addRelationship, claimReadyTask, createTask } satisfies Record<
  string,
  (graph: TaskGraph, given: object, caller: Caller) => Promise<object>
>

/** Before its commit, when all is written; or after it, before a caller has the answer. */
export type Moment = 'before the commit' | 'before the answer'

function killedAt(store: GraphStore, moment: Moment): GraphStore {
  const kill = () => process.kill(process.pid, 'SIGKILL')
  return {
    ...store,
    async write(work, signal) {
      const done = await store.write(async (writer) => {
        const answer = await work(writer)
        if (moment === 'before the commit') kill()
        return answer
      }, signal)
      kill()
      return done
    },
  }
}

if (import.meta.main) {
  const [address, what, given, run, moment] = process.argv.slice(2) as [
    string,
    keyof typeof writes,
    string,
    string,
    Moment,
  ]
  const graph = openTaskGraph(killedAt(await openGraphStore(JSON.parse(address)), moment))
  await writes[what](graph, JSON.parse(given), { run, call: '1', signal: AbortSignal.timeout(60_000) })
}
