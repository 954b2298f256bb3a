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
  /** What speaks for the best candidate, and how much the best ones are about the intent. */
  best: number
  coverage: Coverage
  /** Whether that candidate is one of our own tools, which are there whatever is asked for. */
  isBuiltIn: boolean
}

/**
 * A logistic model of whether the tool that is asked for is in the catalogue at all, fitted over
 * catalogues of 40 to 5,000 tools made of public sets, with intents of their own and foreign ones
 * in equal parts, every catalogue counting the same. `node bench/discover.ts --refit` prints it,
 * with `base` and `unsureMin` such that both kinds of error keep to their bars on every catalogue
 * that is measured; `--held-out` how it does on sets that it was not fitted on.
 */
const model = {
  base: 2.273,
  evidence: 1.417,
  tools: -0.654,
  words: -1.379,
  share: 1.523,
  mass: 0.512,
  name: 0.392,
  core: 0.793,
  phrases: 3.919,
}
/**
 * By so much less a built-in tool fits for the same evidence: it is in every home, whatever that
 * is for, and meets the everyday words of what is asked of other tools. By hand: the public sets
 * ask for none of them. Chosen on the seen half of the sentences. It makes an answer unsure, never
 * nothing.
 */
const builtInLess = 1.25
/** More likely than not; and so unlikely that it is not worth a look. */
const foundMin = 0.5
const unsureMin = 0.106
/**
 * A catalogue of fewer tools counts as one of so many: among few tools chance matches are rarer,
 * but what is asked for is more rarely there at all, so that a match proves no more.
 */
const toolsMin = 64
/** What a tool loses for each unit of evidence that it has less than the best. */
const behindSlope = 4.99
/** Less than the score of a tool that is called by its name, or nearly. */
export const unnamedMax = 0.97

export function scoreOf(evidence: number, occasion: Occasion): number {
  const ahead = evidence - occasion.best
  return 1 / (1 + Math.exp(-(bestLogit(occasion) + slopeAt(ahead) * ahead)))
}

/** The evidence that makes this score. */
export function evidenceFor(score: number, occasion: Occasion): number {
  if (score === 1) return Number.POSITIVE_INFINITY
  const ahead = logitOf(score) - bestLogit(occasion)
  return occasion.best + ahead / slopeAt(ahead)
}

/**
 * The model is of the best tool, whose coverage says nothing of those behind it: they lose by a
 * steeper slope.
 */
const slopeAt = (ahead: number) => (ahead < 0 ? behindSlope : model.evidence)

/** What the model multiplies its weights with. */
export function featuresOf({
  tools,
  words,
  best,
  coverage,
}: Occasion): Record<Exclude<keyof typeof model, 'base'>, number> {
  return { evidence: best, tools: Math.log(Math.max(tools, toolsMin)), words: Math.log(words + 1), ...coverage }
}

function bestLogit(occasion: Occasion): number {
  const { evidence, tools, words, share, mass, name, core, phrases } = featuresOf(occasion)
  const size = model.tools * tools + model.words * words
  const covered = model.share * share + model.mass * mass + model.phrases * phrases
  const logit = model.base + model.evidence * evidence + size + covered + model.name * name + model.core * core
  return occasion.isBuiltIn ? Math.min(logit, Math.max(logitOf(unsureMin), logit - builtInLess)) : logit
}

const logitOf = (score: number) => Math.log(score / (1 - score))

/** `best` is the score of the first tool; undefined where no tool shares a word with the intent. */
export function statusOf(best: number | undefined): Status {
  if (best === undefined || best < unsureMin) return 'nothing_fits'
  return best >= foundMin ? 'found' : 'unsure'
}
