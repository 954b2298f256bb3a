/**
 * The program of a run in mode `explore`: it issues no call, and its result is the exploration of
 * the run's plan.
 */
import type { Catalog } from '#catalog'
import {
  AppError,
  type DagTask,
  type Json,
  limits,
  type NestedSource,
  type Program,
  sha256,
  type Turn,
  toText,
} from '#model'
import type { Store } from '#record'
import {
  type CallFacts,
  denied,
  effectOf,
  mockResults,
  newFacts,
  policyVerdict,
  type RecordedResults,
  recordedResultsOf,
  targetOf,
} from '#run/calls'
import { checkDag, dagProgram } from '#run/dag'
import {
  type Assumptions,
  conditionNodes,
  explore,
  type PathResult,
  type ToolCall,
  withConditionArms,
} from '#run/explore'
import type { Mocks } from '#run/input'
import type { RunPolicy } from '#run/policy'
import { preparedCached } from '#run/program'
import { formatCallId, type Journal } from '#run/record'
import { type Capabilities, CapabilityPins } from '#run/start'
import { markedStructure } from '#run/structure'
import type { Boxes } from '#sandbox'
import type { Programs } from './programs.ts'

type Parts = {
  store: Store
  boxes: Boxes
  catalog: Catalog
  policy: RunPolicy
  capabilities: Capabilities
  programs: Pick<Programs, 'ephemeral'>
}

/** Smaller than in a run, since a program that computes for long does so again on every path. */
const bounds = { ticksPerTurnMax: limits.exploreTicksPerTurnMax }

export function explorationProgram(journal: Journal, parts: Parts): Program {
  const over = new AbortController()
  const nothing: Turn = { calls: [], logs: [] }
  return {
    start: async () => ({
      ...nothing,
      end: { ok: true, value: toText(await explorePlan(journal, parts, over.signal)) },
    }),
    deliver: async () => nothing,
    drop: () => over.abort(),
  }
}

function explorePlan(journal: Journal, parts: Parts, signal: AbortSignal) {
  const { plan, args, maxBranches = limits.exploreBranchesDefault } = journal.started
  const tasks = plan.kind === 'dag' ? (plan.source as DagTask[]) : null
  const recorded = recordedResultsOf(parts.store)
  const programs = openPrograms(journal, parts)
  return explore({
    args: args as Json,
    maxBranches,
    now: journal.startedAt,
    signal,
    callId: (program, number) => formatCallId({ program, number }),
    toolOf: (id) => parts.catalog.tool(id),
    openResults: (assumed) => resultsAlong(assumed, journal, parts, recorded),
    ...programs,
    withArms: (run) => (tasks === null ? run : withConditionArms(tasks, run)),
  })
}

/** The programs of a plan, each instrumented once; `null` is the plan itself. */
function openPrograms(journal: Journal, { boxes, programs, capabilities }: Parts) {
  const { plan, seed } = journal.started
  const pins = new CapabilityPins(capabilities, journal)
  const tasks = plan.kind === 'dag' ? (plan.source as DagTask[]) : null
  const instrumented = new Map<string, ReturnType<typeof markedStructure>>()
  const markedOf = (code: string | null) => {
    const text = code ?? (plan.source as string)
    if (!instrumented.has(text)) instrumented.set(text, markedStructure(preparedCached(text).source))
    return instrumented.get(text)!
  }
  return {
    structureOf: (code: string | null) => {
      if (code === null && tasks !== null) return conditionNodes(tasks)
      const { structure } = markedOf(code)
      return structure.known ? structure.nodes : []
    },
    isRead: () => instrumented.values().every(({ structure }) => structure.known && structure.isWhole),
    open: async (path: string, source: NestedSource | null, given: string): Promise<Program> => {
      const graph = source === null ? tasks : typeof source === 'string' ? null : checkDag(source)
      if (graph !== null) return pins.watch(dagProgram(graph), path)
      const args = path === '' ? given : (pins.argumentsOf(path) ?? given)
      const options = {
        args,
        seed: path === '' ? seed : sha256(`${seed} ${path}`),
        now: journal.startedAt,
        limits: bounds,
      }
      const { marked } = markedOf(source as string | null)
      return pins.watch(
        programs.ephemeral(() => boxes.program({ source: marked, ...options })),
        path,
      )
    },
  }
}

/** As in a dry run: what would be refused is refused; any other result is assumed, or mocked. */
function resultsAlong(assumed: Assumptions, { started }: Journal, parts: Parts, recorded: RecordedResults) {
  const { catalog, policy } = parts
  const mocked = mockResults((started.mocks ?? {}) as Mocks, recorded)
  return async ({ id, issued, now, callCount }: ToolCall): Promise<PathResult> => {
    const definition = (await catalog.tool(issued.tool)) ?? null
    const call: CallFacts = { ...issued, ...newFacts(id, now), definition, effect: effectOf(definition, issued) }
    const spent = { calls: callCount, bytes: 0, tokens: 0, cost: 0, wallMs: 0 }
    const target = targetOf(call, { budget: started.budget, catalog }, spent)
    if (target instanceof AppError) return failed(target)
    const verdict = policyVerdict(call, policy)
    if (verdict.action === 'deny') return failed(denied(call, verdict))
    const answer = assumed.calls.get(id)
    if (answer !== undefined) return 'value' in answer ? { ok: true, value: answer.value } : toolError(call, answer)
    const { result } = mocked(call)
    return result.ok ? { ok: true, value: result.value } : failed(result.error)
  }
}

function toolError({ tool }: CallFacts, { failure }: { failure: string }): PathResult {
  return failed(new AppError('TOOL_ERROR', failure, { tool }))
}

const failed = (error: AppError): PathResult => ({ ok: false, error: error.toJSON() })
