/** The words of a field, as they are compared with those of another. */
import { synonymGroup, tokenize } from '#catalog'
import { stemsOf } from '#learn/text'
import type { Field } from './tool-shape.ts'

/** `key` is the name without signs, `kinds` its words with one word for each group of synonyms. */
export type FieldWords = {
  name: Set<string>
  said: Set<string>
  all: Set<string>
  key: string
  last: string
  grams: Set<string>
  kinds: Set<string>
  nameKinds: Set<string>
}

export function fieldWords({ name, description }: Field): FieldWords {
  const stems = stemsOf(name)
  const said = new Set(stemsOf(description))
  const key = tokenize(name).join('')
  const all = new Set([...stems, ...said])
  return {
    name: new Set(stems),
    said,
    all,
    key,
    last: stems.at(-1) ?? '',
    grams: new Set(Array.from({ length: Math.max(0, key.length - 2) }, (_, at) => key.slice(at, at + 3))),
    kinds: new Set([...all].map(kindOf)),
    nameKinds: new Set(stems.map(kindOf)),
  }
}

/** Words that stand for the same thing in schemas, though hardly in sentences. */
const schemaSynonyms = `
id identifier code number reference
link url address uri
info details information data description content
report result summary outcome analysis
list array collection set
type kind category genre`

const groups = new Map(
  schemaSynonyms
    .trim()
    .split('\n')
    .flatMap((line) => stemsOf(line).map((stem, _, all) => [stem, `#${all[0]}`])),
)

const kindOf = (stem: string) => groups.get(stem) ?? synonymGroup(stem) ?? stem
