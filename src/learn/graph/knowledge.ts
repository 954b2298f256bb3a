/**
 * What is known from the record, as those who rank, suggest and verify read it: rows of learn.db in
 * memory, looked at again when the file has moved on.
 */

import type { Capability } from '#learn/capabilities'
import type { Json } from '#model'
import type { EdgeType } from './edge.ts'
import { openPastRuns, type PastRun } from './past-runs.ts'
import { type RowKind, type Rows, rowKinds, type StoredRow } from './rows.ts'

export type { PastRun } from './past-runs.ts'

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
  /** How often one of them was removed: what was made of them before is to be made again then. */
  readonly removals: number
  run(id: string): PastRun | undefined
  tool(id: string): ToolStats | undefined
  edges(): Edge[]
  examplesOf(tool: string): Example[]
  /** Without those that a human had forgotten; the same array as long as none of them changed. */
  capabilities(): readonly Capability[]
  /** The newest version where none is given. */
  capability(name: string, version?: number): Capability | undefined
  shapes(): Shape[]
  shape(digest: string): Shape | undefined
  usesOf(capability: string, version?: number): Use[]
  useCounts(capability: string, version: number): UseCounts
}

type UseCounts = { runs: number; successes: number }

export const keyOf = (...parts: (string | number)[]) => parts.join('\0')

type Tables = Record<Exclude<RowKind, 'run' | 'use'>, Map<string, Json>>

type KnowledgeState = {
  tables: Tables
  runs: ReturnType<typeof openPastRuns>
  uses: ReturnType<typeof openUses>
  /** By version; made again when one of them changed. */
  capabilities: Capability[]
}

/**
 * Reads what changed since it was last asked, never more than the file holds, and touches nothing
 * else: the next discover waits for it whenever a run was closed.
 */
export function openKnowledge(rows: Rows): () => Knowledge {
  let known = nothingKnown()
  let removals = 0
  let position = { seq: -1, n: -1, hash: '' }
  let knowledge: Knowledge | undefined
  return () => {
    const now = rows.position()
    if (knowledge !== undefined && now.seq === position.seq && now.hash === position.hash) return knowledge
    const isOlder = now.seq < position.seq
    if (isOlder) known = nothingKnown()
    const isOneRemoved = apply(known, rows.changedSince(isOlder ? -1 : position.n))
    if (isOlder || isOneRemoved) removals++
    position = now
    knowledge = knowledgeOf(known, removals)
    return knowledge
  }
}

function nothingKnown(): KnowledgeState {
  const tables = Object.fromEntries(rowKinds.map((kind) => [kind, new Map()])) as Record<RowKind, Map<string, Json>>
  return { tables, runs: openPastRuns(), uses: openUses(), capabilities: [] }
}

/** Whether a run was removed, or is another one than before. */
function apply(known: KnowledgeState, changed: readonly StoredRow[]): boolean {
  const { tables, runs, uses } = known
  const isOneRemoved = runs.apply(changed.filter(({ kind }) => kind === 'run'))
  for (const { kind, key, value } of changed) {
    if (kind === 'run') continue
    else if (kind === 'use') uses.set(key, value)
    else if (value === null) tables[kind].delete(key)
    else tables[kind].set(key, value)
  }
  if (!changed.some(({ kind }) => kind === 'capability')) return isOneRemoved
  const all = [...tables.capability.values()] as unknown as Capability[]
  known.capabilities = all
    .filter(({ status }) => status !== 'forgotten')
    .sort((left, right) => left.version - right.version)
  return isOneRemoved
}

function knowledgeOf({ tables, runs, uses, capabilities }: KnowledgeState, removals: number): Knowledge {
  return {
    runs: runs.list(),
    removals,
    run: runs.get,
    tool: (id) => tables.tool.get(id) as ToolStats | undefined,
    edges: () => [...tables.edge].map(([key, value]) => ({ ...edgeParts(key), ...(value as object) }) as Edge),
    examplesOf: (tool) => (tables.example.get(tool) ?? []) as Example[],
    capabilities: () => capabilities,
    capability: (name, version) =>
      capabilities.findLast((one) => one.name === name && (version === undefined || one.version === version)),
    shapes: () => [...tables.shape].map(shapeOf),
    shape(digest) {
      const value = tables.shape.get(digest)
      return value === undefined ? undefined : shapeOf([digest, value])
    },
    usesOf: uses.of,
    useCounts: uses.counts,
  }
}

/** Uses by capability and version, counted as they come. */
function openUses() {
  const known = new Map<string, { uses: Map<string, Use>; successes: number }>()
  const setUse = (key: string, value: Json | null) => {
    const [of, run, call] = key.split('\0') as [string, string, string]
    const own = known.get(of) ?? { uses: new Map<string, Use>(), successes: 0 }
    known.set(of, own)
    own.successes -= Number(own.uses.get(key)?.success ?? false)
    own.uses.delete(key)
    if (value === null) return
    const use = { run, call, ...(value as object) } as Use
    own.uses.set(key, use)
    own.successes += Number(use.success)
  }
  return {
    set: setUse,
    of(name: string, version?: number): Use[] {
      const isWanted = (of: string) => (version === undefined ? of.startsWith(`${name}@`) : of === `${name}@${version}`)
      return [...known.keys()].filter(isWanted).flatMap((of) => [...known.get(of)!.uses.values()])
    },
    counts(name: string, version: number): UseCounts {
      const { uses, successes } = known.get(`${name}@${version}`) ?? { uses: new Map(), successes: 0 }
      return { runs: uses.size, successes }
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
