/**
 * A task graph over one database: reads, and writes that happen once. Every write stores its answer
 * under the call that asked for it, in its own transaction; the same call again gets that answer
 * and changes nothing.
 */
import { type Json, toText, uuidOf } from '#model'
import type { GraphReader, GraphStore, GraphWriter } from '#tasks/database'
import { type GraphNode, invalid, type NodeKind, notFound, ofRun } from '#tasks/terms'

export type TaskGraph = { store: GraphStore; now(): Date }

/** Which call of which run asks. */
export type Caller = { run: string; call: string; signal: AbortSignal }

/**
 * What a write works with: its transaction, its time, and ids that a repeated try derives again.
 */
type Change = { writer: GraphWriter; at: string; newId(of: string): string }

export function openTaskGraph(store: GraphStore, now: () => Date = () => new Date()): TaskGraph {
  return { store, now }
}

/** Ids of missions or tasks that begin with a text, the newest first. */
export function newestNodes(
  graph: TaskGraph,
  { kind, prefix, limit }: { kind: NodeKind; prefix: string; limit: number },
  caller: Pick<Caller, 'signal'>,
): Promise<string[]> {
  return read(graph, caller, (reader) => reader.newest(kind, prefix, limit))
}

export function read<T>(
  { store }: TaskGraph,
  { signal }: Pick<Caller, 'signal'>,
  work: (reader: GraphReader) => Promise<T>,
): Promise<T> {
  return store.read(work, signal)
}

export function change<T extends object>(
  { store, now }: TaskGraph,
  { run, call, signal }: Caller,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  const key = `${run}/${call}`
  const at = now().toISOString()
  return store.write(async (writer) => {
    const answered = await writer.claimReceipt(key)
    if (answered !== null) return JSON.parse(answered) as T
    const answer = await work({ writer, at, newId: (of) => uuidOf(`${key}/${of}`) })
    await writer.putReceipt(key, toText(answer as Json), at)
    return answer
  }, signal)
}

/** A node of the kind that a parameter asks for, held against other writers and read after that. */
export async function lockedNode(writer: GraphWriter, id: string, kind: NodeKind, param: string): Promise<GraphNode> {
  const [, node] = await Promise.all([writer.lock([id]), writer.node(id)])
  if (node === null) throw notFound(id)
  if (node.run !== undefined) throw ofRun(node)
  if (node.kind === kind) return node
  throw invalid(param, `must be the id of a ${kind} and is that of a ${node.kind}`, { value: id })
}

type NodeParts = Pick<GraphNode, 'id' | 'kind'> & {
  at: string
  name?: string | undefined
  status?: string
  missionID?: string
  properties?: Record<string, string | undefined>
}

/** A node as it begins; members that are undefined are left out. */
export function newNode({ id, kind, at, name, status, missionID, properties = {} }: NodeParts): GraphNode {
  return {
    id,
    kind,
    ...(name !== undefined && { name }),
    ...(status !== undefined && { status }),
    ...(missionID !== undefined && { missionID }),
    createdAt: at,
    updatedAt: at,
    properties: present(properties),
  }
}

/** The members that have a value. */
export function present(texts: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
