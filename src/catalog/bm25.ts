/** BM25 over weighted fields, in typed arrays: postings of a word lie side by side, so a query reads memory in order. */

export type Field = { weight: number /** How much a long text is held against it, 0 to 1. */; length: number }

export type Bm25 = {
  words: Map<string, number>
  /** Word w occurs in documents[starts[w]] up to documents[starts[w + 1]], there with strengths[…], each below 1. */
  starts: Uint32Array
  documents: Uint32Array
  strengths: Float32Array
  rarities: Float32Array
  /** Where evidenceOf writes: one for all queries, so that a query leaves no garbage of this size behind. */
  evidence: Float32Array
}

/** Where more occurrences of a word stop making it stronger. */
const saturation = 1.2

/** `texts[d][f]` are the words of document d in field f. */
export function buildBm25(texts: readonly (readonly string[][])[], fields: readonly Field[]): Bm25 {
  const words = new Map<string, number>()
  const means = fields.map((_, f) => Math.max(1, texts.reduce((sum, text) => sum + text[f]!.length, 0) / texts.length))
  const frequencies = texts.map((text) => frequenciesOf(text, fields, means, words))
  const starts = new Uint32Array(words.size + 1)
  for (const frequency of frequencies) for (const word of frequency.keys()) starts[word + 1]!++
  for (let word = 0; word < words.size; word++) starts[word + 1]! += starts[word]!
  const next = starts.slice(0, -1)
  const documents = new Uint32Array(starts.at(-1)!)
  const strengths = new Float32Array(starts.at(-1)!)
  for (const [document, frequency] of frequencies.entries()) {
    for (const [word, amount] of frequency) {
      const place = next[word]!++
      documents[place] = document
      strengths[place] = amount / (amount + saturation)
    }
  }
  const rarity = (occurrences: number) => Math.log(1 + (texts.length - occurrences + 0.5) / (occurrences + 0.5))
  const rarities = Float32Array.from({ length: words.size }, (_, word) => {
    return rarity(starts[word + 1]! - starts[word]!) / rarity(0)
  })
  return { words, starts, documents, strengths, rarities, evidence: new Float32Array(texts.length) }
}

/** How often each word stands in a document: every field counts by its weight and its length. */
function frequenciesOf(
  text: readonly string[][],
  fields: readonly Field[],
  means: readonly number[],
  words: Map<string, number>,
): Map<number, number> {
  const frequency = new Map<number, number>()
  for (const [f, { weight, length }] of fields.entries()) {
    const amount = weight / (1 - length + length * (text[f]!.length / means[f]!))
    for (const spelling of text[f]!) {
      const word = words.get(spelling) ?? words.size
      words.set(spelling, word)
      frequency.set(word, (frequency.get(word) ?? 0) + amount)
    }
  }
  return frequency
}

/**
 * For each document how much speaks for it: of every word of the query its rarity, 1 for a word that nobody else has,
 * times how strongly the document has it. So two rare words in a name come near 2, whatever the size of the collection.
 * What it gives is good until the next query.
 */
export function evidenceOf(index: Bm25, query: ReadonlySet<string>): Float32Array {
  const { words, starts, documents, strengths, rarities, evidence } = index
  evidence.fill(0)
  for (const spelling of query) {
    const word = words.get(spelling)
    if (word === undefined) continue
    for (let place = starts[word]!; place < starts[word + 1]!; place++) {
      evidence[documents[place]!]! += rarities[word]! * strengths[place]!
    }
  }
  return evidence
}

/** The documents with the highest scores above zero, best first; of equals the earlier. */
export function bestOf(scores: Float32Array, most: number, accepts: (document: number) => boolean): number[] {
  const best: number[] = []
  let least = 0
  for (let document = 0; document < scores.length; document++) {
    const score = scores[document]!
    if (score <= least || !accepts(document)) continue
    let place = best.length
    while (place > 0 && scores[best[place - 1]!]! < score) place--
    best.splice(place, 0, document)
    if (best.length > most) best.pop()
    if (best.length === most) least = scores[best.at(-1)!]!
  }
  return best
}
