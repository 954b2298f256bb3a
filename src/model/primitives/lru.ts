/** An LRU cache: a map of bounded size whose least recently used entry gives way to a new one. */

export class LruCache<Key, Value> {
  readonly #max: number
  /** A Map keeps the order of insertion: the first entry is the one used longest ago. */
  readonly #entries = new Map<Key, Value>()

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#entries.size
  }

  has(key: Key): boolean {
    return this.#entries.has(key)
  }

  /** Counts as a use. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.#max) this.#entries.delete(this.#entries.keys().next().value!)
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key)
  }

  /** From the one used longest ago to the newest. */
  values(): IterableIterator<Value> {
    return this.#entries.values()
  }
}
