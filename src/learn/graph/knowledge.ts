/**
 * What is known from the record, as those who rank, suggest and verify read it: rows of learn.db in
 * memory, looked at again when the file has moved on.
 */

import type { Capability } from '#learn/capabilities'
import { type Json, limits } from '#model'
import type { EdgeType } from './edge.ts'
import { type RowKind, type Rows, rowKinds, type StoredRow } from './rows.ts'

/** A closed run. `tools` in the order in which they were issued, with `cap:` ids. */
export type PastRun = {
  run: string
  /** The number of its `run.closed`, which orders runs. */
  n: number
  at: string
  intent: string | null
  subject: string | null
  kind: 'code' | 'dag' | 'agent' | 'capability'
  status: 'done' | 'failed' | 'cancelled'
  teaches: 'capability' | 'rates'
  tools: string[]
  /** Of calls that failed: the code of the last failure, by tool. */
  codes?: Record<string, string>
  shape?: string
  ms: number
}

type Coverage = 'strict' | 'partial' | 'optional'
type EdgeSource = 'declared' | 'observed' | 'inferred'

export type Edge = {
  from: string
  to: string
  type: EdgeType
  source: EdgeSource
  count: number
  confidence: number
  fields?: { from: string; to: string; count: number }[]
  coverage?: Coverage
}

/** How a tool did: in how many runs, how often, where in them, and beside which others. */
export type ToolStats = {
  runs: number
  calls: number
  successes: number
  codes: Record<string, number>
  positions: { first: number; middle: number; last: number }
  with: Record<string, number>
}

export type Example = { run: string; call: string; subject: string | null; input: Json; output: Json }

export type ShapeRun = { run: string; intent: string; literals: Json[]; args: Json; ms: number; ok: boolean }

/** Runs of one subject whose programs differ in nothing but names, formatting and literals. */
export type Shape = {
  digest: string
  subject: string | null
  kind: 'code' | 'dag'
  runs: ShapeRun[]
  /** How many there were, of which `runs` has the oldest and the newest. */
  count: number
  tools: string[]
  /** Pure operations between its calls, `code:filter`. */
  operations?: string[]
  /** Of the first run: its program, or the JSON text of its tasks. */
  code: string
}

/** One execution of a capability: as the plan of a run (`call` is empty), or as a call. */
type Use = { run: string; call: string; at: string; success: boolean; ms: number }

export type Knowledge = {
  /** In the order in which they were closed; the newest where there are more than memory is for. */
  readonly runs: readonly PastRun[]
  tool(id: string): ToolStats | undefined
  edges(): Edge[]
  examplesOf(tool: string): Example[]
  /** Without those that a human had forgotten. */
  capabilities(): Capability[]
  /** The newest version where none is given. */
  capability(name: string, version?: number): Capability | undefined
  shapes(): Shape[]
  usesOf(capability: string, version?: number): Use[]
}

export const keyOf = (...parts: (string | number)[]) => parts.join('\0')

type Tables = Record<RowKind, Map<string, Json>>

/** Reads what changed since it was last asked; never more than the file holds. */
export function openKnowledge(rows: Rows): () => Knowledge {
  let tables = emptyTables()
  let runs: readonly PastRun[] = []
  let position = { seq: -1, n: -1, hash: '' }
  let known: Knowledge | undefined
  return () => {
    const now = rows.position()
    if (known !== undefined && now.seq === position.seq && now.hash === position.hash) return known
    const isOlder = now.seq < position.seq
    if (isOlder) tables = emptyTables()
    if (isOlder) runs = []
    const changed = rows.changedSince(isOlder ? -1 : position.n)
    for (const row of changed) apply(tables, row)
    runs = runsWith(runs, changed, tables)
    position = now
    known = knowledgeOf(tables, runs)
    return known
  }
}

/**
 * Runs are closed one after the other: those that were folded since stand behind the others. Made
 * of all rows each time, a hundred thousand would keep calls waiting whenever one was added.
 */
function runsWith(known: readonly PastRun[], changed: readonly StoredRow[], tables: Tables): readonly PastRun[] {
  const own = changed.filter(({ kind }) => kind === 'run')
  if (own.length === 0) return known
  const last = known.at(-1)?.n ?? -1
  const added = own.map(({ key, value }) => ({ run: key, ...(value as object) }) as PastRun)
  const isBehind = own.every(({ value }, at) => value !== null && added[at]!.n > last)
  const all = isBehind ? known.concat(added.sort(byNumber)) : listOf<PastRun>(tables.run, runParts).sort(byNumber)
  return all.length > limits.learnRunsMax ? all.slice(-limits.learnRunsMax) : all
}

const byNumber = (left: PastRun, right: PastRun) => left.n - right.n
const runParts = (run: string) => ({ run })

function listOf<Value>(table: ReadonlyMap<string, Json>, parts: (key: string) => object): Value[] {
  return [...table].map(([key, value]) => ({ ...parts(key), ...(value as object) }) as Value)
}

function emptyTables(): Tables {
  return Object.fromEntries(rowKinds.map((kind) => [kind, new Map()])) as Tables
}

function apply(tables: Tables, { kind, key, value }: StoredRow): void {
  if (value === null) tables[kind].delete(key)
  else tables[kind].set(key, value)
}

function knowledgeOf(tables: Tables, runs: readonly PastRun[]): Knowledge {
  const all = listOf<Capability>(tables.capability, () => ({})).sort((left, right) => left.version - right.version)
  const capabilities = all.filter(({ status }) => status !== 'forgotten')
  let uses: Map<string, (Use & { of: string })[]> | undefined
  return {
    runs,
    tool: (id) => tables.tool.get(id) as ToolStats | undefined,
    edges: () => listOf<Edge>(tables.edge, edgeParts),
    examplesOf: (tool) => (tables.example.get(tool) ?? []) as Example[],
    capabilities: () => capabilities,
    capability: (name, version) =>
      capabilities.findLast((one) => one.name === name && (version === undefined || one.version === version)),
    shapes: () => [...tables.shape].map(shapeOf),
    usesOf: (name, version) => {
      uses ??= Map.groupBy(listOf<Use & { of: string }>(tables.use, useParts), ({ of }) => of)
      const versions =
        version === undefined ? [...uses.keys()].filter((of) => of.startsWith(`${name}@`)) : [`${name}@${version}`]
      return versions.flatMap((of) => uses!.get(of) ?? []).map(({ of: _, ...use }) => use)
    },
  }
}

const knownShapes = new WeakMap<object, Shape>()

/** The same object as long as its row is the same, so that what is made of it is made once. */
function shapeOf([digest, value]: [string, Json]): Shape {
  const row = value as object
  const shape = knownShapes.get(row) ?? ({ digest, ...row } as Shape)
  knownShapes.set(row, shape)
  return shape
}

function edgeParts(key: string): object {
  const [from, to, type, source] = key.split('\0')
  return { from, to, type, source }
}

function useParts(key: string): object {
  const [of, run, call] = key.split('\0')
  return { of, run, call }
}
