/** Names that are near to a mistyped one, for "did you mean". */

/**
 * At most three, the nearest first; a longer name may have more slips. Case, `-` and `_` do not
 * count.
 */
export function nearNames(given: string, names: Iterable<string>): string[] {
  const plain = plainly(given)
  const slipsMax = plain.length < 2 ? 0 : plain.length < 6 ? 1 : 2
  return [...new Set(names)]
    .map((name) => ({ name, slips: slipsBetween(plain, plainly(name), slipsMax) }))
    .filter(({ name, slips }) => name !== given && slips <= slipsMax)
    .sort((left, right) => left.slips - right.slips)
    .slice(0, 3)
    .map(({ name }) => name)
}

function plainly(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '')
}

/**
 * Optimal string alignment: letters too many, too few, wrong, or two neighbours swapped; more than
 * `most` is not counted out.
 */
function slipsBetween(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1
  let [before, row]: number[][] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      next[j] = Math.min(
        row![j]! + 1,
        next[j - 1]! + 1,
        row![j - 1]! + (isSame ? 0 : 1),
        isSwapped ? before![j - 2]! + 1 : Number.POSITIVE_INFINITY,
      )
    }
    before = row
    row = next
  }
  return row![other.length]!
}
