/** Claiming: one ready task becomes one agent's, in one step, however many ask at once. */
import { limits } from '#model'
import type { GraphWriter, TaskQuery } from '#tasks/database'
import {
  type AgentStatus,
  completedStatuses,
  ends,
  type GraphNode,
  type Link,
  nameList,
  nodeId,
  type TaskInfo,
  type TaskStatus,
  taskInfo,
} from '#tasks/terms'
import { type Caller, change, lockedNode, type TaskGraph } from './graph.ts'

export async function claimReadyTask(
  graph: TaskGraph,
  given: { agentID?: unknown; missionID?: unknown; capabilities?: unknown },
  caller: Caller,
): Promise<{ task: TaskInfo | null }> {
  const agentID = nodeId('agentID', given.agentID)
  const query = {
    ...(given.missionID !== undefined && { missionID: nodeId('missionID', given.missionID) }),
    capabilities: nameList('capabilities', given.capabilities ?? []),
    ready: true,
  }
  return change(graph, caller, async ({ writer, at }) => {
    const agent = await lockedNode(writer, agentID, 'Agent', 'agentID')
    const task = await lockReady(writer, query)
    if (task === null) return { task: null }
    const claimed = { ...task, status: 'IN_PROGRESS' satisfies TaskStatus, updatedAt: at }
    const [, , , links] = await Promise.all([
      writer.updateNode(claimed),
      writer.updateNode({ ...agent, status: 'BUSY' satisfies AgentStatus, updatedAt: at }),
      writer.addLink(task.id, 'ASSIGNED_TO', agentID, at),
      writer.links(task.id),
    ])
    return { task: taskInfo(claimed, links) }
  })
}

type ClaimQuery = Omit<TaskQuery, 'limit' | 'offset'> & { capabilities: readonly string[] }

/**
 * The first ready task that no other client took meanwhile. Candidates are found without a lock;
 * each is locked, read again and judged again, and the next one is tried where another client was
 * faster.
 */
async function lockReady(writer: GraphWriter, query: ClaimQuery): Promise<GraphNode | null> {
  for (let round = 0; round < limits.graphClaimRoundsMax; round++) {
    const candidates = await writer.tasks({ ...query, limit: limits.graphClaimCandidates, offset: 0 })
    if (candidates.length === 0) return null
    for (const { id } of candidates) {
      const [, task, links] = await Promise.all([writer.lock([id]), writer.node(id), writer.links(id)])
      if (task !== null && isReady(task, links, query.capabilities)) return task
    }
  }
  return null
}

function isReady({ status, run }: GraphNode, links: readonly Link[], capabilities: readonly string[]): boolean {
  if (run !== undefined || status !== 'QUEUED' || ends(links, 'ASSIGNED_TO').length > 0) return false
  if (ends(links, 'REQUIRES_CAPABILITY').some(({ other }) => !capabilities.includes(other.name!))) return false
  return ends(links, 'DEPENDS_ON').every(({ other }) => completedStatuses.includes(other.status as TaskStatus))
}

/** After a change of a task's status: its agent is BUSY while it works, else IDLE. */
export async function settleAssignee(writer: GraphWriter, taskID: string, at: string): Promise<void> {
  const agentID = ends(await writer.links(taskID), 'ASSIGNED_TO')[0]?.other.id
  if (agentID !== undefined) await settleAgent(writer, agentID, at)
}

/** An agent is BUSY while one of its tasks is in progress, else IDLE. */
export async function settleAgent(writer: GraphWriter, agentID: string, at: string): Promise<void> {
  const agent = await lockedNode(writer, agentID, 'Agent', 'agentID')
  const own = ends(await writer.links(agentID), 'ASSIGNED_TO', 'in')
  const isBusy = own.some(({ other }) => other.status === ('IN_PROGRESS' satisfies TaskStatus))
  const status: AgentStatus = isBusy ? 'BUSY' : 'IDLE'
  if (agent.status !== status) await writer.updateNode({ ...agent, status, updatedAt: at })
}
