/**
 * What a capability would have changed, over runs it was tried against: repairs less regressions,
 * as a share of those that could be judged, with the bound below which it lies with a probability
 * of about 5 %.
 */
import { limits } from '#model'

type Verdict = 'repair' | 'regression' | 'tie' | 'unknown'

type Intervention = {
  repairs: number
  regressions: number
  ties: number
  /** Runs that never asked what it asks: they say nothing. */
  abstentions: number
  judged: number
  lower: number
  isHarmful: boolean
}

/** Dirichlet posterior with a uniform prior over repair, regression and tie. */
export function interventionOf(verdicts: readonly Verdict[]): Intervention {
  const count = (verdict: Verdict) => verdicts.filter((one) => one === verdict).length
  const [repairs, regressions, ties] = [count('repair'), count('regression'), count('tie')]
  const judged = repairs + regressions + ties
  const mean = (repairs - regressions) / (judged + 3)
  const variance = ((repairs + regressions + 2) / (judged + 3) - mean ** 2) / (judged + 4)
  const lower = mean - 1.645 * Math.sqrt(variance)
  const isHarmful = regressions >= limits.capabilityFailuresMin && lower * 100 < limits.capabilityNetPercentMin
  return { repairs, regressions, ties, abstentions: count('unknown'), judged, lower, isHarmful }
}
