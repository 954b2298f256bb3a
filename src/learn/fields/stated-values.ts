/**
 * What an intent itself says of the values of inputs, so that no tool has to provide them:
 * numbers, names and quotations beside the words of an input, and what its description gives as
 * an example.
 */
import { tokenize } from '#catalog'
import { isValueLike, type Specificity, stemsOf, wordsOf } from '#learn/text'
import type { Field } from './tool-shape.ts'

/** An input with its stems and where in the intent its tool is spoken of, between 0 and 1. */
type InputWords = { field: Field; key: string; name: Set<string>; said: Set<string>; place: number }
/** A value, and the stems around it: the nearer, the higher. */
type Value = { isNumber: boolean; place: number; near: Map<string, number> }

const wordsBeside = 4

/** Features for each input; constant ones where there is no intent. */
export function statedFeatures(
  intent: string,
  wanted: readonly InputWords[],
  specificity: Specificity,
): Map<Field, number[]> {
  if (intent === '') return new Map(wanted.map(({ field }) => [field, unsaid]))
  const values = valuesOf(intent)
  const words = new Set(tokenize(intent))
  const numberCount = values.filter(({ isNumber }) => isNumber).length
  const keys = (fits: (field: Field) => boolean) =>
    new Set(wanted.filter(({ field }) => fits(field)).map(({ key }) => key)).size
  const [numbersWanted, required] = [keys(({ type }) => type === 'number'), keys((field) => field.required)]
  const likeness = wanted.map(({ field, name, said }) =>
    values.map((value) =>
      canFill(value, field) ? [name, said].map((stems) => share(stems, value, specificity)) : [0, 0],
    ),
  )
  const total = likeness.map((row) => row.map(([byName, bySaid]) => byName! + bySaid! / 2))
  return new Map(
    wanted.map(({ field, key, place }, index) => {
      const best = Math.max(0, ...total[index]!)
      const at = total[index]!.indexOf(best)
      const rivals = total.filter((_, other) => wanted[other]!.key !== key).map((row) => row[at] ?? 0)
      const isNear = (value: Value) =>
        (field.type !== 'number' || value.isNumber) && Math.abs(value.place - place) < 0.2
      const features = [
        Math.max(0, ...likeness[index]!.map(([byName]) => byName!)),
        Math.max(0, ...likeness[index]!.map(([, bySaid]) => bySaid!)),
        best === 0 ? 0 : best - Math.max(0, ...rivals),
        field.type === 'number' ? numberCount - numbersWanted : -9,
        values.length - required,
        values.filter(isNear).length,
        exampleIn(words, field),
        best === 0 ? 1 : Math.abs(values[at]!.place - place),
      ]
      return [field, features]
    }),
  )
}

const unsaid = [-1, -1, 0, -10, -10, -1, -1, 1]

/** Numbers, quotations, and words that look like values though no sentence begins with them. */
function valuesOf(intent: string): Value[] {
  const words = wordsOf(intent)
  let isQuoted = false
  const isValue = words.map((word, at) => {
    if (word === '"') isQuoted = !isQuoted
    const isStart = at === 0 || /[.?!]$/.test(words[at - 1]!)
    return word !== '"' && (isQuoted || /\d/.test(word) || (isValueLike(word) && !isStart))
  })
  const values: Value[] = []
  for (let start = 0; start < words.length; start++) {
    if (!isValue[start]) continue
    let end = start + 1
    while (isValue[end]) end++
    const near = new Map<string, number>()
    for (let by = wordsBeside; by > 0; by--) {
      const beside = [words[start - by], words[end + by - 1]].flatMap((word) => stemsOf(word ?? ''))
      for (const stem of beside) near.set(stem, 1 / (1 + by))
    }
    const isNumber = /^\d[\d.,]*[a-z%]*$/i.test(words.slice(start, end).join(' '))
    values.push({ isNumber, place: start / words.length, near })
    start = end - 1
  }
  return values
}

const canFill = ({ isNumber }: Value, { type }: Field) => type !== 'boolean' && (type !== 'number' || isNumber)

/** How much of the stems stands beside the value. */
function share(stems: Set<string>, { near }: Value, specificity: Specificity): number {
  let [found, all] = [0, 0]
  for (const stem of stems) {
    all += specificity(stem)
    found += (near.get(stem) ?? 0) * specificity(stem)
  }
  return all === 0 ? 0 : found / all
}

/** 1 where the intent has one of the examples of the description, -1 where there are none. */
function exampleIn(words: Set<string>, { description }: Field): number {
  const quoted = [...description.matchAll(/["'‘“]([^"'’”]{2,30})["'’”]/g)].map(([, text]) => text!)
  const [, listed = ''] = /\b(?:such as|e\.g\.,?|like|either|default is)\s+([^).;]+)/i.exec(description) ?? []
  const examples = [...quoted, ...listed.split(/,|\bor\b|\band\b/)].map((text) => tokenize(text))
  const known = examples.filter(({ length }) => length > 0)
  if (known.length === 0) return -1
  return Number(known.some((example) => example.every((word) => words.has(word))))
}
