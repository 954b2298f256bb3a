/**
 * Every statement that Neo4j is ever sent, as constants: what varies is a parameter, and a label or
 * a relationship type, which cannot be one, is chosen from a map by an exact key.
 */
import { completedStatuses, type NodeKind, nodeKinds, type RelationshipType, relationshipTypes } from '#tasks/terms'

/** The second has nodes that show runs; a program of the first would let them be claimed. */
export const schemaVersion = 2

/** Each in a transaction of its own, all of them repeatable. */
export const schema: readonly string[] = [
  'CREATE CONSTRAINT metier_entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE',
  'CREATE CONSTRAINT metier_receipt_key IF NOT EXISTS FOR (n:MetierReceipt) REQUIRE n.key IS UNIQUE',
  'CREATE CONSTRAINT metier_lock_name IF NOT EXISTS FOR (n:MetierLock) REQUIRE n.name IS UNIQUE',
  'CREATE INDEX metier_task_mission IF NOT EXISTS FOR (n:Task) ON (n.missionID, n.status)',
  'CREATE INDEX metier_task_created IF NOT EXISTS FOR (n:Task) ON (n.createdAt)',
  'CREATE INDEX metier_run IF NOT EXISTS FOR (n:Entity) ON (n.runID)',
  'CREATE INDEX metier_mission_created IF NOT EXISTS FOR (n:Mission) ON (n.createdAt)',
]

/** The version that is in the database, which is written where there is none or an older one. */
export const ensureVersion = `
MERGE (v:MetierLock {name: 'schema'}) ON CREATE SET v.version = $version
SET v.version = CASE WHEN v.version < $version THEN $version ELSE v.version END
RETURN v.version AS version`

/** Uniqueness makes the second claim of a key wait for the first one's transaction. */
export const claimReceipt = `
MERGE (r:MetierReceipt {key: $key})
RETURN r.answer AS answer`

export const putReceipt = `
MATCH (r:MetierReceipt {key: $key})
SET r.answer = $answer, r.at = $at`

/** Taking a write lock without leaving a trace: the property never outlives the statement. */
export const lockNodes = `
UNWIND $ids AS id
MATCH (n:Entity {id: id})
SET n.locked = true REMOVE n.locked`

export const lockName = `
MERGE (l:MetierLock {name: $name})
SET l.locked = true REMOVE l.locked`

export const nodeById = 'MATCH (n:Entity {id: $id}) RETURN n, labels(n) AS labels'

/** The property under which AutoAgent's own statements look for a node of each kind. */
export const idProperty: Readonly<Record<NodeKind, string>> = {
  Mission: 'missionID',
  Task: 'taskID',
  Agent: 'agentID',
  User: 'userID',
  Artifact: 'artifactID',
  Capability: 'capabilityID',
  Tool: 'toolID',
  Tag: 'tagID',
  Validation: 'validationID',
  Failure: 'failureRecordID',
}

export const createNode: ReadonlyMap<NodeKind, string> = new Map(
  nodeKinds.map((kind) => [kind, `CREATE (n:Entity:${kind} {id: $id, ${idProperty[kind]}: $id}) SET n += $properties`]),
)

export const updateNode = 'MATCH (n:Entity {id: $id}) SET n += $properties'

export const linksOf = `
UNWIND $ids AS id
MATCH (n:Entity {id: id})-[r]-(other:Entity)
RETURN id AS of, type(r) AS type, startNode(r) = n AS out, r.createdAt AS createdAt, r.position AS position, other, labels(other) AS labels
ORDER BY r.createdAt, r.position, other.id`

/** Positions order links that were made within one millisecond. */
export const addLink: ReadonlyMap<RelationshipType, string> = new Map(
  relationshipTypes.map((type) => [
    type,
    `MATCH (a:Entity {id: $from}) MATCH (b:Entity {id: $to})
MERGE (c:MetierLock {name: 'position'}) SET c.position = coalesce(c.position, 0) + 1
MERGE (a)-[r:${type}]->(b) ON CREATE SET r.createdAt = $at, r.position = c.position, r.isNew = true
WITH r, coalesce(r.isNew, false) AS created REMOVE r.isNew
RETURN created`,
  ]),
)

export const removeLink: ReadonlyMap<RelationshipType, string> = new Map(
  relationshipTypes.map((type) => [
    type,
    `MATCH (:Entity {id: $from})-[r:${type}]->(:Entity {id: $to}) DELETE r RETURN count(r) AS removed`,
  ]),
)

/**
 * ANY SHORTEST is a breadth-first search; a plain path of any length would enumerate every path.
 */
export const reaches: ReadonlyMap<RelationshipType, string> = new Map(
  relationshipTypes.map((type) => [
    type,
    `MATCH (a:Entity {id: $from}) MATCH (b:Entity {id: $to})
RETURN EXISTS { MATCH ANY SHORTEST (a)-[:${type}]->+(b) } AS reached`,
  ]),
)

/**
 * Of one mission by a statement of its own: where it may be any, no index is used. The index has
 * the status too, and serves only who says something of both.
 */
const ofMission = 'n.missionID = $missionID AND n.status IS NOT NULL'

const tasksByAge = (where: string) => `
MATCH (n:Task)
WHERE ${where} AND ($status IS NULL OR n.status = $status) AND ($runs OR n.runID IS NULL)
RETURN n, labels(n) AS labels ORDER BY n.createdAt, n.id SKIP toInteger($offset) LIMIT toInteger($limit)`

export const tasks = tasksByAge('true')
export const tasksOfMission = tasksByAge(ofMission)

const completed = completedStatuses.map((status) => `'${status}'`).join(', ')

/**
 * The status of a dependency goes through coalesce, so that the planner does not scan an index of
 * statuses for each row before its first sample of a new database.
 */
const readyTasksWhere = (where: string) => `
MATCH (n:Task)
WHERE n.status = 'QUEUED' AND n.runID IS NULL AND ${where} AND ($status IS NULL OR n.status = $status)
  AND NOT EXISTS { MATCH (n)-[:ASSIGNED_TO]->(:Agent) }
  AND NOT EXISTS { MATCH (n)-[:DEPENDS_ON]->(d:Task) WHERE NOT coalesce(d.status, '') IN [${completed}] }
  AND ($capabilities IS NULL
    OR NOT EXISTS { MATCH (n)-[:REQUIRES_CAPABILITY]->(c:Capability) WHERE NOT c.name IN $capabilities })
RETURN n, labels(n) AS labels
ORDER BY coalesce(n.priority, 0) DESC, n.createdAt, n.id SKIP toInteger($offset) LIMIT toInteger($limit)`

export const readyTasks = readyTasksWhere('true')
export const readyTasksOfMission = readyTasksWhere(ofMission)

export const missions = `
MATCH (n:Mission) WHERE ($status IS NULL OR n.status = $status) AND $runs = (n.runID IS NOT NULL)
RETURN n, labels(n) AS labels ORDER BY n.createdAt, n.id SKIP toInteger($offset) LIMIT toInteger($limit)`

export const newest: ReadonlyMap<NodeKind, string> = new Map(
  nodeKinds.map((kind) => [
    kind,
    `MATCH (n:${kind}) WHERE n.id STARTS WITH $prefix AND (n.runID IS NULL OR $prefix <> '')
RETURN n.id AS id ORDER BY n.createdAt DESC, n.id LIMIT toInteger($limit)`,
  ]),
)

/**
 * Of the projection of runs. A node that shows a run never takes the place of one that was created.
 */
export const mergeNodes: ReadonlyMap<NodeKind, string> = new Map(
  nodeKinds.map((kind) => [
    kind,
    `UNWIND $nodes AS node
MERGE (n:Entity {id: node.id})
ON CREATE SET n:${kind}, n.${idProperty[kind]} = node.id, n.runID = node.runID, n += node.properties
WITH n, node WHERE n:${kind} AND n.runID = node.runID
SET n += node.properties`,
  ]),
)

/** Under the position's lock, so that links of one projection have an order. */
export const mergeLinks: ReadonlyMap<RelationshipType, string> = new Map(
  relationshipTypes.map((type) => [
    type,
    `MERGE (c:MetierLock {name: 'position'}) SET c.position = coalesce(c.position, 0) + size($links)
WITH c.position - size($links) AS before
UNWIND range(0, size($links) - 1) AS index
WITH before + index + 1 AS position, $links[index] AS link
MATCH (a:Entity {id: link.from}) MATCH (b:Entity {id: link.to})
MERGE (a)-[r:${type}]->(b) ON CREATE SET r.createdAt = link.at, r.position = position`,
  ]),
)

export const removeRun = 'MATCH (n:Entity {runID: $run}) DETACH DELETE n'

export const removeProjected = 'MATCH (n:Entity {homeID: $home}) WHERE n.runID IS NOT NULL DETACH DELETE n'

export const projected = 'MATCH (p:MetierLock {name: $name}) RETURN p.seq AS seq, p.digest AS digest'

export const lockProjected = `
MERGE (p:MetierLock {name: $name})
SET p.locked = true REMOVE p.locked
RETURN p.seq AS seq, p.digest AS digest`

export const setProjected = 'MATCH (p:MetierLock {name: $name}) SET p.seq = $seq, p.digest = $digest'

export const taskCounts = `
UNWIND $missionIDs AS missionID
MATCH (n:Task {missionID: missionID}) WHERE n.status IS NOT NULL
RETURN missionID, n.status AS status, toInteger(count(n)) AS count`
