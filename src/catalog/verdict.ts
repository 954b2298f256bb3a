/** How probable it is that a tool fits an intent, by how much speaks for it; and what is said of a ranking by its first. */

/** `unsure`: there is something to show, but none of it clearly fits. */
export type Status = 'found' | 'unsure' | 'nothing_fits'

/**
 * What a score depends on beside the evidence: among more tools some share words with an intent by accident, and of a longer
 * intent more of them do.
 */
export type Occasion = {
  /** How many tools were looked through. */
  tools: number
  /** How many words of the intent say what is to be done. */
  words: number
}

/**
 * A logistic model of whether the tool that is asked for is in the catalogue at all, fitted over catalogues of 40 to 5,000 tools
 * made of public sets, with intents of their own and foreign ones in equal parts, every catalogue counting the same. `base` is moved
 * such that one in ten foreign intents scores 0.5 or more. `node bench/discover.ts` says how often it is wrong.
 */
const model = { base: 1.9, evidence: 4.99, tools: -0.55, words: -1.6 }
/** More likely than not; and less likely than one in ten. */
const foundMin = 0.5
const unsureMin = 0.1
/** Less than the score of a tool that is called by its name, or nearly. */
export const unnamedMax = 0.97

export function scoreOf(evidence: number, occasion: Occasion): number {
  return 1 / (1 + Math.exp(-(model.evidence * evidence + restOf(occasion))))
}

/** The evidence that makes this score. */
export function evidenceFor(score: number, occasion: Occasion): number {
  return score === 1 ? Number.POSITIVE_INFINITY : (Math.log(score / (1 - score)) - restOf(occasion)) / model.evidence
}

function restOf({ tools, words }: Occasion): number {
  return model.base + model.tools * Math.log(tools) + model.words * Math.log(words + 1)
}

/** `best` is the score of the first tool; undefined where no tool shares a word with the intent. */
export function statusOf(best: number | undefined): Status {
  if (best === undefined || best < unsureMin) return 'nothing_fits'
  return best >= foundMin ? 'found' : 'unsure'
}
