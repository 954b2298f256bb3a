/** Single tasks: created under a parent, read whole, listed, and changed. */
import { limits } from '#model'
import type { GraphReader } from '#tasks/database'
import {
  checkExpected,
  completedStatuses,
  ends,
  type GraphNode,
  invalid,
  nodeId,
  nodeName,
  notFound,
  ofRun,
  oneOf,
  optionalText,
  page,
  priorityOf,
  requiredText,
  type TaskInfo,
  type TaskStatus,
  taskInfo,
  taskStatuses,
} from '#tasks/terms'
import { settleAssignee } from './claim.ts'
import { type Caller, change, lockedNode, newNode, present, read, type TaskGraph } from './graph.ts'

export async function createTask(
  graph: TaskGraph,
  given: { parentNodeID?: unknown; taskName?: unknown; description?: unknown; initialStatus?: unknown },
  caller: Caller,
): Promise<{ taskID: string }> {
  const parentID = nodeId('parentNodeID', given.parentNodeID)
  const name = given.taskName === undefined ? undefined : nodeName('taskName', given.taskName)
  const description = requiredText('description', given.description, limits.graphDescriptionCharsMax)
  const status = oneOf('initialStatus', given.initialStatus ?? 'QUEUED', taskStatuses)
  const properties = { description, temporalWorkflowID: caller.run }
  return change(graph, caller, async ({ writer, at, newId }) => {
    const parent = await writer.node(parentID)
    if (parent === null) throw notFound(parentID)
    if (parent.run !== undefined) throw ofRun(parent)
    const taskID = newId('task')
    const missionID = missionOf(parent)
    await writer.createNode(newNode({ id: taskID, kind: 'Task', name, status, missionID, at, properties }))
    if (parent.kind === 'Mission') await writer.addLink(parentID, 'HAS_ROOT_TASK', taskID, at)
    else await writer.addLink(taskID, 'IS_CHILD_OF', parentID, at)
    return { taskID }
  })
}

/** A child belongs to the mission of its parent, for good. */
function missionOf({ id, kind, missionID }: GraphNode): string {
  if (kind === 'Mission') return id
  if (kind === 'Task' && missionID !== undefined) return missionID
  throw invalid('parentNodeID', `must be the id of a Task or a Mission and is that of a ${kind}`, { value: id })
}

export async function getTask(
  graph: TaskGraph,
  given: { taskID?: unknown },
  caller: Pick<Caller, 'signal'>,
): Promise<{ task: TaskInfo | null }> {
  const taskID = nodeId('taskID', given.taskID)
  return read(graph, caller, async (reader) => {
    const node = await reader.node(taskID)
    return { task: node?.kind === 'Task' ? await infoOf(reader, node) : null }
  })
}

export async function listTasks(
  graph: TaskGraph,
  given: { missionID?: unknown; status?: unknown; ready?: unknown; limit?: unknown; offset?: unknown },
  caller: Pick<Caller, 'signal'>,
): Promise<{ tasks: TaskInfo[]; next: number | null }> {
  const { limit, offset } = page(given)
  const query = {
    ...(given.missionID !== undefined && { missionID: nodeId('missionID', given.missionID) }),
    ...(given.status !== undefined && { status: oneOf('status', given.status, taskStatuses) }),
    ready: given.ready === true,
    runs: given.missionID !== undefined,
  }
  return read(graph, caller, async (reader) => {
    const found = await reader.tasks({ ...query, limit: limit + 1, offset })
    const tasks = await infosOf(reader, found.slice(0, limit))
    return { tasks, next: found.length > limit ? offset + limit : null }
  })
}

export async function updateTaskStatus(
  graph: TaskGraph,
  given: { taskID?: unknown; newStatus?: unknown; expectedStatus?: unknown },
  caller: Caller,
): Promise<{ taskID: string; status: TaskStatus; updatedAt: string }> {
  const taskID = nodeId('taskID', given.taskID)
  const status = oneOf('newStatus', given.newStatus, taskStatuses)
  if (given.expectedStatus !== undefined) oneOf('expectedStatus', given.expectedStatus, taskStatuses)
  return change(graph, caller, async ({ writer, at }) => {
    const node = await lockedNode(writer, taskID, 'Task', 'taskID')
    checkExpected(given.expectedStatus, node.status)
    await writer.updateNode({ ...node, status, updatedAt: at })
    await settleAssignee(writer, taskID, at)
    return { taskID, status, updatedAt: at }
  })
}

type TaskUpdate = {
  taskID?: unknown
  name?: unknown
  priority?: unknown
  expectedDeliverable?: unknown
  resultData?: unknown
  notes?: unknown
}

export async function updateTask(graph: TaskGraph, given: TaskUpdate, caller: Caller): Promise<{ task: TaskInfo }> {
  const taskID = nodeId('taskID', given.taskID)
  const members = {
    ...(given.name !== undefined && { name: nodeName('name', given.name) }),
    ...(given.priority !== undefined && { priority: priorityOf(given.priority) }),
  }
  const texts = {
    expectedDeliverable: optionalText('expectedDeliverable', given.expectedDeliverable, limits.graphTextCharsMax),
    resultData: optionalText('resultData', given.resultData, limits.graphTextCharsMax),
    notes: optionalText('notes', given.notes, limits.graphTextCharsMax),
  }
  return change(graph, caller, async ({ writer, at }) => {
    const node = await lockedNode(writer, taskID, 'Task', 'taskID')
    const properties = { ...node.properties, ...present(texts) }
    const updated = { ...node, ...members, updatedAt: at, properties }
    await writer.updateNode(updated)
    return { task: await infoOf(writer, updated) }
  })
}

export async function dependenciesCompleted(
  graph: TaskGraph,
  given: { taskID?: unknown },
  caller: Pick<Caller, 'signal'>,
): Promise<{ allCompleted: boolean }> {
  const taskID = nodeId('taskID', given.taskID)
  return read(graph, caller, async (reader) => {
    if ((await reader.node(taskID))?.kind !== 'Task') throw notFound(taskID)
    const dependencies = ends(await reader.links(taskID), 'DEPENDS_ON')
    return { allCompleted: dependencies.every(({ other }) => completedStatuses.includes(other.status as TaskStatus)) }
  })
}

async function infoOf(reader: GraphReader, node: GraphNode): Promise<TaskInfo> {
  return taskInfo(node, await reader.links(node.id))
}

/** Many tasks with one statement for their links: a statement each is a round trip each. */
export async function infosOf(reader: GraphReader, nodes: readonly GraphNode[]): Promise<TaskInfo[]> {
  const links = await reader.linksOfEach(nodes.map(({ id }) => id))
  return nodes.map((node) => taskInfo(node, links.get(node.id) ?? []))
}
