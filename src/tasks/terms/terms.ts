/** The words of the task graph, how arguments are checked against them, and its refusals. */
export {
  checkExpected,
  namedId,
  nameList,
  nodeId,
  nodeName,
  oneOf,
  optionalText,
  page,
  priorityOf,
  relationshipType,
  requiredText,
} from './check.ts'
export { invalid, notFound, ofRun, violation } from './errors.ts'
export {
  type AgentStatus,
  type ArtifactInfo,
  completedStatuses,
  type GraphNode,
  type Link,
  type MissionInfo,
  type MissionStatus,
  missionStatuses,
  type NodeKind,
  namedKinds,
  nodeKinds,
  type ProjectedLink,
  type RelationshipType,
  relationshipTypes,
  type TaskInfo,
  type TaskStatus,
  taskStatuses,
} from './node.ts'
export { relationshipRules } from './relationships.ts'
export { artifactInfo, ends, missionInfo, parentOf, taskInfo } from './task-info.ts'
