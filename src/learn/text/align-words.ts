/** The words of an intent as they stand, and which of them two intents have in common, in order. */

/** Words with what belongs to them (`#304`, `a/b`, `it's`), and signs one by one. */
export function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_'@./:#-]+|[^\p{L}\p{N}_\s]/gu) ?? []
}

export const plainWord = (word: string) => word.toLowerCase().replace(/^[.,']+|[.,']+$/g, '')

type Aligned = [left: number, right: number]

/** The longest common run first, then what stands left and right of it, and so on. */
export function alignWords(left: readonly string[], right: readonly string[]): Aligned[] {
  const found: Aligned[] = []
  if (lengths.length < right.length) lengths = new Int32Array(2 * right.length)
  alignPart(left, right, [0, left.length, 0, right.length], found)
  return found
}

/** How long the run is that ends at each word of the right, while a part is read. */
let lengths = new Int32Array(256)

type Part = [leftStart: number, leftEnd: number, rightStart: number, rightEnd: number]

function alignPart(left: readonly string[], right: readonly string[], part: Part, found: Aligned[]): void {
  const [leftStart, leftEnd, rightStart, rightEnd] = part
  if (leftStart === leftEnd || rightStart === rightEnd) return
  let [bestLeft, bestRight, longest] = [0, 0, 0]
  lengths.fill(0, rightStart, rightEnd)
  for (let at = leftStart; at < leftEnd; at++) {
    const word = left[at]
    // At the word before, above.
    let before = 0
    for (let to = rightStart; to < rightEnd; to++) {
      const length = word === right[to] ? before + 1 : 0
      before = lengths[to]!
      lengths[to] = length
      if (length <= longest) continue
      ;[bestLeft, bestRight, longest] = [at - length + 1, to - length + 1, length]
    }
  }
  if (longest === 0) return
  alignPart(left, right, [leftStart, bestLeft, rightStart, bestRight], found)
  for (let at = 0; at < longest; at++) found.push([bestLeft + at, bestRight + at])
  alignPart(left, right, [bestLeft + longest, leftEnd, bestRight + longest, rightEnd], found)
}

/** Names, numbers and addresses: what a value looks like rather than a word of the request. */
export const isValueLike = (word: string) => /[\p{Lu}\p{N}@/_#]/u.test(word)
