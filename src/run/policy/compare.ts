/** Whether the arguments of a call are those that a rule of policy speaks of. */
import { atPointer, isObject, type Json, limits, type PolicyRule, toText, unescapePointerKey } from '#model'
import { isLike, type Work } from './glob.ts'
import { addressOf, bareHost, beforeNul, decoded, normalForm } from './readings.ts'

/**
 * The work of one decision, with the readings that it came upon: many rules look at the same value.
 */
type Comparison = Work & { readings?: Map<string, Reading[] | null> }

/** `because` is why a rule applies to a value that is not literally the one it names. */
export type Match = { because?: string }

/**
 * A rule that allows applies to what certainly is as it says: the value itself matches, and so does
 * every reading of it. A rule that denies or asks applies to what may be: one reading of one value
 * is enough.
 */
export function matchArguments({ args: wanted = {}, then }: PolicyRule, args: unknown, work: Comparison): Match | null {
  let because: string | undefined
  for (const [pointer, pattern] of Object.entries(wanted)) {
    const match = then === 'allow' ? allow(pointer, pattern) : hold(pointer, pattern)
    if (match === null) return null
    because ??= match.because === undefined ? undefined : `its "${pointer}" ${match.because}`
  }
  return because === undefined ? {} : { because }

  function allow(pointer: string, pattern: Json): Match | null {
    const value = typeof args === 'object' && args !== null ? atPointer(args, pointer) : undefined
    return value === undefined ? null : matchStrictly(pattern, value, work)
  }

  function hold(pointer: string, pattern: Json): Match | null {
    for (const value of valuesAt(args, pointer)) {
      const match = matchWithin(pattern, value, work)
      if (match !== null) return match
    }
    return null
  }
}

function matchStrictly(pattern: Json, value: unknown, work: Comparison): Match | null {
  if (typeof pattern !== 'string' || typeof value !== 'string') return isSame(pattern, value) ? {} : null
  if (isLike(pattern, value, work) !== true || (pattern !== '**' && beforeNul(value) !== null)) return null
  const readings = knownReadings(value, work)
  const isCertain = readings?.every(({ text, isNear }) => isNear || isTolerantlyLike(pattern, text, work) === true)
  return isCertain === true && !readings!.some(({ text }) => text.includes('..')) ? {} : null
}

/**
 * Every value at a pointer that a server might find there: also in each item of a list on the way.
 */
function valuesAt(args: unknown, pointer: string): unknown[] {
  let values = [args]
  const parts = pointer === '' ? [] : pointer.slice(1).split('/')
  for (const part of parts) {
    const key = unescapePointerKey(part)
    const member = (value: unknown) => (isObject(value) && Object.hasOwn(value, key) ? [value[key]] : [])
    values = values.flatMap((value) => {
      if (!Array.isArray(value)) return member(value)
      return /^(0|[1-9]\d*)$/.test(key) && Number(key) < value.length ? [value[Number(key)]] : value.flatMap(member)
    })
  }
  return values.filter((value) => value !== undefined)
}

/**
 * The value itself and all that is in it, the names of members too: a server may take a list or an
 * object where one value was meant.
 */
function matchWithin(pattern: Json, value: unknown, work: Comparison): Match | null {
  const waiting = [value]
  while (waiting.length > 0) {
    const here = waiting.pop()
    work.left -= limits.policyStepsPerValue
    if (work.left < 0) return { because: 'is too much to be compared' }
    const match = matchTolerantly(pattern, here, work)
    if (match !== null) return match
    if (Array.isArray(here)) for (const item of here) waiting.push(item)
    else if (isObject(here)) for (const name of Object.keys(here)) waiting.push(name, here[name])
  }
  return null
}

function matchTolerantly(pattern: Json, value: unknown, work: Comparison): Match | null {
  if (pattern === '**') return {}
  if (typeof value === 'object' && value !== null) return isAlike(pattern, value, isMaybeSame) ? {} : null
  if (typeof pattern === 'object' && pattern !== null) return null
  return matchText(textOf(pattern), textOf(value), work)
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : toText(value))

function matchText(pattern: string, text: string, work: Comparison): Match | null {
  if (text.includes('..')) return { because: 'contains ".."' }
  const isExact = isLike(pattern, text, work)
  if (isExact === true) return {}
  const readings = knownReadings(text, work)
  if (readings === null) return { because: 'is encoded more often than can be followed' }
  for (const { text: reading } of readings) {
    if (reading.includes('..')) return { because: 'contains ".." once it is decoded' }
    if (isTolerantlyLike(pattern, reading, work) === true) return { because: `reads as ${shown(reading)}` }
  }
  if (isSameNumber(pattern, text)) return { because: `reads as ${shown(pattern)}` }
  return work.left < 0 ? { because: 'is too much to be compared' } : null
}

const shown = (text: string) => JSON.stringify(text.slice(0, limits.policyReadingShownMax))

/**
 * A reading that is `near` may be the same place, but is not the same value: it counts for rules
 * that hold back alone.
 */
type Reading = { text: string; isNear: boolean }

function knownReadings(text: string, work: Comparison): Reading[] | null {
  work.readings ??= new Map()
  const known = work.readings.get(text)
  if (known !== undefined) return known
  const readings = readingsOf(text)
  work.readings.set(text, readings)
  return readings
}

/** In normal form; null where no decoding comes to an end. */
function readingsOf(text: string): Reading[] | null {
  const plain = decoded(text)
  if (plain === null) return null
  const readings = [{ text: normalForm(plain), isNear: false }]
  for (const source of plain === text ? [text] : [text, plain]) {
    const address = addressOf(source)
    if (address === null) continue
    const near = address.near.map((each) => ({ each, isNear: true }))
    for (const { each, isNear } of [{ each: address.exact, isNear: false }, ...near]) {
      readings.push({ text: normalForm(decoded(each) ?? each), isNear })
    }
  }
  const cut = beforeNul(text)
  if (cut !== null) readings.push({ text: normalForm(decoded(cut) ?? cut), isNear: true })
  const host = bareHost(plain)
  if (host !== null) readings.push({ text: host, isNear: true })
  return readings.filter(({ text: one }, at) => readings.findIndex(({ text: other }) => other === one) === at)
}

/**
 * A folder counts as what is in it, and a pattern that begins with any folder as one that begins
 * with none.
 */
function isTolerantlyLike(pattern: string, reading: string, work: Work): boolean | null {
  const normal = normalForm(decoded(pattern) ?? pattern)
  const isAnywhere = isLike(normal, reading, work, true)
  return isAnywhere === false && normal.startsWith('**/') ? isLike(normal.slice(3), reading, work, true) : isAnywhere
}

/** Text that both say the same number: `1000`, `1e3`, `1000.0`. */
function isSameNumber(a: string, b: string): boolean {
  const isNumber = (text: string) => text.trim() !== '' && Number.isFinite(Number(text))
  return isNumber(a) && isNumber(b) && Number(a) === Number(b)
}

/** JSON without the order of members. */
function isSame(a: unknown, b: unknown): boolean {
  return isAlike(a, b, (one, other) => toText(one) === toText(other))
}

/** The same where a pattern that is a list or an object holds back: there no sign is a wildcard. */
function isMaybeSame(one: unknown, other: unknown): boolean {
  const [pattern, text] = [textOf(one), textOf(other)]
  if (pattern === text || isSameNumber(pattern, text)) return true
  const normal = normalForm(decoded(pattern) ?? pattern)
  const readings = readingsOf(text)
  return readings === null || readings.some(({ text: reading }) => reading === normal || reading.includes('..'))
}

/** Goes as deep as the pattern does. */
function isAlike(pattern: unknown, value: unknown, isEqual: (a: unknown, b: unknown) => boolean): boolean {
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value) || value.length !== pattern.length) return false
    return pattern.every((item, at) => isAlike(item, value[at], isEqual))
  }
  if (isObject(pattern)) {
    const names = Object.keys(pattern)
    if (!isObject(value) || Object.keys(value).length !== names.length) return false
    return names.every((name) => Object.hasOwn(value, name) && isAlike(pattern[name], value[name], isEqual))
  }
  return typeof value === 'object' && value !== null ? false : isEqual(pattern, value)
}
