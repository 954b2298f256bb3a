/**
 * What an intent says that none of the intents of a habit said: another wish beside the old one, a
 * condition, a negation, another object. Likeness hardly sees one word among ten that are the same,
 * and it is the one that matters. So whatever is not known from them is unmatched, in any language
 * and spelling; only forms of politeness and a few prepositions may come and go.
 */
import { stemOf } from '#catalog'
import { isValueLike, plainWord, wordsOf } from '#learn/text'
import { isObject, type Json, limits } from '#model'
import { once } from './once.ts'

/** An intent that the habit served, with the arguments that it then had; null where not known. */
export type Served = { intent: string; args: Json | null }

/**
 * `words` are those that nothing explains, `lacking` the stems that every intent of the habit has
 * and this one has not, `share` how far it still holds that the habit and nothing else is meant.
 */
export type Unmatched = { words: string[]; lacking: string[]; share: number }

const shareOf = { word: 0.9, lacking: 0.7, clause: 0.5 }
const wordsCountedMax = 4

export function unmatchedIn(intent: string, args: Json, served: readonly Served[]): Unmatched {
  const read = served.map(readServed)
  const known = read.map(({ stems }) => stems)
  const stems = new Set(known.flatMap((one) => [...one]))
  const words = readWords(intent)
  const clauses = clausesOf(withoutValues(words, valuesIn(args, intent, longestValues(served))))
  const turns = turnsOf(words)
  const isTurned = !read.some((one) => one.turns === turns)
  const isBeyond = (word: string) => !stems.has(stemOf(word)) || (isTurned && turns.split(' ').includes(word))
  const beyond = clauses.map((clause) => clause.filter(isBeyond))
  const usual = new Set(served.flatMap((one) => pointersIn(one.args)))
  const pointers = pointersIn(args).filter((word) => !usual.has(word))
  const found = [...new Set([...beyond.flat(), ...pointers, ...otherDirections(words, args, served)])]
  const said = new Set(words.map(stemOf))
  const [first = new Set<string>(), ...others] = known
  const lacking = [...first].filter((stem) => others.every((one) => one.has(stem)) && !said.has(stem))
  const matched = clauses.map((clause, at) => clause.length - beyond[at]!.length)
  const main = matched.indexOf(Math.max(...matched))
  const isAnother = isTurned || beyond.some((clause, at) => at !== main && clause.length > 0)
  const share =
    shareOf.word ** Math.min(wordsCountedMax, found.length) *
    (lacking.length > 0 ? shareOf.lacking : 1) *
    (isAnother ? shareOf.clause : 1)
  return { words: found, lacking, share }
}

/** Words that turn a wish into another one, wherever they stand. */
const turning = new Set(
  `not never no cannot dont stop avoid without except instead unless only if whether undo cancel reverse`.split(/\s+/),
)
/** Where another wish may begin. */
const breaks = new Set(['and', 'then', 'but', 'also', 'plus', 'so', 'or', ',', ';', '.', '&', '+'])
/** May come and go; a value that was taken out is a quotation mark. */
const quiet = new Set([
  ...`a an the of to in on for at from by with as our my your us me it its please kindly thanks thank hi hello hey`.split(
    ' ',
  ),
  ...`! ? : " ' “ ” „ ( ) [ ] - – — …`.split(' '),
])
/** Point at something that was said elsewhere, or at many: no value that a call could have. */
const pointing = new Set(
  `it this that these those he him she her they them me us you all everyone everybody everything anyone anybody anything
  someone somebody something nobody nothing none both each every any some other others another same`.split(/\s+/),
)
/** Said to the one who is asked. */
const polite = new Set(['could you', 'can you', 'would you', 'will you', 'thank you'])

const isTurning = (word: string) => turning.has(word) || word.endsWith("n't")
const turnsOf = (words: readonly string[]) => [...new Set(words.filter(isTurning))].sort().join(' ')

/** As they are compared; the point at the end of a sentence is a word of its own. */
function readWords(text: string, isKept: (word: string, at: number) => boolean = () => true): string[] {
  const all = wordsOf(text.slice(0, limits.learnIntentCharactersMax).replaceAll('’', "'"))
  return all.filter(isKept).flatMap((word) => {
    const plain = plainWord(word).replace(/:+$/, '')
    if (plain === '') return [word]
    return word.endsWith('.') ? [plain, '.'] : [plain]
  })
}

const readServed = once((one: Served) => {
  const words = readWords(one.intent)
  return { words, turns: turnsOf(words), stems: tellingStemsOf(one), lengths: lengthsIn(one.args) }
})

/** Of how many words the value of each argument is. */
const lengthsIn = (args: Json) =>
  Object.entries(isObject(args) ? args : {}).map(([name, value]): [string, number] => [
    name,
    readWords(String(value)).length,
  ])

function tellingStemsOf({ intent, args }: Served): Set<string> {
  const isWord = (word: string, at: number) => !isValueLike(at === 0 ? word.toLowerCase() : word)
  const words = args === null ? readWords(intent, isWord) : withoutValues(readWords(intent), valuesIn(args, intent))
  return new Set(clausesOf(words).flat().map(stemOf))
}

/** The telling words of each clause. */
function clausesOf(words: readonly string[]): string[][] {
  const clauses: string[][] = [[]]
  for (const [at, word] of words.entries()) {
    const isPolite = polite.has(`${word} ${words[at + 1]}`) || polite.has(`${words[at - 1]} ${word}`)
    if (breaks.has(word)) clauses.push([])
    // To me: it goes to another one than before. For me: it is only asked for.
    else if (!isPolite && (!quiet.has(word) || (words[at - 1] === 'to' && pointing.has(word))))
      clauses.at(-1)!.push(word)
  }
  return clauses
}

/**
 * The words of each argument. One that is longer than any before it may have swallowed another
 * wish: it is no value here, unless it stands in quotes or such texts are usual.
 */
function valuesIn(args: Json, intent: string, longest?: ReadonlyMap<string, number>): string[][] {
  if (!isObject(args)) return []
  return Object.entries(args).flatMap(([name, value]) => {
    if (typeof value !== 'string' && typeof value !== 'number') return []
    const words = readWords(String(value))
    const most = longest?.get(name) ?? words.length
    const isPlain = !words.some((word) => breaks.has(word) || isTurning(word))
    const isUsual = words.length <= (most >= 3 && isPlain ? 2 * most : most)
    const isQuoted = ['""', '“”', "''"].some(([left, right]) => intent.includes(`${left}${value}${right}`))
    return words.length > 0 && (isUsual || isQuoted) ? [words] : []
  })
}

/** Arguments that are no value, but point at one: onboard her. */
function pointersIn(args: Json): string[] {
  const values = Object.values(isObject(args) ? args : {}).map((value) => String(value).toLowerCase())
  return values.filter((value) => pointing.has(value))
}

/** Say what a value is to the wish: what is paid from Dora is not paid to her. */
const directions = new Set(['to', 'from', 'for', 'by', 'with', 'at'])

/** Directions before a value that no earlier intent has before the value of that argument. */
function otherDirections(words: readonly string[], args: Json, served: readonly Served[]): string[] {
  return Object.keys(isObject(args) ? args : {}).flatMap((name) => {
    const direction = directionOf(words, args, name)
    if (direction === null) return []
    const isKnown = served.some((one) => {
      const own = readServed(one).words
      return one.args === null ? own.includes(direction) : directionOf(own, one.args, name) === direction
    })
    return isKnown ? [] : [direction]
  })
}

function directionOf(words: readonly string[], args: Json, name: string): string | null {
  const value = readWords(String(isObject(args) ? args[name] : ''))
  const at = words.findIndex((_, start) => value.every((word, index) => words[start + index] === word))
  const before = value.length > 0 ? words[at - 1] : undefined
  return before !== undefined && directions.has(before) ? before : null
}

function longestValues(served: readonly Served[]): Map<string, number> {
  const longest = new Map<string, number>()
  for (const [name, length] of served.flatMap((one) => readServed(one).lengths))
    longest.set(name, Math.max(longest.get(name) ?? 0, length))
  return longest
}

/** Each value is taken out once: said again, it is said of something else. */
function withoutValues(words: readonly string[], values: readonly (readonly string[])[]): string[] {
  let open = [...words]
  for (const value of values.toSorted((left, right) => right.length - left.length)) {
    const at = open.findIndex((_, start) => value.every((word, index) => open[start + index] === word))
    if (at >= 0) open = open.toSpliced(at, value.length, '"')
  }
  return open
}
