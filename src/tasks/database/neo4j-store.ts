/**
 * The task graph in a Neo4j 5 database, shared by many machines. Transactions are managed by the
 * driver, which runs them again after a deadlock; isolation is read committed, so whatever decides
 * about a write is read under a lock.
 */
import neo4j, { type Driver, type ManagedTransaction, type Node, type RecordShape } from 'neo4j-driver-lite'
import { AppError, limits } from '#model'
import { type GraphNode, type Link, type NodeKind, nodeKinds, type RelationshipType } from '#tasks/terms'
import * as cypher from './cypher.ts'
import { silentError, toGraphError } from './neo4j-error.ts'
import { byNode, type GraphReader, type GraphStore, type GraphWriter, type Position } from './store.ts'

export type Neo4jAddress = { url: string; user: string; password: string; database: string }

export function openNeo4jGraph({ url, user, password, database }: Neo4jAddress): GraphStore {
  const driver = neo4j.driver(
    url,
    { scheme: 'basic', principal: user, credentials: password },
    {
      disableLosslessIntegers: true,
      maxTransactionRetryTime: limits.graphRetryMsMax,
      connectionTimeout: limits.graphConnectMsMax,
      connectionAcquisitionTimeout: limits.graphConnectMsMax,
      telemetryDisabled: true,
    },
  )
  let prepared: Promise<void> | null = null
  /**
   * Constraints before the first statement; a failure is not remembered, the next use tries again.
   */
  const prepare = () =>
    (prepared ??= prepareSchema(driver, database).catch((error) => {
      prepared = null
      throw error
    }))

  const transact = async <T>(
    mode: 'executeRead' | 'executeWrite',
    work: (transaction: ManagedTransaction) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> => {
    signal.throwIfAborted()
    const session = driver.session({ database })
    const late = AbortSignal.timeout(limits.graphAnswerMsMax)
    try {
      const done = prepare().then(() => session[mode](work, { timeout: limits.graphTransactionMsMax }))
      return await unlessAborted(done, AbortSignal.any([signal, late]))
    } catch (error) {
      if (late.aborted) prepared = null
      signal.throwIfAborted()
      throw late.aborted ? silentError(url, limits.graphAnswerMsMax) : toGraphError(error, url)
    } finally {
      const closed = session.close()
      // What is under way on a connection that is silent is left to itself: it rolls back or ends.
      if (signal.aborted || late.aborted) closed.catch(() => {})
      else await closed
    }
  }
  return {
    read: (work, signal) => transact('executeRead', (transaction) => work(readerOf(transaction)), signal),
    write: (work, signal) => transact('executeWrite', (transaction) => work(writerOf(transaction)), signal),
    // A server that is silent does not hold up the end.
    close: () => unlessAborted(driver.close(), AbortSignal.timeout(limits.graphCloseMsMax)).catch(() => {}),
  }
}

/** Rejects when the signal does, whether the work listens to it or not. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

async function prepareSchema(driver: Driver, database: string): Promise<void> {
  const session = driver.session({ database })
  try {
    for (const statement of cypher.schema) await session.executeWrite((transaction) => transaction.run(statement))
    const parameters = { version: neo4j.int(cypher.schemaVersion) }
    const found = await session.executeWrite((transaction) => transaction.run(cypher.ensureVersion, parameters))
    const version = found.records[0]?.get('version') as number
    if (version <= cypher.schemaVersion) return
    const message = `Cannot use the task graph: its database has version ${version} and this program reads up to ${cypher.schemaVersion}. Use a newer metier`
    throw new AppError('CONFIG_INVALID', message, { version })
  } finally {
    await session.close()
  }
}

function readerOf(transaction: ManagedTransaction): GraphReader {
  const rows = async <Row extends RecordShape>(statement: string, parameters: object) =>
    (await transaction.run<Row>(statement, parameters)).records.map((record) => record.toObject())
  return {
    node: async (id) => (await rows<NodeRow>(cypher.nodeById, { id })).map(toNode)[0] ?? null,
    links: async (id) => (await rows<LinkRow>(cypher.linksOf, { ids: [id] })).map(toLink),
    linksOfEach: async (ids) => byNode(await rows<LinkRow>(cypher.linksOf, { ids }), toLink),
    tasks: async ({ ready, missionID = null, status = null, capabilities = null, runs = false, limit, offset }) => {
      const parameters = { missionID, status, capabilities, runs, limit, offset }
      return (await rows<NodeRow>(tasksBy(ready, missionID), parameters)).map(toNode)
    },
    missions: async ({ status = null, runs, limit, offset }) =>
      (await rows<NodeRow>(cypher.missions, { status, runs, limit, offset })).map(toNode),
    newest: async (kind, prefix, limit) => {
      const found = await rows<{ id: string }>(cypher.newest.get(kind)!, { prefix, limit })
      return found.map(({ id }) => id)
    },
    taskCounts: async (missionIDs) => rows(cypher.taskCounts, { missionIDs }),
    reaches: async (type, from, to) => {
      const [row] = await rows<{ reached: boolean }>(cypher.reaches.get(type)!, { from, to })
      return row?.reached ?? false
    },
    projected: async (home) => positionOf(await rows(cypher.projected, { name: positionName(home) })),
  }
}

function tasksBy(ready: boolean | undefined, missionID: string | null): string {
  if (missionID === null) return ready ? cypher.readyTasks : cypher.tasks
  return ready ? cypher.readyTasksOfMission : cypher.tasksOfMission
}

const positionName = (home: string) => `projection ${home}`

function positionOf([row]: { seq?: unknown; digest?: unknown }[]): Position | null {
  return typeof row?.seq === 'number' ? { seq: row.seq, digest: String(row.digest) } : null
}

function writerOf(transaction: ManagedTransaction): GraphWriter {
  const first = async (statement: string, parameters: object) =>
    (await transaction.run(statement, parameters)).records[0]?.toObject()
  return {
    ...readerOf(transaction),
    // In one order for all clients, so that two of them rarely wait for each other.
    lock: async (ids) => void (await first(cypher.lockNodes, { ids: [...new Set(ids)].sort() })),
    lockType: async (type) => void (await first(cypher.lockName, { name: type })),
    claimReceipt: async (key) => ((await first(cypher.claimReceipt, { key }))?.answer as string | undefined) ?? null,
    createNode: async (node) =>
      void (await first(cypher.createNode.get(node.kind)!, { id: node.id, properties: toProperties(node) })),
    updateNode: async (node) => void (await first(cypher.updateNode, { id: node.id, properties: toProperties(node) })),
    addLink: async (from, type, to, at) => (await first(cypher.addLink.get(type)!, { from, to, at }))?.created === true,
    removeLink: async (from, type, to) => {
      const row = await first(cypher.removeLink.get(type)!, { from, to })
      return (row?.removed as number) > 0
    },
    putReceipt: async (key, answer, at) => void (await first(cypher.putReceipt, { key, answer, at })),
    lockProjected: async (home) =>
      positionOf([(await first(cypher.lockProjected, { name: positionName(home) })) ?? {}]),
    setProjected: async (home, { seq, digest }) =>
      void (await first(cypher.setProjected, { name: positionName(home), seq: neo4j.int(seq), digest })),
    mergeNodes: async (nodes) => {
      for (const [kind, some] of Map.groupBy(nodes, (node) => node.kind)) {
        const given = some.map((node) => ({ id: node.id, runID: node.run, properties: toProperties(node) }))
        await first(cypher.mergeNodes.get(kind)!, { nodes: given })
      }
    },
    mergeLinks: async (links) => {
      for (const [type, some] of Map.groupBy(links, (link) => link.type))
        await first(cypher.mergeLinks.get(type)!, { links: some })
    },
    removeRun: async (run) => void (await first(cypher.removeRun, { run })),
    removeProjected: async (home) => void (await first(cypher.removeProjected, { home })),
  }
}

type Properties = Record<string, string | number>
type Stored = Pick<GraphNode, 'id' | 'name' | 'status' | 'missionID' | 'priority' | 'createdAt' | 'updatedAt'> & {
  runID?: string
}
type NodeRow = { n: Node<number, Properties>; labels: string[] }
type LinkRow = {
  of: string
  type: RelationshipType
  out: boolean
  createdAt: string
  other: Node<number, Properties>
  labels: string[]
}

/** What stands beside `properties` in a GraphNode, and what the driver adds for itself. */
const ownMembers = new Set(['id', 'name', 'status', 'missionID', 'priority', 'runID', 'createdAt', 'updatedAt'])

function toProperties({ name, status, missionID, priority, createdAt, updatedAt, properties }: GraphNode): object {
  const numbers = priority === undefined ? {} : { priority: neo4j.int(priority) }
  return { ...properties, name, status, missionID, createdAt, updatedAt, ...numbers }
}

function toNode({ n: { properties }, labels }: NodeRow): GraphNode {
  const { id, name, status, missionID, priority, runID, createdAt, updatedAt } = properties as Stored
  const kind = kindOf(labels)
  const rest = Object.entries(properties).filter(([key]) => !ownMembers.has(key) && key !== cypher.idProperty[kind])
  return {
    id,
    kind,
    ...(name !== undefined && { name }),
    ...(status !== undefined && { status }),
    ...(missionID !== undefined && kind !== 'Mission' && { missionID }),
    ...(priority !== undefined && { priority }),
    ...(runID !== undefined && { run: runID }),
    createdAt,
    updatedAt,
    properties: Object.fromEntries(rest) as Record<string, string>,
  }
}

function toLink({ type, out, createdAt, other: { properties }, labels }: LinkRow): Link {
  const { id, name, status } = properties as Record<string, string>
  const other = {
    id: id!,
    kind: kindOf(labels),
    ...(name !== undefined && { name }),
    ...(status !== undefined && { status }),
  }
  return { type, direction: out ? 'out' : 'in', createdAt, other }
}

function kindOf(labels: readonly string[]): NodeKind {
  const kind = nodeKinds.find((one) => labels.includes(one))
  if (kind !== undefined) return kind
  throw new AppError('NEO4J_QUERY_ERROR', `Cannot read a node: it has the labels ${labels.join(', ')}`, { labels })
}
