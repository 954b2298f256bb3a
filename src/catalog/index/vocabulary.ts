/**
 * The words of every tool as numbers: each counts by its stem, so that "store" is nearer to "store"
 * than to "stored" also as it is written, and a little by its synonyms.
 */
import { wordWeight } from './common-words.ts'
import { StringTable, type TableParts } from './string-table.ts'
import { synonymGroup } from './synonyms.ts'
import { contentWords, isStopWord, stemOf, tokenize, withoutContractions } from './tokenize.ts'

const writtenShare = 0.2
const synonymShare = 0.2

/** The forms of a word, of which each tool has those of all its words. */
type Forms = readonly number[]

/** All that a vocabulary consists of, to be stored. A word without forms is a small one. */
export type VocabularyParts = {
  forms: TableParts
  stems: TableParts
  synonyms: Map<string, number>
  weights: Float64Array
}

export class Vocabulary {
  /** Null for small words, which count for nothing. */
  #forms = new Map<string, Forms | null>()
  #stems = new Map<string, number>()
  #synonyms = new Map<string, number>()
  /** By form: how much it counts beside others. */
  weights: number[] = []

  /** What was read from disk; the maps hold what was added since. */
  #stored: { forms: StringTable; stems: StringTable } | null = null

  static of({ forms, stems, synonyms, weights }: VocabularyParts): Vocabulary {
    const vocabulary = new Vocabulary()
    vocabulary.#stored = { forms: new StringTable(forms), stems: new StringTable(stems) }
    vocabulary.#synonyms = synonyms
    vocabulary.weights = [...weights]
    return vocabulary
  }

  parts(): VocabularyParts {
    const added = [...this.#forms].map(([word, forms]) => [word, forms ?? []] as const)
    const { forms, stems } = this.#stored ?? {}
    return {
      forms: StringTable.of([...(forms?.entries() ?? []), ...added]).parts,
      stems: StringTable.of([...(stems?.entries() ?? []), ...this.#stems]).parts,
      synonyms: this.#synonyms,
      weights: Float64Array.from(this.weights),
    }
  }

  get size(): number {
    return this.weights.length
  }

  /**
   * The forms of the words that count in a text, one for each time they stand there; new words get
   * a number.
   */
  add(text: string): Forms[] {
    const found: Forms[] = []
    for (const word of tokenize(withoutContractions(text))) {
      const known = this.#formsOf(word)
      const forms = known === undefined ? this.#number(word) : known
      if (forms !== null) found.push(forms)
    }
    return found
  }

  /** Of the words of an intent the forms that some tool has, each once. */
  find(text: string): number[] {
    const found = contentWords(text).flatMap((word): (number | undefined)[] => {
      const root = stemOf(word)
      return [...(this.#formsOf(word) ?? [this.#stemOf(root), this.#synonyms.get(synonymGroup(root) ?? '')])]
    })
    return [...new Set(found)].filter((form) => form !== undefined)
  }

  /** The form of a word's stem; undefined where no tool ever had it. */
  stemForm(word: string): number | undefined {
    return this.#stemOf(stemOf(word))
  }

  #formsOf(word: string): Forms | null | undefined {
    const added = this.#forms.get(word)
    if (added !== undefined || this.#stored === null) return added
    const forms = this.#stored.forms.get(word)
    return forms?.length === 0 ? null : forms
  }

  #stemOf(root: string): number | undefined {
    return this.#stems.get(root) ?? this.#stored?.stems.get(root)?.[0]
  }

  #number(word: string): Forms | null {
    if (isStopWord(word)) {
      this.#forms.set(word, null)
      return null
    }
    const root = stemOf(word)
    const share = wordWeight(root)
    const group = synonymGroup(root)
    const forms = [
      this.#stemOf(root) ?? this.#form(this.#stems, root, (1 - writtenShare) * share),
      this.weights.push(writtenShare * share) - 1,
      ...(group === undefined ? [] : [this.#form(this.#synonyms, group, synonymShare)]),
    ]
    this.#forms.set(word, forms)
    return forms
  }

  #form(known: Map<string, number>, name: string, weight: number): number {
    const form = known.get(name) ?? this.weights.push(weight) - 1
    known.set(name, form)
    return form
  }
}
