/**
 * The words of the task graph: the kinds of nodes, their statuses, and what is answered of a task,
 * a mission and an artifact. Field names are those that AutoAgent's specification fixes.
 */

export const taskStatuses = [
  'QUEUED',
  'IN_PROGRESS',
  'PENDING_VALIDATION',
  'VALIDATED',
  'DONE',
  'FAILED',
  'CANCELED',
] as const
export const missionStatuses = ['ACTIVE', 'DONE', 'FAILED', 'CANCELED'] as const
const agentStatuses = ['IDLE', 'BUSY', 'OFFLINE'] as const

export type TaskStatus = (typeof taskStatuses)[number]
export type MissionStatus = (typeof missionStatuses)[number]
export type AgentStatus = (typeof agentStatuses)[number]

/** A dependency in one of these no longer holds up the task that depends on it. */
export const completedStatuses: readonly TaskStatus[] = ['DONE', 'VALIDATED']

export const nodeKinds = [
  'Mission',
  'Task',
  'Agent',
  'User',
  'Artifact',
  'Capability',
  'Tool',
  'Tag',
  'Validation',
  'Failure',
] as const
export type NodeKind = (typeof nodeKinds)[number]

/** Kinds whose nodes are found by name; the id is derived from kind and name. */
export const namedKinds = ['Agent', 'User', 'Capability', 'Tool', 'Tag'] as const
export type NamedKind = (typeof namedKinds)[number]

/**
 * A node as a driver stores it. What is searched by stands beside `properties`; times are RFC 3339
 * in UTC, the same text from every driver.
 */
export type GraphNode = {
  id: string
  kind: NodeKind
  name?: string
  status?: string
  /** Of a task: the mission that it belongs to, for good. */
  missionID?: string
  priority?: number
  /** The run that it shows: only the record changes it, and it cannot be claimed. */
  run?: string
  createdAt: string
  updatedAt: string
  properties: Record<string, string>
}

/** One relationship of a node, seen from it, with what is shown of the node at its other end. */
export type Link = {
  type: RelationshipType
  direction: 'out' | 'in'
  createdAt: string
  other: { id: string; kind: NodeKind; name?: string; status?: string }
}

export const relationshipTypes = [
  'DEPENDS_ON',
  'IS_CHILD_OF',
  'HAS_ROOT_TASK',
  'PART_OF',
  'ASSIGNED_TO',
  'REQUIRES_CAPABILITY',
  'HAS_TAG',
  'PRODUCES_ARTIFACT',
  'CONSUMES_ARTIFACT',
  'USED_PROMPT',
  'HAS_EXECUTION_LOG',
  'HAS_ACCESS_TO',
  'IMPLEMENTS',
  'VALIDATED_BY',
  'CREATED_BY',
] as const
export type RelationshipType = (typeof relationshipTypes)[number]

/** One relationship as the record gives it. */
export type ProjectedLink = { from: string; type: RelationshipType; to: string; at: string }

/** What is known of a task; members that have no value are left out. */
export type TaskInfo = {
  id: string
  name?: string
  description: string
  status: TaskStatus
  priority?: number
  createdAt: string
  updatedAt: string
  temporalWorkflowID?: string
  expectedDeliverable?: string
  resultData?: string
  notes?: string
  parentID?: string
  childTaskIDs?: string[]
  dependencyTaskIDs?: string[]
  dependentTaskIDs?: string[]
  assignedAgentID?: string
  producedArtifactIDs?: string[]
  consumedArtifactIDs?: string[]
  requiredCapabilities?: string[]
  validationID?: string
  failureID?: string
  missionID: string
  promptArtifactID?: string
  logArtifactIDs?: string[]
  tags?: string[]
}

export type MissionInfo = {
  id: string
  name: string
  description?: string
  status: MissionStatus
  /** The run that it shows; a mission that was created has none. */
  run?: string
  createdAt: string
  updatedAt: string
  /** How many tasks of it have each status; a status without tasks is left out. */
  tasks: Partial<Record<TaskStatus, number>>
}

export type ArtifactInfo = {
  ID: string
  Type: string
  StoragePath: string
  FileName: string
  CreatedAt: string
  UpdatedAt: string
  Tags: string[]
}
