/**
 * The task graph in one SQLite file: no server, no network. Writers of all processes take turns
 * (BEGIN IMMEDIATE), so a transaction sees nothing change under it and needs no other lock.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, limits } from '#model'
import type { GraphNode, Link, NodeKind, RelationshipType } from '#tasks/terms'
import * as sql from './sql.ts'
import { migrate } from './sqlite-schema.ts'
import { byNode, type GraphReader, type GraphStore, type GraphWriter, type Position, type TaskQuery } from './store.ts'

export function openSqliteGraph(file: string): GraphStore {
  let database: DatabaseSync | null = null
  /** Transactions of this process one after the other: they share a connection. */
  let last: Promise<unknown> = Promise.resolve()
  const open = async (signal: AbortSignal) => (database ??= await openDatabase(file, signal))

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
  return {
    read: (work, signal) =>
      inTurn(async () => {
        signal.throwIfAborted()
        return translated(async () => transaction(await open(signal), 'BEGIN', signal, (one) => work(readerOf(one))))
      }),
    write: (work, signal) =>
      inTurn(async () => {
        signal.throwIfAborted()
        return translated(async () =>
          transaction(await open(signal), 'BEGIN IMMEDIATE', signal, (one) => work(writerOf(one))),
        )
      }),
    close: () =>
      inTurn(async () => {
        database?.close()
        database = null
      }),
  }
}

async function openDatabase(file: string, signal: AbortSignal): Promise<DatabaseSync> {
  const database = new DatabaseSync(file, { timeout: 0, enableForeignKeyConstraints: true })
  try {
    await whenFree(() => migrate(database), signal)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

async function transaction<T>(
  database: DatabaseSync,
  begin: 'BEGIN' | 'BEGIN IMMEDIATE',
  signal: AbortSignal,
  work: (database: DatabaseSync) => Promise<T>,
): Promise<T> {
  await whenFree(() => database.exec(begin), signal)
  try {
    const result = await work(database)
    await whenFree(() => database.exec('COMMIT'), signal)
    return result
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK')
  }
}

/**
 * Tries again while another process writes, without blocking this one: SQLite's own busy handler
 * would stop the event loop.
 */
async function whenFree(act: () => void, signal: AbortSignal): Promise<void> {
  const until = performance.now() + limits.graphWriteWaitMsMax
  for (let tries = 0; ; tries++) {
    try {
      return act()
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw error
      await sleep(Math.min(1 + tries, 20), undefined, { signal })
    }
  }
}

type SqliteError = Error & { errcode?: number }

/** SQLITE_BUSY (5) and SQLITE_LOCKED (6), with any extension in the high bytes. */
function isBusy(error: unknown): boolean {
  const code = ((error as SqliteError).errcode ?? 0) & 0xff
  return code === 5 || code === 6
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toGraphError(error)
  }
}

function toGraphError(error: unknown): unknown {
  if (error instanceof AppError || (error as SqliteError).errcode === undefined) return error
  const { message, errcode = 0 } = error as SqliteError
  const code = errcode & 0xff
  if (isBusy(error))
    return new AppError(
      'NEO4J_TRANSACTION_ERROR',
      `Cannot write the task graph now: another process holds it`,
      {},
      error,
    )
  if (code === 19)
    return new AppError(
      'NEO4J_CONSTRAINT_VIOLATION',
      `Cannot change the graph: ${message}`,
      { details: message },
      error,
    )
  return new AppError('NEO4J_CONNECTION_ERROR', `Cannot use the task graph's file: ${message}`, { errcode }, error)
}

type Row = {
  id: string
  kind: NodeKind
  name: string | null
  status: string | null
  mission: string | null
  priority: number | null
  run: string | null
  created: string
  updated: string
  properties: string
}

const statements = new WeakMap<DatabaseSync, Map<string, StatementSync>>()

/** Each statement is prepared once for its connection; all of them are constants of this file. */
function prepared(database: DatabaseSync, sql: string): StatementSync {
  const known = statements.get(database) ?? new Map<string, StatementSync>()
  statements.set(database, known)
  const statement = known.get(sql) ?? database.prepare(sql)
  known.set(sql, statement)
  return statement
}

function readerOf(database: DatabaseSync): GraphReader {
  const all = <T>(statement: string, parameters: Record<string, string | number | null>) =>
    prepared(database, statement).all(parameters) as T[]
  return {
    node: async (id) => all<Row>(sql.nodeById, { id }).map(toNode)[0] ?? null,
    links: async (id) => all<LinkRow>(sql.linksOf, { id }).map(toLink),
    linksOfEach: async (ids) => {
      const rows = all<LinkRow & { of: string }>(sql.linksOfEach, { ids: JSON.stringify(ids) })
      return byNode(rows, toLink)
    },
    tasks: async (query) => all<Row>(sql.tasksBy(query), taskParameters(query)).map(toNode),
    missions: async ({ status = null, runs, limit, offset }) =>
      all<Row>(runs ? sql.missionsOfRuns : sql.missions, { status, limit, offset }).map(toNode),
    newest: async (kind, prefix, limit) => all<Row>(sql.newest, { kind, prefix, limit }).map(({ id }) => id),
    taskCounts: async (missionIDs) => all(sql.taskCounts, { missions: JSON.stringify(missionIDs) }),
    reaches: async (type, from, to) => all(sql.reaches, { type, from, to }).length > 0,
    projected: async (home) => all<Position>(sql.projected, { home })[0] ?? null,
  }
}

function writerOf(database: DatabaseSync): GraphWriter {
  const run = (statement: string, parameters: Record<string, string | number | null>) =>
    prepared(database, statement).run(parameters).changes as number
  return {
    ...readerOf(database),
    lock: async () => {},
    lockType: async () => {},
    claimReceipt: async (key) => {
      const row = prepared(database, 'SELECT answer FROM receipt WHERE key = :key').get({ key })
      return (row?.answer as string | undefined) ?? null
    },
    createNode: async (node) => void run(sql.insertNode, toRow(node)),
    updateNode: async (node) => {
      const { kind: _kind, created: _created, mission: _mission, run: _run, ...row } = toRow(node)
      run(sql.updateNode, row)
    },
    addLink: async (from, type, to, at) => run(sql.insertLink, { from, type, to, at }) > 0,
    removeLink: async (from, type, to) => run(sql.deleteLink, { from, type, to }) > 0,
    putReceipt: async (key, answer, at) => void run(sql.insertReceipt, { key, answer, at }),
    lockProjected: readerOf(database).projected,
    setProjected: async (home, { seq, digest }) => void run(sql.setProjected, { home, seq, digest }),
    mergeNodes: async (nodes) => {
      for (const node of nodes) run(node.kind === 'Artifact' ? sql.keepNode : sql.mergeNode, toRow(node))
    },
    mergeLinks: async (links) => {
      for (const { from, type, to, at } of links) run(sql.mergeLink, { from, type, to, at })
    },
    removeRun: async (of) => {
      run(sql.removeLinksOfRun, { of })
      run('DELETE FROM node WHERE run = :of', { of })
    },
    removeProjected: async () => {
      run(sql.removeLinksOfRuns, {})
      run('DELETE FROM node WHERE run IS NOT NULL', {})
    },
  }
}

function taskParameters({ missionID, status, capabilities, limit, offset }: TaskQuery) {
  return {
    mission: missionID ?? null,
    status: status ?? null,
    capabilities: capabilities === undefined ? null : JSON.stringify(capabilities),
    limit,
    offset,
  }
}

function toRow({ id, kind, name, status, missionID, priority, run, createdAt, updatedAt, properties }: GraphNode): Row {
  return {
    id,
    kind,
    name: name ?? null,
    status: status ?? null,
    mission: missionID ?? null,
    priority: priority ?? null,
    run: run ?? null,
    created: createdAt,
    updated: updatedAt,
    properties: JSON.stringify(properties),
  }
}

function toNode({ id, kind, name, status, mission, priority, run, created, updated, properties }: Row): GraphNode {
  return {
    id,
    kind,
    ...(name !== null && { name }),
    ...(status !== null && { status }),
    ...(mission !== null && { missionID: mission }),
    ...(priority !== null && { priority }),
    ...(run !== null && { run }),
    createdAt: created,
    updatedAt: updated,
    properties: JSON.parse(properties) as Record<string, string>,
  }
}

type LinkRow = {
  direction: Link['direction']
  type: RelationshipType
  created: string
  id: string
  kind: NodeKind
  name: string | null
  status: string | null
}

function toLink({ direction, type, created, id, kind, name, status }: LinkRow): Link {
  const other = { id, kind, ...(name !== null && { name }), ...(status !== null && { status }) }
  return { type, direction, createdAt: created, other }
}
