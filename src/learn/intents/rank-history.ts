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
  /** There while attention is admitted and knows the tool: 0.5 says nothing for or against it. */
  attention?: number
}

export type Hints = {
  /** By tool, from the nearest past intents. */
  history: ReadonlyMap<string, number>
  context(tool: string): number
  success(tool: string): number | null
  attention(tool: string): number | undefined
}

/** How much nearer intents count than farther ones. */
const sharpness = 3
const votersMax = 20
/**
 * What each part moves, in log-odds: context and lack of success at most so much, history by the
 * logarithm of its share, as little of it already tells a tool from all that were never used.
 */
const [contextGain, failureLoss] = [0.8, 1.5]
const [historyGain, historyUnit] = [4, 0.08]
/** What words alone cannot make sure, nor rule out. */
const wordsDoubt = 0.02
/** Tools that are called by their names stand above all that was learned. */
const [joinedMost, joinedBend] = [0.969, 0.9]
/** How much attention counts, in log-odds of its own. */
const attentionGain = 0.25
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

/** What fitted models say where they are used; else the vote of near intents counts alone. */
type Fitted = { history?: Hints['history'] | undefined; attention?: Hints['attention'] }

/** `recent` are the tools of the caller's last runs. */
export function hintsOf(
  near: readonly NearIntent[],
  recent: Iterable<string>,
  statsOf: (tool: string) => Stats | undefined,
  { history = historyVotes(near), attention = () => undefined }: Fitted = {},
): Hints {
  const before = [...new Set(recent)].flatMap((tool) => statsOf(tool) ?? [])
  const share = (tool: string) =>
    before.reduce((sum, { with: beside, runs }) => sum + (beside[tool] ?? 0) / Math.max(1, runs), 0)
  return {
    history,
    attention,
    context: (tool) => (before.length === 0 ? 0 : Math.min(1, share(tool) / before.length)),
    success(tool) {
      const { calls = 0, successes = 0 } = statsOf(tool) ?? {}
      return calls < callsMin ? null : (successes + 1) / (calls + 2)
    },
  }
}

/** A score from the parts: that of the words where nothing else is known. */
export function joinParts({ words, history, context, success, attention = 0.5 }: RankParts): number {
  const failing = success === null ? 0 : Math.max(0, usualSuccess - success) / usualSuccess
  const attended = attentionGain * Math.log(attention / (1 - attention))
  const known = historyGain * Math.log1p(history / historyUnit) + contextGain * context
  const shift = known - failureLoss * failing + attended
  if (shift === 0) return words
  const doubted = Math.min(1 - wordsDoubt, Math.max(wordsDoubt, words))
  const joined = bent(Math.log(doubted / (1 - doubted)) + shift)
  return shift > 0 ? Math.max(words, joined) : Math.min(words, joined)
}

/** The share of log-odds; above the bend it nears its most slowly, so that no two become equal. */
function bent(logOdds: number): number {
  const beyond = logOdds - Math.log(joinedBend / (1 - joinedBend))
  if (beyond <= 0) return 1 / (1 + Math.exp(-logOdds))
  return joinedBend + (joinedMost - joinedBend) * (1 - Math.exp(-beyond / 5))
}
