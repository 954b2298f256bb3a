/**
 * Which tools have which word and how strongly, in typed arrays: all places of a word lie side by
 * side, so a query reads memory in order.
 */
import type { Tool } from '#model'
import { sameSearchText, searchFields } from './search-fields.ts'
import type { Vocabulary } from './vocabulary.ts'

export type Postings = {
  /**
   * Form f stands in documents[starts[f]] up to documents[starts[f + 1]], there with strengths[…],
   * each below 1.
   */
  starts: Uint32Array
  documents: Uint32Array
  strengths: Float32Array
}

/** Where more occurrences of a word stop making it stronger. */
const saturation = 1.2
/** Tools between two moments in which others may have their turn. */
const batch = 64

/** One entry for each form of each new tool, in the order in which they were read. */
class Entries {
  #forms = new Uint32Array(1024)
  #documents = new Uint32Array(1024)
  #strengths = new Float32Array(1024)
  length = 0

  add(form: number, document: number, strength: number): void {
    if (this.length === this.#forms.length) this.#grow()
    this.#forms[this.length] = form
    this.#documents[this.length] = document
    this.#strengths[this.length++] = strength
  }

  #grow(): void {
    const grown = <Kind extends Uint32Array | Float32Array>(old: Kind, next: Kind) => {
      next.set(old)
      return next
    }
    this.#forms = grown(this.#forms, new Uint32Array(2 * this.length))
    this.#documents = grown(this.#documents, new Uint32Array(2 * this.length))
    this.#strengths = grown(this.#strengths, new Float32Array(2 * this.length))
  }

  *each(visit: (form: number, document: number, strength: number) => void): Generator<void> {
    for (let at = 0; at < this.length; at++) {
      visit(this.#forms[at]!, this.#documents[at]!, this.#strengths[at]!)
      if (at % 65_536 === 65_535) yield
    }
  }
}

/**
 * What there was is taken over for every tool that says the same as before; only the others are
 * read.
 */
export function* buildPostings(
  vocabulary: Vocabulary,
  tools: readonly Tool[],
  before: { tools: readonly Tool[]; postings: Postings } | null,
): Generator<void, Postings> {
  const moved = yield* placesOf(tools, before?.tools ?? [])
  const entries = new Entries()
  const isOld = new Uint8Array(tools.length)
  for (const place of moved) if (place >= 0) isOld[place] = 1
  const amounts = { by: new Float64Array(1024), seen: [] as number[] }
  for (const [document, tool] of tools.entries()) {
    if (isOld[document] === 0) readTool(vocabulary, tool, document, entries, amounts)
    if (document % batch === batch - 1) yield
  }
  return yield* sorted(vocabulary.size, entries, before?.postings ?? null, moved)
}

/** Where each of the old tools stands now; -1 where it is gone. */
function* placesOf(tools: readonly Tool[], old: readonly Tool[]): Generator<void, Int32Array> {
  const moved = new Int32Array(old.length).fill(-1)
  if (old.length === 0) return moved
  const places = new Map<string, number>()
  for (const [place, { id }] of old.entries()) {
    places.set(id, place)
    if (place % 4096 === 4095) yield
  }
  for (const [place, tool] of tools.entries()) {
    const was = places.get(tool.id)
    if (was !== undefined && sameSearchText(old[was]!, tool)) moved[was] = place
    if (place % 4096 === 4095) yield
  }
  return moved
}

/** How strong a tool is in each of its words: every field counts by its weight and its length. */
function readTool(
  vocabulary: Vocabulary,
  tool: Tool,
  document: number,
  entries: Entries,
  amounts: { by: Float64Array; seen: number[] },
): void {
  const count = (form: number, amount: number) => {
    if (form >= amounts.by.length) {
      const grown = new Float64Array(2 * form)
      grown.set(amounts.by)
      amounts.by = grown
    }
    if (amounts.by[form] === 0) amounts.seen.push(form)
    amounts.by[form]! += amount
  }
  for (const { weight, length, middling, textOf } of searchFields) {
    const words = vocabulary.add(textOf(tool))
    const amount = weight / (1 - length + length * ((2 * words.length) / middling))
    for (const forms of words) for (const form of forms) count(form, amount)
  }
  for (const form of amounts.seen) {
    entries.add(form, document, amounts.by[form]! / (amounts.by[form]! + saturation))
    amounts.by[form] = 0
  }
  amounts.seen.length = 0
}

/** By form: counted first, then each put into its place. */
function* sorted(forms: number, entries: Entries, old: Postings | null, moved: Int32Array): Generator<void, Postings> {
  const starts = new Uint32Array(forms + 1)
  yield* entries.each((form) => starts[form + 1]!++)
  if (old !== null) yield* eachOf(old, moved, (form) => starts[form + 1]!++)
  for (let form = 0; form < forms; form++) starts[form + 1]! += starts[form]!
  const next = starts.slice(0, -1)
  const documents = new Uint32Array(starts[forms]!)
  const strengths = new Float32Array(starts[forms]!)
  const put = (form: number, document: number, strength: number) => {
    const place = next[form]!++
    documents[place] = document
    strengths[place] = strength
  }
  if (old !== null) yield* eachOf(old, moved, put)
  yield* entries.each(put)
  return { starts, documents, strengths }
}

function* eachOf(
  { starts, documents, strengths }: Postings,
  moved: Int32Array,
  visit: (form: number, document: number, strength: number) => void,
): Generator<void> {
  let visited = 0
  for (let form = 0; form + 1 < starts.length; form++) {
    for (let place = starts[form]!; place < starts[form + 1]!; place++) {
      const document = moved[documents[place]!]!
      if (document >= 0) visit(form, document, strengths[place]!)
    }
    visited += starts[form + 1]! - starts[form]!
    if (visited > 65_536) {
      visited = 0
      yield
    }
  }
}
