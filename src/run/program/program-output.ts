/** What a program says beside its calls: the lines that it logs, and its pure operations. */
import type { Turn } from '#model'
import type { Chain } from '#record'
import type { Journal } from '#run/record'

/** A replayed program says the same again: only what goes beyond the record is new. */
export class OutputRecorder {
  readonly #chain: Chain
  readonly #known: Pick<Journal, 'logLines' | 'operations'>
  #logLines = 0
  #operations = 0

  constructor(chain: Chain, journal: Journal) {
    this.#chain = chain
    this.#known = journal
  }

  /** `program` is where the one stands that said it. */
  record(program: string, { logs, traced }: Turn): void {
    if (traced !== undefined) this.#trace(program, traced)
    const known = Math.max(0, this.#known.logLines - this.#logLines)
    this.#logLines += logs.length
    const lines = logs.slice(known)
    if (lines.length > 0) this.#chain.append('run.logged', { lines })
  }

  #trace(program: string, { operations, dropped }: Turn['traced'] & {}): void {
    const isKnown = this.#operations < this.#known.operations
    this.#operations += operations.length + dropped
    if (isKnown) return
    const more = { ...(program === '' ? {} : { call: program }), ...(dropped === 0 ? {} : { dropped }) }
    this.#chain.append('code.traced', { operations, ...more })
  }
}
