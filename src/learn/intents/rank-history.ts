/**
 * What past runs say about tools for an intent: a vote of the nearest past intents, what goes with
 * the tools of the last runs, and how often each tool succeeded. It is joined with the score of the
 * words such that nothing known changes nothing.
 */
import type { NearIntent } from './past-intents.ts'

type Stats = { runs: number; calls: number; successes: number; with: Record<string, number> }

/** Each between 0 and 1; `success` is null where the tool was hardly ever called. */
export type RankParts = {
  words: number
  history: number
  context: number
  success: number | null
}

export type Hints = {
  /** By tool, from the nearest past intents. */
  history: ReadonlyMap<string, number>
  context(tool: string): number
  success(tool: string): number | null
}

/** How much nearer intents count than farther ones. */
const sharpness = 3
const votersMax = 20
/** What context and lack of success move at most, in log-odds. */
const [contextGain, failureLoss] = [0.8, 1.5]
const usualSuccess = 0.9
const callsMin = 3

/** The share of near intents that used a tool with success, as far as the nearest is alike. */
export function historyVotes(near: readonly NearIntent[]): Map<string, number> {
  const votes = new Map<string, number>()
  const voters = near.slice(0, votersMax)
  const total = voters.reduce((sum, { likeness }) => sum + likeness ** sharpness, 0)
  const top = voters[0]?.likeness ?? 0
  for (const { past, likeness } of voters) {
    const weight = likeness ** sharpness * ((past.done + 0.5) / (past.done + past.failed + 1))
    for (const tool of past.tools) votes.set(tool, (votes.get(tool) ?? 0) + (top * weight) / total)
  }
  return votes
}

/** `recent` are the tools of the last runs of whoever asks. */
export function hintsOf(
  near: readonly NearIntent[],
  recent: Iterable<string>,
  statsOf: (tool: string) => Stats | undefined,
): Hints {
  const before = [...new Set(recent)].flatMap((tool) => statsOf(tool) ?? [])
  const share = (tool: string) =>
    before.reduce((sum, { with: beside, runs }) => sum + (beside[tool] ?? 0) / Math.max(1, runs), 0)
  return {
    history: historyVotes(near),
    context: (tool) => (before.length === 0 ? 0 : Math.min(1, share(tool) / before.length)),
    success(tool) {
      const { calls = 0, successes = 0 } = statsOf(tool) ?? {}
      return calls < callsMin ? null : (successes + 1) / (calls + 2)
    },
  }
}

/** A score from the parts: that of the words where nothing else is known. */
export function joinParts({ words, history, context, success }: RankParts): number {
  const failing = success === null ? 0 : Math.max(0, usualSuccess - success) / usualSuccess
  const shift = contextGain * context - failureLoss * failing
  const either = history === 0 ? words : 1 - (1 - words) * (1 - history)
  if (shift === 0 || either <= 0 || either >= 1) return either
  return 1 / (1 + Math.exp(-(Math.log(either / (1 - either)) + shift)))
}
