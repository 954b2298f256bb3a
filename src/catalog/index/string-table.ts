/**
 * An immutable map from strings to lists of numbers, in four typed arrays. It is searched where it
 * lies: reading one from disk takes as long as copying its bytes, where a Map of 100,000 strings
 * has to be filled again.
 *
 *   bytes   the keys in UTF-8, one after the other, in the order of their bytes
 *   ends    where each key ends in `bytes`
 *   starts  where the numbers of each key begin in `numbers`; one more than there are keys.
 */
export type TableParts = { bytes: Uint8Array; ends: Uint32Array; starts: Uint32Array; numbers: Uint32Array }

/** What a table and a Map that is being filled have in common. */
export type Lookup<Value> = { get(key: string): Value | undefined; keys(): Iterable<string> }

export class StringTable implements Lookup<number[]> {
  readonly parts: TableParts
  readonly #bytes: Buffer

  constructor(parts: TableParts) {
    this.parts = parts
    const { buffer, byteOffset, byteLength } = parts.bytes
    this.#bytes = Buffer.from(buffer, byteOffset, byteLength)
  }

  static of(entries: Iterable<readonly [string, number | readonly number[]]>): StringTable {
    const sorted = [...entries]
      .map(([key, value]) => ({ key: Buffer.from(key), value: [value].flat() }))
      .sort((left, right) => Buffer.compare(left.key, right.key))
    const ends = new Uint32Array(sorted.length)
    const starts = new Uint32Array(sorted.length + 1)
    for (const [at, { key, value }] of sorted.entries()) {
      ends[at] = (at === 0 ? 0 : ends[at - 1]!) + key.length
      starts[at + 1] = starts[at]! + value.length
    }
    const bytes = new Uint8Array(Buffer.concat(sorted.map(({ key }) => key)))
    return new StringTable({ bytes, ends, starts, numbers: Uint32Array.from(sorted.flatMap(({ value }) => value)) })
  }

  get(key: string): number[] | undefined {
    const { ends, starts, numbers } = this.parts
    const wanted = Buffer.from(key)
    let [low, high] = [0, ends.length - 1]
    while (low <= high) {
      const middle = (low + high) >> 1
      const order = this.#bytes.compare(wanted, 0, wanted.length, this.#start(middle), ends[middle]!)
      if (order === 0) return [...numbers.subarray(starts[middle]!, starts[middle + 1]!)]
      if (order < 0) low = middle + 1
      else high = middle - 1
    }
    return undefined
  }

  *keys(): Generator<string> {
    for (const [at, end] of this.parts.ends.entries()) yield this.#bytes.toString('utf8', this.#start(at), end)
  }

  *entries(): Generator<[string, number[]]> {
    const { starts, numbers } = this.parts
    let at = 0
    for (const key of this.keys()) yield [key, [...numbers.subarray(starts[at]!, starts[++at]!)]]
  }

  #start(at: number): number {
    return at === 0 ? 0 : this.parts.ends[at - 1]!
  }
}
