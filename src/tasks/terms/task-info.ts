/**
 * Puts together what is answered of a task, a mission and an artifact from a node and its links.
 */
import type {
  ArtifactInfo,
  GraphNode,
  Link,
  MissionInfo,
  MissionStatus,
  RelationshipType,
  TaskInfo,
  TaskStatus,
} from './node.ts'

export function taskInfo(node: GraphNode, links: readonly Link[]): TaskInfo {
  const { id, name, status, priority, missionID, createdAt, updatedAt, properties } = node
  const { description, temporalWorkflowID, expectedDeliverable, resultData, notes, failureID } = properties
  const ids = (type: RelationshipType, direction: Link['direction'] = 'out') =>
    some(ends(links, type, direction).map(({ other }) => other.id))
  const names = (type: RelationshipType) => some(ends(links, type).map(({ other }) => other.name!))
  const newest = (type: RelationshipType) => ends(links, type).at(-1)?.other.id
  return defined({
    id,
    name,
    description: description!,
    status: status as TaskStatus,
    priority,
    createdAt,
    updatedAt,
    temporalWorkflowID,
    expectedDeliverable,
    resultData,
    notes,
    parentID: parentOf(links)?.other.id,
    childTaskIDs: ids('IS_CHILD_OF', 'in'),
    dependencyTaskIDs: ids('DEPENDS_ON'),
    dependentTaskIDs: ids('DEPENDS_ON', 'in'),
    assignedAgentID: newest('ASSIGNED_TO'),
    producedArtifactIDs: ids('PRODUCES_ARTIFACT'),
    consumedArtifactIDs: ids('CONSUMES_ARTIFACT'),
    requiredCapabilities: names('REQUIRES_CAPABILITY'),
    validationID: newest('VALIDATED_BY'),
    failureID,
    missionID: missionID!,
    promptArtifactID: newest('USED_PROMPT'),
    logArtifactIDs: ids('HAS_EXECUTION_LOG'),
    tags: names('HAS_TAG'),
  })
}

export function missionInfo(node: GraphNode, tasks: MissionInfo['tasks']): MissionInfo {
  const { id, name, status, run, createdAt, updatedAt, properties } = node
  const { description } = properties
  return defined({
    id,
    name: name!,
    description,
    status: status as MissionStatus,
    run,
    createdAt,
    updatedAt,
    tasks,
  })
}

export function artifactInfo(
  { id, name, createdAt, updatedAt, properties }: GraphNode,
  links: readonly Link[],
): ArtifactInfo {
  return {
    ID: id,
    Type: properties.contentType!,
    StoragePath: properties.storagePath!,
    FileName: name!,
    CreatedAt: createdAt,
    UpdatedAt: updatedAt,
    Tags: ends(links, 'HAS_TAG').map(({ other }) => other.name!),
  }
}

/** The one link to a task's parent, which is a task or a mission. */
export function parentOf(links: readonly Link[]): Link | undefined {
  return ends(links, 'IS_CHILD_OF')[0] ?? ends(links, 'HAS_ROOT_TASK', 'in')[0]
}

export function ends(links: readonly Link[], type: RelationshipType, direction: Link['direction'] = 'out'): Link[] {
  return links.filter((link) => link.type === type && link.direction === direction)
}

function some(list: string[]): string[] | undefined {
  return list.length > 0 ? list : undefined
}

type Defined<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>
}

/** The same object without members that are undefined. */
function defined<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>
}
