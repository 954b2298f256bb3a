/** Relationships between nodes, with the rules of each type held under concurrent writers. */
import { AppError } from '#model'
import type { GraphWriter } from '#tasks/database'
import {
  ends,
  type GraphNode,
  invalid,
  type Link,
  nodeId,
  notFound,
  ofRun,
  parentOf,
  type RelationshipType,
  relationshipRules,
  relationshipType,
  violation,
} from '#tasks/terms'
import { settleAgent } from './claim.ts'
import { type Caller, change, type TaskGraph } from './graph.ts'

type LinkArguments = { fromNodeID?: unknown; toNodeID?: unknown; relationshipType?: unknown }

export async function addRelationship(
  graph: TaskGraph,
  given: LinkArguments,
  caller: Caller,
): Promise<{ created: boolean }> {
  const { from, to, type } = read(given)
  return change(graph, caller, async ({ writer, at }) => {
    if (relationshipRules[type].acyclic) await writer.lockType(type)
    const { start, end, links } = await lockedEnds(writer, given)
    checkKinds(type, start, end)
    if (start.run !== undefined) throw ofRun(start)
    if (ends(links, type).some(({ other }) => other.id === to)) return { created: false }
    await checkRules(writer, type, start, end)
    const created = await writer.addLink(from, type, to, at)
    if (type === 'ASSIGNED_TO') await settleAgent(writer, to, at)
    return { created }
  })
}

export async function removeRelationship(
  graph: TaskGraph,
  given: LinkArguments,
  caller: Caller,
): Promise<{ removed: true }> {
  const { from, to, type } = read(given)
  return change(graph, caller, async ({ writer, at }) => {
    const { start } = await lockedEnds(writer, given)
    if (start.run !== undefined) throw ofRun(start)
    if (await writer.removeLink(from, type, to)) {
      if (type === 'ASSIGNED_TO') await settleAgent(writer, to, at)
      return { removed: true as const }
    }
    const message = `Cannot remove ${type}: there is none from "${from}" to "${to}"`
    throw new AppError('NEO4J_RELATIONSHIP_NOT_FOUND', message, {
      fromNodeID: from,
      toNodeID: to,
      relationshipType: type,
    })
  })
}

function read({ fromNodeID, toNodeID, relationshipType: given }: LinkArguments) {
  const [from, to] = [nodeId('fromNodeID', fromNodeID), nodeId('toNodeID', toNodeID)]
  const type = relationshipType(given)
  if (from === to) throw invalid('toNodeID', 'must be another node than fromNodeID', { value: to })
  return { from, to, type }
}

/** Both ends, held against other writers, and the relationships of the first. */
async function lockedEnds(
  writer: GraphWriter,
  given: LinkArguments,
): Promise<{ start: GraphNode; end: GraphNode; links: Link[] }> {
  const { from, to } = read(given)
  const [, start, end, links] = await Promise.all([
    writer.lock([from, to]),
    writer.node(from),
    writer.node(to),
    writer.links(from),
  ])
  if (start === null) throw notFound(from, given.fromNodeID)
  if (end === null) throw notFound(to, given.toNodeID)
  return { start, end, links }
}

function checkKinds(type: RelationshipType, start: GraphNode, end: GraphNode): void {
  const { from, to } = relationshipRules[type]
  if (from.includes(start.kind) && to.includes(end.kind)) return
  const details = `${type} leads from ${from.join(' or ')} to ${to.join(' or ')}, not from ${start.kind} to ${end.kind}`
  throw invalid('relationshipType', details, { value: type })
}

async function checkRules(
  writer: GraphWriter,
  type: RelationshipType,
  start: GraphNode,
  end: GraphNode,
): Promise<void> {
  const rule = relationshipRules[type]
  const context = { fromNodeID: start.id, toNodeID: end.id, relationshipType: type }
  if (rule.acyclic && (await writer.reaches(type, end.id, start.id)))
    throw invalid('relationshipType', `${type} would close a cycle: "${start.id}" is reached from "${end.id}"`, context)
  if (rule.single && ends(await writer.links(start.id), type).length > 0)
    throw violation(`"${start.id}" has one ${type} already, and may have no second`, context)
  if (type === 'IS_CHILD_OF') await checkParent(writer, start, end.missionID, context)
  if (type === 'HAS_ROOT_TASK') await checkParent(writer, end, start.id, context)
  if (type === 'PART_OF' && start.missionID !== end.id)
    throw violation(`the task belongs to the mission "${start.missionID}"`, context)
}

/** A task has one parent, a task or a mission, and stays in the mission in which it was created. */
async function checkParent(
  writer: GraphWriter,
  task: GraphNode,
  missionID: string | undefined,
  context: Record<string, string>,
): Promise<void> {
  const parent = parentOf(await writer.links(task.id))
  if (parent !== undefined) throw violation(`the task has the parent "${parent.other.id}" already`, context)
  if (task.missionID !== missionID) throw violation(`the task belongs to the mission "${task.missionID}"`, context)
}
