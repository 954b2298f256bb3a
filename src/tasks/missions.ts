/**
 * Missions: created, listed with the state of their tasks, and moved from one status to another.
 */
import { limits } from '#model'
import type { GraphReader } from '#tasks/database'
import {
  checkExpected,
  type MissionInfo,
  type MissionStatus,
  missionInfo,
  missionStatuses,
  nodeId,
  nodeName,
  oneOf,
  optionalText,
  page,
  type TaskInfo,
} from '#tasks/terms'
import { type Caller, change, lockedNode, newNode, read, type TaskGraph } from './graph.ts'
import { infosOf } from './task.ts'

export async function createMission(
  graph: TaskGraph,
  given: { name?: unknown; description?: unknown },
  caller: Caller,
): Promise<{ missionID: string }> {
  const name = nodeName('name', given.name)
  const description = optionalText('description', given.description, limits.graphDescriptionCharsMax)
  return change(graph, caller, async ({ writer, at, newId }) => {
    const missionID = newId('mission')
    const properties = { description }
    await writer.createNode(newNode({ id: missionID, kind: 'Mission', name, status: 'ACTIVE', at, properties }))
    return { missionID }
  })
}

export async function listMissions(
  graph: TaskGraph,
  given: { status?: unknown; runs?: unknown; limit?: unknown; offset?: unknown },
  caller: Pick<Caller, 'signal'>,
): Promise<{ missions: MissionInfo[]; next: number | null }> {
  const { limit, offset } = page(given)
  const status = given.status === undefined ? {} : { status: oneOf('status', given.status, missionStatuses) }
  return read(graph, caller, async (reader) => {
    const found = await reader.missions({ ...status, runs: given.runs === true, limit: limit + 1, offset })
    const shown = found.slice(0, limit)
    const counts = await reader.taskCounts(shown.map(({ id }) => id))
    const missions = shown.map((node) => {
      const own = counts.filter(({ missionID }) => missionID === node.id)
      return missionInfo(node, Object.fromEntries(own.map(({ status, count }) => [status, count])))
    })
    return { missions, next: found.length > limit ? offset + limit : null }
  })
}

/** A mission with all of its tasks, the oldest first; null where there is none. */
export async function getMission(
  graph: TaskGraph,
  given: { missionID?: unknown },
  caller: Pick<Caller, 'signal'>,
): Promise<{ mission: MissionInfo; tasks: TaskInfo[] } | null> {
  const missionID = nodeId('missionID', given.missionID)
  return read(graph, caller, async (reader) => {
    const node = await reader.node(missionID)
    if (node?.kind !== 'Mission') return null
    const nodes = await reader.tasks({ missionID, runs: true, limit: limits.graphMissionTasksMax, offset: 0 })
    return { mission: missionInfo(node, await countsOf(reader, missionID)), tasks: await infosOf(reader, nodes) }
  })
}

async function countsOf(reader: GraphReader, missionID: string): Promise<MissionInfo['tasks']> {
  const counts = await reader.taskCounts([missionID])
  return Object.fromEntries(counts.map(({ status, count }) => [status, count]))
}

export async function updateMissionStatus(
  graph: TaskGraph,
  given: { missionID?: unknown; newStatus?: unknown; expectedStatus?: unknown },
  caller: Caller,
): Promise<{ missionID: string; status: MissionStatus; updatedAt: string }> {
  const missionID = nodeId('missionID', given.missionID)
  const status = oneOf('newStatus', given.newStatus, missionStatuses)
  if (given.expectedStatus !== undefined) oneOf('expectedStatus', given.expectedStatus, missionStatuses)
  return change(graph, caller, async ({ writer, at }) => {
    const node = await lockedNode(writer, missionID, 'Mission', 'missionID')
    checkExpected(given.expectedStatus, node.status)
    await writer.updateNode({ ...node, status, updatedAt: at })
    return { missionID, status, updatedAt: at }
  })
}
