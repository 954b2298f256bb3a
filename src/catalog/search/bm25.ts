/**
 * How much speaks for each tool, by the words it shares with an intent (BM25 over weighted fields),
 * and the best of them.
 */
import type { Postings } from '#catalog/index'

/** What speaks for each tool of a segment, for one query. */
type Evidence = {
  /** By tool. */
  amounts: Float32Array
  /** The most in each block of tools, so that blocks without any good one are passed over. */
  peaks: Float32Array
}

/** Tools of a block, as a power of two. */
const blockBits = 7

/**
 * A word of the query and what it is worth where it is found: 1 would be a word of one tool alone.
 */
export type Term = { form: number; worth: number }

/** How rare a word is that so many of all tools have, from 1 for none down towards 0. */
export function inverseFrequency(occurrences: number, tools: number): number {
  const rarity = (count: number) => Math.log(1 + (tools - count + 0.5) / (count + 0.5))
  return rarity(occurrences) / rarity(0)
}

export function documentFrequency({ starts }: Postings, form: number): number {
  return form + 1 < starts.length ? starts[form + 1]! - starts[form]! : 0
}

/** Of every word what it is worth, times how strongly the tool has it. */
export function scoreTools(
  { starts, documents, strengths }: Postings,
  tools: number,
  terms: readonly Term[],
): Evidence {
  const amounts = new Float32Array(tools)
  const peaks = new Float32Array((tools >>> blockBits) + 1)
  for (const { form, worth } of terms) {
    if (form + 1 >= starts.length) continue
    const end = starts[form + 1]!
    for (let place = starts[form]!; place < end; place++) {
      const document = documents[place]!
      const amount = amounts[document]! + worth * strengths[place]!
      amounts[document] = amount
      if (amount > peaks[document >>> blockBits]!) peaks[document >>> blockBits] = amount
    }
  }
  return { amounts, peaks }
}

/** The places with the most evidence above zero, best first; of equals the earlier. */
export function topTools({ amounts, peaks }: Evidence, most: number, accepts: (place: number) => boolean): number[] {
  const best: number[] = []
  let least = 0
  for (let block = 0; block < peaks.length; block++) {
    if (peaks[block]! <= least) continue
    const end = Math.min(amounts.length, (block + 1) << blockBits)
    for (let place = block << blockBits; place < end; place++) {
      const amount = amounts[place]!
      if (amount <= least || !accepts(place)) continue
      let at = best.length
      while (at > 0 && amounts[best[at - 1]!]! < amount) at--
      best.splice(at, 0, place)
      if (best.length > most) best.pop()
      if (best.length === most) least = amounts[best.at(-1)!]!
    }
  }
  return best
}
