/**
 * Fits the planner at fixed counts of runs, so that it is a function of the record, and keeps it
 * beside the rows. Runs of people who are told apart are no part of it unless they share.
 */
import { applyDiff } from '#catalog'
import { askThread } from '#learn/models'
import { homeChain, isCapability, isObject, type JsonObject, limits } from '#model'
import type { Store } from '#record'
import type { PlannerRequest } from './fit-plans.ts'

type Run = { intent: string | null; subject: string | null; status: string; tools: string[] }

/** Where it is kept, with the runs in the order in which they were closed. */
type FoldStore = { runs: readonly Run[]; count: number | null; keep(count: number, state: string): void }

export async function followPlans(
  { runs: all, count, keep }: FoldStore,
  store: Pick<Store, 'events'>,
  isShared: boolean,
  signal: AbortSignal,
): Promise<void> {
  const open = all.filter((run) => isOpen(run, isShared))
  const due = plansDueAt(open.length)
  if (due === 0 || count === due) return
  const runs = open.slice(0, due).slice(-limits.planRunsMax)
  const request: PlannerRequest = {
    count: due,
    runs: runs.map(({ intent, subject, status, tools }) => ({ intent, subject, status, tools })),
    tools: pinnedTools(store),
  }
  const state = await askThread<string>(new URL('./plan-worker.ts', import.meta.url), request, signal)
  if (state !== null && !signal.aborted) keep(due, state)
}

/** Often while runs are few, then as they grow by some percent: 50, 100, … 1000, 1200, …. */
export function plansDueAt(count: number): number {
  let step: number = limits.planFittedEvery
  while (count >= 20 * step) step *= 4
  return Math.floor(count / step) * step
}

const isOpen = ({ intent, subject, tools }: Run, isShared: boolean) =>
  intent !== null && (isShared || subject === null) && tools.some((tool) => !isCapability(tool))

/** Each as it was when it was first seen. */
function pinnedTools(store: Pick<Store, 'events'>): PlannerRequest['tools'] {
  const tools = new Map<string, PlannerRequest['tools'][number]>()
  for (const event of store.events(homeChain, { type: 'tool.pinned' })) {
    if (event.type !== 'tool.pinned' || tools.has(event.body.tool) || tools.size >= limits.planToolsMax) continue
    const { description, input } = applyDiff({}, event.body.diff) as JsonObject
    tools.set(event.body.tool, {
      id: event.body.tool,
      description: typeof description === 'string' ? description.slice(0, limits.learnIntentCharactersMax) : '',
      input: isObject(input) ? input : {},
    })
  }
  return [...tools.values()]
}
