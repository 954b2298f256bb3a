/**
 * What past runs say about tools for an intent: a vote of the nearest past intents, what goes with
 * the tools of the last runs, and how often each tool succeeded. It is joined with the score of the
 * words such that nothing known changes nothing.
 */
import { isCapability } from '#model'
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
  /** There while the planner is admitted: how likely the tool is used, as far as it is trusted. */
  planned?: { share: number; trust: number }
}

export type Hints = {
  /** By tool, from the nearest past intents. */
  history: ReadonlyMap<string, number>
  planned: Planned | null
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
/** What words alone cannot make sure, nor rule out; and the planner. */
const [wordsDoubt, planDoubt] = [0.02, 0.002]
/** A tool that one of four such cases needs is found rather than not: each is one of several. */
const planGain = 1
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

/** What the planner says of an intent: nothing where it is unlike all past ones. */
export type Planned = { shares: ReadonlyMap<string, number>; trust: number }

/** What fitted models say where they are used; else words and near intents count. */
type Fitted = { planned?: Planned | null; attention?: Hints['attention'] }

/** `recent` are the tools of the caller's last runs. */
export function hintsOf(
  near: readonly NearIntent[],
  recent: Iterable<string>,
  statsOf: (tool: string) => Stats | undefined,
  { planned = null, attention = () => undefined }: Fitted = {},
): Hints {
  const before = [...new Set(recent)].flatMap((tool) => statsOf(tool) ?? [])
  const share = (tool: string) =>
    before.reduce((sum, { with: beside, runs }) => sum + (beside[tool] ?? 0) / Math.max(1, runs), 0)
  return {
    history: historyVotes(near),
    planned,
    attention,
    context: (tool) => (before.length === 0 ? 0 : Math.min(1, share(tool) / before.length)),
    success(tool) {
      const { calls = 0, successes = 0 } = statsOf(tool) ?? {}
      return calls < callsMin ? null : (successes + 1) / (calls + 2)
    },
  }
}

/** What the planner says of one tool, as a part of its score. */
export function plannedPart(planned: Planned | null, tool: string): Pick<RankParts, 'planned'> {
  if (planned === null || planned.trust === 0) return {}
  return { planned: { share: planned.shares.get(tool) ?? 0, trust: planned.trust } }
}

/** So many tools that only the past speaks for are looked up. */
const recalledMax = 10
/** What makes a tool one that the past knows: less is chance. */
export const historyMin = 0.05

/** The tools that the past speaks for most, without those that the words found. */
export function recalledTools({ history, planned }: Hints, found: { has(tool: string): boolean }): string[] {
  const shares = planned === null || planned.trust === 0 ? [] : planned.shares
  return [...new Map([...history, ...shares])]
    .filter(([id, share]) => share >= historyMin && !found.has(id) && !isCapability(id))
    .sort(([, left], [, right]) => right - left)
    .slice(0, recalledMax)
    .map(([id]) => id)
}

/** A score from the parts: that of the words where nothing else is known. */
export function joinParts({ words, history, context, success, attention = 0.5, planned }: RankParts): number {
  const failing = success === null ? 0 : Math.max(0, usualSuccess - success) / usualSuccess
  const attended = attentionGain * Math.log(attention / (1 - attention))
  const known = historyGain * Math.log1p(history / historyUnit)
  const shift = contextGain * context - failureLoss * failing + attended
  if (planned !== undefined) {
    const likely = logOddsOf(planned.share, planDoubt) + planGain
    return bent((1 - planned.trust) * (logOddsOf(words, wordsDoubt) + known) + planned.trust * likely + shift)
  }
  if (known + shift === 0) return words
  const joined = bent(logOddsOf(words, wordsDoubt) + known + shift)
  return known + shift > 0 ? Math.max(words, joined) : Math.min(words, joined)
}

function logOddsOf(share: number, doubt: number): number {
  const doubted = Math.min(1 - doubt, Math.max(doubt, share))
  return Math.log(doubted / (1 - doubted))
}

/** The share of log-odds; above the bend it nears its most slowly, so that no two become equal. */
function bent(logOdds: number): number {
  const beyond = logOdds - Math.log(joinedBend / (1 - joinedBend))
  if (beyond <= 0) return 1 / (1 + Math.exp(-logOdds))
  return joinedBend + (joinedMost - joinedBend) * (1 - Math.exp(-beyond / 5))
}
