/**
 * Judges attention at fixed counts of runs, so that it is a function of the record, and keeps the
 * verdict beside the rows. Runs of people who are told apart are no part of it unless they share.
 */
import { askThread } from '#learn/models'
import { homeChain, isCapability, limits } from '#model'
import type { Store } from '#record'
import { type AttentionState, writeAttention } from './attention-state.ts'
import type { AttentionRequest } from './judge-attention.ts'

type Run = { intent: string | null; subject: string | null; status: string; tools: string[] }

/** Where it is kept, with the runs in the order in which they were closed. */
type FoldStore = { runs: readonly Run[]; count: number | null; keep(count: number, state: string): void }

export async function followAttention(
  { runs: all, count, keep }: FoldStore,
  store: Pick<Store, 'events'>,
  isShared: boolean,
  signal: AbortSignal,
): Promise<void> {
  const due = dueAt(all.filter((run) => isOpen(run, isShared)).length)
  if (due === 0 || count === due) return
  const runs = all
    .filter((run) => isOpen(run, isShared))
    .map(asJudged)
    .slice(0, due)
  const request = { count: due, runs: runs.slice(-limits.attentionRunsMax), texts: textsOf(store, runs) }
  const state = await trainInThread(request, signal)
  if (state !== null && !signal.aborted) keep(due, writeAttention(state))
}

const dueAt = (count: number) => Math.floor(count / limits.attentionJudgedEvery) * limits.attentionJudgedEvery

const isOpen = ({ intent, subject, tools }: Run, isShared: boolean) =>
  intent !== null && (isShared || subject === null) && tools.some((tool) => !isCapability(tool))

const asJudged = ({ intent, subject, status, tools }: Run) => ({
  intent,
  subject,
  status,
  tools: [...new Set(tools.filter((tool) => !isCapability(tool)))],
})

/** What each tool said of itself when it was first seen. */
function textsOf(store: Pick<Store, 'events'>, runs: readonly { tools: string[] }[]): Record<string, string> {
  const wanted = new Set(runs.flatMap(({ tools }) => tools))
  const texts: Record<string, string> = {}
  for (const event of store.events(homeChain, { type: 'tool.pinned' })) {
    if (event.type !== 'tool.pinned' || !wanted.has(event.body.tool)) continue
    const said = event.body.diff.find(({ field }) => field === '/description')?.after
    if (typeof said === 'string') texts[event.body.tool] ??= said.slice(0, limits.learnIntentCharactersMax)
  }
  return texts
}

/** Trains and judges in a thread of its own. */
export const trainInThread = (request: AttentionRequest, signal: AbortSignal): Promise<AttentionState | null> =>
  askThread(new URL('./attention-worker.ts', import.meta.url), request, signal)
