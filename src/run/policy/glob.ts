/** Matching a glob against a whole value, in at most pattern × value steps. */

/** How much may still be compared in one decision; below zero nothing is compared any more. */
export type Work = { left: number }

const star = -1
const globstar = -2
const slash = 0x2f

/**
 * `*` stops at `/`, `**` does not. Simulates the pattern as an automaton, one set of states for
 * each character, so that no value can make it backtrack. With `orFolder`, a value also matches
 * where it would with a `/` behind it. Null where `work` ran out.
 */
export function isLike(pattern: string, value: string, work: Work, orFolder = false): boolean | null {
  const literal = pattern.split('*', 1)[0]!
  if (!value.startsWith(literal) && !(orFolder && literal === `${value}/`)) return false
  const automaton = new Automaton(tokensOf(pattern))
  for (let at = 0; at < value.length; at++) {
    if (automaton.count === 0) return false
    if (automaton.acceptsAll) return true
    work.left -= automaton.count
    if (work.left < 0) return null
    automaton.step(value.charCodeAt(at))
  }
  if (automaton.accepts || !orFolder) return automaton.accepts
  automaton.step(slash)
  return automaton.accepts
}

/** Characters as their codes, and the two wildcards, of which no two stand side by side. */
function tokensOf(pattern: string): number[] {
  return pattern.split(/(\*+)/).flatMap((part, index) => {
    if (index % 2 === 1) return [part.length === 1 ? star : globstar]
    return Array.from({ length: part.length }, (_, at) => part.charCodeAt(at))
  })
}

/**
 * State `n` waits for token `n`; the last one accepts. The reached states are kept in ascending
 * order, in two lists that take turns. Where a `**` is reached, all states before it are dropped:
 * whatever they could still lead to, it leads to as well.
 */
class Automaton {
  readonly #tokens: number[]
  readonly #reachedAt: Float64Array
  #states: Int32Array
  #others: Int32Array
  #round = 1
  count = 0

  constructor(tokens: number[]) {
    this.#tokens = tokens
    this.#reachedAt = new Float64Array(tokens.length + 1)
    this.#states = new Int32Array(tokens.length + 1)
    this.#others = new Int32Array(tokens.length + 1)
    this.#reach(0)
  }

  get accepts(): boolean {
    return this.count > 0 && this.#states[this.count - 1] === this.#tokens.length
  }

  /** Whatever follows: a `**` at the end is reached. */
  get acceptsAll(): boolean {
    const first = this.#states[0]!
    return first === this.#tokens.length - 1 && this.#tokens[first] === globstar
  }

  step(code: number): void {
    const before = this.#states
    const countBefore = this.count
    this.#states = this.#others
    this.#others = before
    this.#round += 1
    this.count = 0
    for (let index = 0; index < countBefore; index++) {
      const state = before[index]!
      const token = this.#tokens[state]
      if (token === globstar || (token === star && code !== slash)) this.#reach(state)
      else if (token === code) this.#reach(state + 1)
    }
  }

  /** Adds a state, and the one behind it where it is a wildcard, which may stand for nothing. */
  #reach(from: number): void {
    for (let state = from; this.#reachedAt[state] !== this.#round; state++) {
      const token = this.#tokens[state]
      if (token === globstar) this.count = 0
      this.#reachedAt[state] = this.#round
      this.#states[this.count] = state
      this.count += 1
      if (token !== star && token !== globstar) return
    }
  }
}
