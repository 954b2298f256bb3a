/** The words of every tool as numbers: each counts by its stem and, so that "store" is nearer to "store" than to "stored", also as it is written. */
import { comparable, contentOf, genericWords, isSmall, split, withoutContractions } from './words.ts'

const writtenShare = 0.2
const genericShare = 0.6

/** The two forms of a word. */
type Forms = { stem: number; written: number }

export class Vocabulary {
  /** Null for small words, which count for nothing. */
  readonly #forms = new Map<string, Forms | null>()
  readonly #stems = new Map<string, number>()
  /** By form: how much it counts beside others. */
  readonly weights: number[] = []

  get size(): number {
    return this.weights.length
  }

  /** The forms of the words that count in a text, one for each time they stand there; new words get a number. */
  add(text: string): Forms[] {
    const found: Forms[] = []
    for (const word of split(withoutContractions(text))) {
      const known = this.#forms.get(word)
      const forms = known === undefined ? this.#number(word) : known
      if (forms !== null) found.push(forms)
    }
    return found
  }

  /** Of the words of an intent the forms that some tool has, each once. */
  find(text: string): number[] {
    const found = contentOf(text).flatMap((word) => {
      const { stem = this.#stems.get(comparable(word)), written } = this.#forms.get(word) ?? {}
      return [stem, written].filter((form) => form !== undefined)
    })
    return [...new Set(found)]
  }

  /** The form of a stem, if some tool has it. */
  stem(stem: string): number | undefined {
    return this.#stems.get(stem)
  }

  #number(word: string): Forms | null {
    if (isSmall(word)) {
      this.#forms.set(word, null)
      return null
    }
    const root = comparable(word)
    const share = genericWords.has(root) ? genericShare : 1
    const stem = this.#stems.get(root) ?? this.weights.push((1 - writtenShare) * share) - 1
    this.#stems.set(root, stem)
    const forms = { stem, written: this.weights.push(writtenShare * share) - 1 }
    this.#forms.set(word, forms)
    return forms
  }
}
