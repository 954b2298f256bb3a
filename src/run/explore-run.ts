/** An exploration as the program of a run: it issues no call, and its outcome is what was found. */
import type { Catalog } from '#catalog'
import { type DagTask, limits, type Program, type Turn, toText } from '#model'
import type { Store } from '#record'
import type { Boxes } from '#sandbox'
import { dagProgram } from './dag.ts'
import { digestOf } from './digest.ts'
import { explore } from './explore.ts'
import { graphArms, graphNodes } from './explore-graph.ts'
import type { Journal } from './journal.ts'
import { openRecorded, pretending } from './mocks.ts'
import { readyProgram } from './prepare.ts'
import type { Programs } from './programs.ts'
import type { Mocks } from './read-mocks.ts'
import type { RunPolicy } from './standing.ts'
import { markedStructure } from './structure/structure.ts'

type Parts = {
  store: Store
  boxes: Boxes
  catalog: Catalog
  policy: RunPolicy
  programs: Pick<Programs, 'passing'>
}

/** What computes for long on made-up values does so on each path. */
const bounds = { ticksPerTurnMax: limits.exploreTicksPerTurnMax }

export function exploring(journal: Journal, parts: Parts): Program {
  const over = new AbortController()
  const nothing: Turn = { calls: [], logs: [] }
  return {
    start: async () => ({ ...nothing, end: { ok: true, value: toText(await explored(journal, parts, over.signal)) } }),
    deliver: async () => nothing,
    drop: () => over.abort(),
  }
}

function explored({ started, startedAt: now }: Journal, parts: Parts, signal: AbortSignal) {
  const { store, boxes, catalog, policy, programs } = parts
  const { plan, args, seed, budget, mocks = {}, maxBranches = limits.exploreBranchesDefault } = started
  const tasks = plan.kind === 'dag' ? (plan.source as DagTask[]) : []
  const recorded = openRecorded(store)
  const read = new Map<string, ReturnType<typeof markedStructure>>()
  const marked = (code: string) => {
    if (!read.has(code)) read.set(code, markedStructure(readyProgram(code).source))
    return read.get(code)!
  }
  const structureOf = (code: string | null) => {
    if (code === null && plan.kind === 'dag') return graphNodes(tasks)
    const { structure } = marked(code ?? (plan.source as string))
    return structure.known ? structure.nodes : []
  }
  const open = async (path: string, code: string | null, given: string): Promise<Program> => {
    if (code === null && plan.kind === 'dag') return dagProgram(tasks)
    const source = marked(code ?? (plan.source as string)).marked
    const options = { source, args: given, seed: path === '' ? seed : digestOf(`${seed} ${path}`), now, limits: bounds }
    return programs.passing(() => boxes.program(options))
  }
  return explore({
    args: args as never,
    maxBranches,
    catalog,
    policy,
    budget,
    now,
    signal,
    pretending: () => pretending(mocks as Mocks, recorded),
    structureOf,
    isRead: () => read.values().every(({ structure }) => structure.known && structure.isWhole),
    open,
    withArms: (played) => (plan.kind === 'dag' ? graphArms(tasks, played) : played),
  })
}
