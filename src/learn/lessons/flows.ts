/**
 * Finds which result a call's arguments were taken from, where only the values are known. For each
 * argument value the producers that hold it, and "no producer" (a constant, or the user's own
 * word), compete; the confidence of a flow is the probability of its producer among them.
 */
import { tokenize } from '#catalog'
import { type Json, limits } from '#model'
import { flowWeights } from './flow-weights.ts'
import { identityOf, isLowInformation, type Leaf, leavesOf, membersOf, parsed } from './leaves.ts'
import type { Trace } from './traced-call.ts'

/** The value itself, a number as text or back, or a part of a longer text. */
type FlowMethod = 'equal' | 'converted' | 'within'

type Flow = {
  from: { call: string; path: string }
  to: { call: string; path: string }
  how: FlowMethod
  confidence: number
}

/** What tells the true producer from the others; every feature has a weight of the same name. */
export type FlowFeatures = Partial<Record<keyof typeof flowWeights, number>>

/** `call` is the place of the producer among the trace's calls, or null for no producer. */
type Candidate = { call: number | null; path: string; features: FlowFeatures }

/** One argument value with every possible producer; the first candidate is no producer. */
export type ArgumentValue = { call: number; path: string; how: FlowMethod; candidates: Candidate[] }

/** The flows of a run, at most one for each argument value. */
export function flowsOf(trace: Trace): Flow[] {
  const flows: Flow[] = []
  const consumed = new Set<number>()
  for (const group of groupsByCall(argumentValuesOf(trace))) {
    const chosen = group.flatMap((value) => chooseProducer(value, consumed) ?? [])
    for (const { value, producer, confidence } of chosen) {
      const ids = trace.calls.map(({ id }) => id)
      flows.push({
        from: { call: ids[producer.call!]!, path: producer.path },
        to: { call: ids[value.call]!, path: value.path },
        how: value.how,
        confidence,
      })
    }
    // Arguments of one call compete on equal terms: what it consumed counts from the next call on.
    for (const { producer } of chosen) consumed.add(producer.call!)
  }
  return flows
}

function chooseProducer(value: ArgumentValue, consumed: ReadonlySet<number>) {
  const shares = sharesOf(value, consumed, flowWeights)
  const best = shares.indexOf(Math.max(...shares))
  const producer = value.candidates[best]!
  return producer.call === null ? null : { value, producer, confidence: shares[best]! }
}

/** The probability of each candidate. */
export function sharesOf(
  value: ArgumentValue,
  consumed: ReadonlySet<number>,
  weights: Readonly<Record<string, number>>,
): number[] {
  const isLow = value.candidates[0]!.features.nobodyLow === 1
  const scores = value.candidates.map(({ call, features }) => {
    let score = 0
    for (const name in features) score += weights[name]! * features[name as keyof FlowFeatures]!
    if (call === null) return score
    // Its result was taken before: a small value may be equal by chance, so names must agree.
    if (consumed.has(call) && isLow && !features.isName) return -Infinity
    if (consumed.has(call)) return score
    return score + weights.unconsumed! + (features.isNearest ? weights.isNearestUnconsumed! : 0)
  })
  const top = Math.max(...scores)
  const powers = scores.map((score) => Math.exp(score - top))
  const sum = powers.reduce((total, power) => total + power, 0)
  return powers.map((power) => power / sum)
}

export function groupsByCall(values: ArgumentValue[]): ArgumentValue[][] {
  return [...Map.groupBy(values, ({ call }) => call).values()]
}

type LeavesOfResult = {
  byIdentity: Map<string, Leaf>
  texts: Leaf[]
  given: Set<string>
}

/** Every argument value that some earlier result holds. */
export function argumentValuesOf({ intent, calls: all }: Trace): ArgumentValue[] {
  const calls = all.slice(0, limits.flowCallsMax)
  const results = withoutEnvelopes(calls.map(({ result }) => leavesOf(result)))
  const known = results.map((leaves, call): LeavesOfResult => {
    const texts = leaves.filter(({ value }) => isSearchable(value))
    const given = new Set(leavesOf(calls[call]!.args).map(({ identity }) => identity))
    return { byIdentity: new Map(leaves.map((leaf) => [leaf.identity, leaf])), texts, given }
  })
  const said = wordsSaid(intent)
  return calls.flatMap(({ args }, call) => {
    const found: ArgumentValue[] = []
    for (const [name, value] of membersOf(args)) {
      collectValue({ value, path: `/${name}`, key: name, call, known, said, found })
    }
    return found
  })
}

const isSearchable = (value: Json) =>
  (typeof value === 'string' || typeof value === 'number') && String(value).length >= limits.flowPartCharactersMin

/** Names by which results of every kind say what they are, not what they found. */
const envelopeNames = new Set(['content', 'type', 'text', 'iserror', 'status', 'data', 'items', 'total', 'count', 'ok'])
const envelopeTexts = new Set(['text', 'ok', 'success', 'json'])

/** Leaves out an envelope's flags and counts: the same at one path in several results. */
function withoutEnvelopes(results: Leaf[][]): Leaf[][] {
  const seen = new Map<string, number>()
  const place = ({ path, identity }: Leaf) => `${path}=${identity}`
  for (const leaf of results.flat()) seen.set(place(leaf), (seen.get(place(leaf)) ?? 0) + 1)
  const isEnvelope = (leaf: Leaf) => {
    if (typeof leaf.value === 'object' && leaf.value !== null) return false
    if (!envelopeNames.has(leaf.key.toLowerCase())) return false
    if (typeof leaf.value === 'string') return envelopeTexts.has(leaf.value)
    return seen.get(place(leaf))! > 1
  }
  return results.map((leaves) => leaves.filter((leaf) => !isEnvelope(leaf)))
}

type Search = {
  value: Json
  path: string
  key: string
  call: number
  known: readonly LeavesOfResult[]
  said: IntentValues
  found: ArgumentValue[]
}

/** The whole value first, then what it consists of, then what it holds as a part of its text. */
function collectValue(search: Search): void {
  const { path, call, known, found } = search
  const value = parsed(search.value)
  const producers = (leafIn: (known: LeavesOfResult) => Leaf | undefined) =>
    known.slice(0, call).flatMap((earlier, at) => {
      const leaf = leafIn(earlier)
      return leaf === undefined ? [] : [{ call: at, leaf }]
    })
  const add = (how: FlowMethod, held: Held[]) => {
    if (held.length > 0) found.push({ call, path, how, candidates: candidatesOf({ ...search, value }, how, held) })
    return held.length > 0
  }
  const identity = identityOf(value)
  if (
    add(
      'equal',
      producers(({ byIdentity }) => byIdentity.get(identity)),
    )
  )
    return
  if (typeof value === 'object' && value !== null) {
    for (const [name, member] of membersOf(value)) {
      const key = Array.isArray(value) ? search.key : name
      collectValue({ ...search, value: member, path: `${path}/${name}`, key })
    }
    return
  }
  const other = otherForm(value)
  if (
    other !== null &&
    add(
      'converted',
      producers(({ byIdentity }) => byIdentity.get(other)),
    )
  )
    return
  if (typeof value !== 'string' || value.length > limits.flowPartCharactersMax) return
  const isPart = ({ value: part }: Leaf) => part !== value && holds(value, String(part)) && !search.said.has(part)
  add(
    'within',
    producers(({ texts }) => texts.findLast(isPart)),
  )
}

/** A number as its digits, digits as a number. */
function otherForm(value: Json): string | null {
  if (typeof value === 'number') return identityOf(String(value))
  const isNumber = typeof value === 'string' && value !== '' && String(Number(value)) === value
  return isNumber ? identityOf(Number(value)) : null
}

/** A number is no part of a longer number. */
function holds(text: string, part: string): boolean {
  const at = text.indexOf(part)
  if (at < 0) return false
  const isDigit = (sign: string | undefined) => sign !== undefined && /\d/.test(sign)
  const before = isDigit(part[0]) && isDigit(text[at - 1])
  return !before && !(isDigit(part.at(-1)) && isDigit(text[at + part.length]))
}

type Held = { call: number; leaf: Leaf }

function candidatesOf({ value, key, call, known, said }: Search, how: FlowMethod, held: Held[]): Candidate[] {
  const identity = identityOf(value)
  const low = Number(isLowInformation(value))
  const literal = Number(said.has(value))
  const isRepeated = Number(known.slice(0, call).some(({ given }) => given.has(identity)))
  const nobody: FlowFeatures = {
    nobody: 1,
    nobodySaid: literal,
    nobodyLow: low,
    nobodySaidLow: literal * low,
    nobodyPart: Number(how === 'within'),
    nobodyRepeated: isRepeated,
  }
  const named = held.filter(({ leaf }) => !needsName(value) || sharesWord(leaf.key, key))
  const producers = named.map(({ call: at, leaf }, index): Candidate => {
    const later = named.length - 1 - index
    const echo = Number(known[at]!.given.has(identity))
    const isNearest = Number(later === 0)
    const isPrevious = Number(call - at === 1)
    const isName = Number(leaf.key.toLowerCase() === key.toLowerCase())
    const features: FlowFeatures = {
      isNearest,
      rank: Math.min(3, later) / 3,
      nearness: 1 / (call - at),
      isPrevious,
      echo,
      echoNearest: echo * isNearest,
      echoPrevious: echo * isPrevious,
      echoSaid: echo * literal,
      isOnly: Number(named.length === 1),
      isWhole: Number(leaf.path.split('/').length <= 2 || (typeof value === 'object' && value !== null)),
      isName,
      lowNamed: low * isName,
      lowEcho: low * echo,
      saidName: literal * isName,
    }
    return { call: at, path: leaf.path, features }
  })
  return [{ call: null, path: '', features: nobody }, ...producers]
}

/** A truth, a null or an empty text says nothing by itself: the names have to agree as well. */
const needsName = (value: Json) => value === null || typeof value === 'boolean' || value === ''

function sharesWord(left: string, right: string): boolean {
  const words = new Set(tokenize(left))
  return tokenize(right).some((word) => words.has(word))
}

type IntentValues = { has(value: Json): boolean }

/** Values that stand in the intent need no producer. */
function wordsSaid(intent: string): IntentValues {
  const text = intent.toLowerCase()
  const numbers = new Set(
    (intent.match(/-?\d[\d,]*(?:\.\d+)?/g) ?? []).map((digits) => Number(digits.replaceAll(',', ''))),
  )
  return {
    has(value) {
      if (typeof value === 'number') return numbers.has(value)
      return typeof value === 'string' && value !== '' && text.includes(value.toLowerCase())
    },
  }
}
