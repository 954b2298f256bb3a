/**
 * Nodes beside missions and tasks: those known by name, what was found of a task, and artifacts.
 */
import { limits } from '#model'
import {
  type AgentStatus,
  type ArtifactInfo,
  artifactInfo,
  type GraphNode,
  invalid,
  type NodeKind,
  namedId,
  namedKinds,
  nodeId,
  nodeName,
  notFound,
  ofRun,
  oneOf,
  optionalText,
  type RelationshipType,
  requiredText,
} from '#tasks/terms'
import { type Caller, change, lockedNode, newNode, read, type TaskGraph } from './graph.ts'

/** The node of this kind and name, which is created where there is none. */
export async function ensureNode(
  graph: TaskGraph,
  given: { kind?: unknown; name?: unknown },
  caller: Caller,
): Promise<{ nodeID: string }> {
  const kind = oneOf('kind', given.kind, namedKinds)
  const name = nodeName('name', given.name)
  const nodeID = namedId(kind, name)
  const status = kind === 'Agent' ? { status: 'IDLE' satisfies AgentStatus } : {}
  return change(graph, caller, async ({ writer, at }) => {
    await writer.claimReceipt(`node/${nodeID}`) // two calls for one name wait for each other
    if ((await writer.node(nodeID)) === null)
      await writer.createNode(newNode({ id: nodeID, kind, name, ...status, at }))
    return { nodeID }
  })
}

export async function recordValidation(
  graph: TaskGraph,
  given: { taskID?: unknown; passed?: unknown; report?: unknown },
  caller: Caller,
): Promise<{ validationID: string }> {
  const taskID = nodeId('taskID', given.taskID)
  if (typeof given.passed !== 'boolean') throw invalid('passed', 'must be true or false', { value: given.passed })
  const report = optionalText('report', given.report, limits.graphTextCharsMax)
  const properties = { passed: String(given.passed), report }
  return change(graph, caller, async ({ writer, at, newId }) => {
    const validationID = newId('validation')
    const task = await lockedNode(writer, taskID, 'Task', 'taskID')
    await writer.createNode(newNode({ id: validationID, kind: 'Validation', at, properties }))
    await writer.addLink(taskID, 'VALIDATED_BY', validationID, at)
    await writer.updateNode({ ...task, updatedAt: at })
    return { validationID }
  })
}

export async function recordFailure(
  graph: TaskGraph,
  given: { taskID?: unknown; code?: unknown; message?: unknown },
  caller: Caller,
): Promise<{ failureID: string }> {
  const taskID = nodeId('taskID', given.taskID)
  const properties = {
    code: nodeName('code', given.code),
    message: requiredText('message', given.message, limits.graphTextCharsMax),
  }
  return change(graph, caller, async ({ writer, at, newId }) => {
    const failureID = newId('failure')
    const task = await lockedNode(writer, taskID, 'Task', 'taskID')
    await writer.createNode(newNode({ id: failureID, kind: 'Failure', at, properties }))
    await writer.updateNode({ ...task, updatedAt: at, properties: { ...task.properties, failureID } })
    return { failureID }
  })
}

/**
 * The owner of an artifact that is about to be stored; it must exist before anything is uploaded.
 */
export async function findOwner(
  graph: TaskGraph,
  ownerEntityID: unknown,
  caller: Pick<Caller, 'signal'>,
): Promise<{ id: string; kind: NodeKind }> {
  const id = nodeId('ownerEntityID', ownerEntityID)
  return read(graph, caller, async (reader) => {
    const node = await reader.node(id)
    if (node === null) throw notFound(id)
    checkOwner(node)
    return { id, kind: node.kind }
  })
}

/** A task would be linked, and one that shows a run follows the record alone. */
function checkOwner(owner: GraphNode): void {
  if (owner.kind === 'Task' && owner.run !== undefined) throw ofRun(owner)
}

export const artifactRelationships = [
  'PRODUCES_ARTIFACT',
  'CONSUMES_ARTIFACT',
  'USED_PROMPT',
  'HAS_EXECUTION_LOG',
] as const satisfies readonly RelationshipType[]

type StoredArtifact = {
  id: string
  name: string
  contentType: string
  storagePath: string
  bytes: number
  sha256: string
  ownerEntityID: string
  relationship: (typeof artifactRelationships)[number]
}

/** The node of an artifact whose content is stored; a task that owns it is linked. */
export async function recordArtifact(
  graph: TaskGraph,
  { id, name, contentType, storagePath, bytes, sha256, ownerEntityID, relationship }: StoredArtifact,
  caller: Caller,
): Promise<{ artifactID: string; storagePath: string; bytes: number; sha256: string }> {
  const properties = { contentType, storagePath, bytes: String(bytes), sha256, ownerEntityID }
  return change(graph, caller, async ({ writer, at }) => {
    const owner = await writer.node(ownerEntityID)
    if (owner === null) throw notFound(ownerEntityID)
    checkOwner(owner)
    await writer.createNode(newNode({ id, kind: 'Artifact', name, at, properties }))
    if (owner.kind === 'Task') await writer.addLink(ownerEntityID, relationship, id, at)
    return { artifactID: id, storagePath, bytes, sha256 }
  })
}

export async function getArtifact(
  graph: TaskGraph,
  given: { artifactID?: unknown },
  caller: Pick<Caller, 'signal'>,
): Promise<{ artifact: ArtifactInfo | null }> {
  const artifactID = nodeId('artifactID', given.artifactID)
  return read(graph, caller, async (reader) => {
    const node = await reader.node(artifactID)
    return { artifact: node?.kind === 'Artifact' ? artifactInfo(node, await reader.links(artifactID)) : null }
  })
}
