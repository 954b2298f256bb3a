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
  alignPart(left, right, [0, left.length, 0, right.length], found)
  return found
}

type Part = [leftStart: number, leftEnd: number, rightStart: number, rightEnd: number]

function alignPart(left: readonly string[], right: readonly string[], part: Part, found: Aligned[]): void {
  const [leftStart, leftEnd, rightStart, rightEnd] = part
  if (leftStart === leftEnd || rightStart === rightEnd) return
  let best = { left: 0, right: 0, length: 0 }
  // How long the run is that ends at each word of the right; `before`: at the word before, above.
  const lengths = new Int32Array(rightEnd - rightStart)
  for (let at = leftStart; at < leftEnd; at++) {
    const word = left[at]
    let before = 0
    for (let to = rightStart; to < rightEnd; to++) {
      const length = word === right[to] ? before + 1 : 0
      before = lengths[to - rightStart]!
      lengths[to - rightStart] = length
      if (length > best.length) best = { left: at - length + 1, right: to - length + 1, length }
    }
  }
  if (best.length === 0) return
  alignPart(left, right, [leftStart, best.left, rightStart, best.right], found)
  for (let at = 0; at < best.length; at++) found.push([best.left + at, best.right + at])
  alignPart(left, right, [best.left + best.length, leftEnd, best.right + best.length, rightEnd], found)
}

/** Names, numbers and addresses: what a value looks like rather than a word of the request. */
export const isValueLike = (word: string) => /[\p{Lu}\p{N}@/_#]/u.test(word)
