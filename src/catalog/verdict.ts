/** Says of a ranking whether its first tool fits the intent. */

/** `unsure`: there is something to show, but none of it clearly fits. */
export type Status = 'found' | 'unsure' | 'nothing_fits'

const foundMin = 0.42
const unsureMin = 0.34

/** `best` is the score of the first tool; null where no tool shares a word with the intent. */
export function statusOf(best: number | null): Status {
  if (best === null || best < unsureMin) return 'nothing_fits'
  return best >= foundMin ? 'found' : 'unsure'
}
