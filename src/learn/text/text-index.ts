/** BM25 over small texts that are already cut into terms: past intents, descriptions of tools. */

type TextIndex = { scores(terms: readonly string[]): Float64Array; selfScore(terms: readonly string[]): number }

const [saturation, lengthShare] = [1.2, 0.75]

export function indexTexts(documents: readonly (readonly string[])[]): TextIndex {
  const postings = new Map<string, Map<number, number>>()
  for (const [at, terms] of documents.entries()) {
    for (const term of terms) {
      const places = postings.get(term) ?? new Map<number, number>()
      places.set(at, (places.get(at) ?? 0) + 1)
      postings.set(term, places)
    }
  }
  const mean = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length) || 1
  const rarity = (count: number) => Math.log(1 + (documents.length - count + 0.5) / (count + 0.5))
  return {
    scores(terms) {
      const scores = new Float64Array(documents.length)
      for (const term of new Set(terms)) {
        const places = postings.get(term)
        if (places === undefined) continue
        const weight = rarity(places.size)
        for (const [at, count] of places) {
          const length = 1 - lengthShare + (lengthShare * documents[at]!.length) / mean
          scores[at]! += (weight * count * (saturation + 1)) / (count + saturation * length)
        }
      }
      return scores
    },
    /** About what a text of the same words would score. */
    selfScore(terms) {
      let score = 0
      for (const term of new Set(terms)) score += rarity(postings.get(term)?.size ?? 0)
      return score || 1
    },
  }
}
