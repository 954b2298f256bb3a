/**
 * How probable it is that a tool fits an intent, by how much speaks for it; and what is said of a
 * ranking by its first.
 */

import type { Coverage } from './coverage.ts'

/** `unsure`: there is something to show, but none of it clearly fits. */
export type Status = 'found' | 'unsure' | 'nothing_fits'

/**
 * What a score depends on beside the evidence: among more tools some share words with an intent by
 * accident, and of a longer intent more of them do.
 */
export type Occasion = {
  /** How many tools were looked through. */
  tools: number
  /** How many words of the intent say what is to be done. */
  words: number
  /** What speaks for the best candidate, and how much of the intent the best ones are about. */
  best: number
  coverage: Coverage
}

/**
 * A logistic model of whether the tool that is asked for is in the catalogue at all, fitted over
 * catalogues of 40 to 5,000 tools made of public sets, with intents of their own and foreign ones
 * in equal parts, every catalogue counting the same. `base` is moved such that one in ten foreign
 * intents scores 0.5 or more. `node bench/discover.ts` says how often it is wrong.
 */
const model = { base: 1.44, evidence: 2.227, tools: -0.593, words: -1.139, share: 2.768, mass: 0.815 }
/** What a tool loses for each unit of evidence that it has less than the best. */
const behindSlope = 4.99
/** More likely than not; and less likely than one in ten. */
const foundMin = 0.5
const unsureMin = 0.108
/** Less than the score of a tool that is called by its name, or nearly. */
export const unnamedMax = 0.97

export function scoreOf(evidence: number, occasion: Occasion): number {
  const ahead = evidence - occasion.best
  return 1 / (1 + Math.exp(-(bestLogit(occasion) + slopeAt(ahead) * ahead)))
}

/** The evidence that makes this score. */
export function evidenceFor(score: number, occasion: Occasion): number {
  if (score === 1) return Number.POSITIVE_INFINITY
  const ahead = Math.log(score / (1 - score)) - bestLogit(occasion)
  return occasion.best + ahead / slopeAt(ahead)
}

/**
 * The model is of the best tool, whose coverage says nothing of those behind it: they lose by a
 * steeper slope.
 */
const slopeAt = (ahead: number) => (ahead < 0 ? behindSlope : model.evidence)

function bestLogit({ tools, words, best, coverage: { share, mass } }: Occasion): number {
  const size = model.tools * Math.log(tools) + model.words * Math.log(words + 1)
  return model.base + model.evidence * best + size + model.share * share + model.mass * mass
}

/** `best` is the score of the first tool; undefined where no tool shares a word with the intent. */
export function statusOf(best: number | undefined): Status {
  if (best === undefined || best < unsureMin) return 'nothing_fits'
  return best >= foundMin ? 'found' : 'unsure'
}
