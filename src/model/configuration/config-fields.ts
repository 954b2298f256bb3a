/**
 * Reads one object of a configuration file field by field: problems and unknown fields are
 * collected, not thrown.
 */
import { isObject, type Json, nearNames } from '#model/primitives'

export type Problem = { path: string; found: string; expected: string }
export type Findings = {
  problems: Problem[]
  unknownFields: string[]
  /** The file is another host's too, which may have names of its own that only look like ours. */
  isShared: boolean
}

export class Fields {
  readonly path: string
  readonly values: Record<string, Json>
  readonly #findings: Findings
  readonly #read = new Set<string>()
  readonly #known = new Set<string>()

  constructor(findings: Findings, path: string, value: Json | undefined) {
    this.path = path
    this.#findings = findings
    this.values = isObject(value) ? (value as Record<string, Json>) : {}
    if (value !== undefined && !isObject(value)) this.#report(path, kindOf(value), 'an object')
  }

  has(name: string): boolean {
    this.#known.add(name)
    return Object.hasOwn(this.values, name)
  }

  /** What a field of another kind than the ones below has to say. */
  report(name: string, found: string, expected: string): void {
    this.#report(`${this.path}/${name}`, found, expected)
  }

  /** Without a default the field is required. */
  string(name: string, byDefault?: string): string {
    return this.#value(name, isString, 'a string', byDefault) ?? ''
  }

  boolean(name: string, byDefault: boolean): boolean {
    return this.#value(name, (value) => typeof value === 'boolean', 'true or false', byDefault) ?? byDefault
  }

  integer(name: string, byDefault: number, min: number, max: number = Number.MAX_SAFE_INTEGER): number {
    const fits = (value: Json): value is number =>
      Number.isInteger(value) && Number(value) >= min && Number(value) <= max
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
    return this.#value(name, fits, `an integer ${range}`, byDefault) ?? byDefault
  }

  /** Of money: whole or not. */
  amount(name: string): number {
    const fits = (value: Json): value is number => typeof value === 'number' && value >= 0
    return this.#value(name, fits, 'a number of at least 0', undefined) ?? 0
  }

  oneOf<Word extends string>(name: string, words: readonly Word[], byDefault?: Word): Word {
    const fits = (value: Json): value is Word => words.includes(value as Word)
    const value = this.values[name]
    const expected = `one of ${words.join(', ')}`
    if (!isString(value ?? null) || fits(value!)) return this.#value(name, fits, expected, byDefault) ?? words[0]!
    this.#read.add(name)
    // A word where we expect one of our own is a typing mistake, not a secret.
    this.report(name, /^[\w-]{1,20}$/.test(String(value)) ? `"${value}"` : 'a string', expected)
    return words[0]!
  }

  list<Item extends Json>(name: string, fits: (value: Json) => value is Item, expected: string): Item[] {
    const isList = (value: Json): value is Item[] => Array.isArray(value) && value.every(fits)
    return this.#value(name, isList, expected, []) ?? []
  }

  map<Item extends Json>(name: string, fits: (value: Json) => value is Item, expected: string): Record<string, Item> {
    const section = this.section(name)
    const fitting: [string, Item][] = []
    for (const [key, value] of Object.entries(section.values)) {
      if (fits(value)) fitting.push([key, value])
      else section.report(key, kindOf(value), expected)
    }
    return Object.fromEntries(fitting)
  }

  section(name: string): Fields {
    this.#read.add(name)
    return new Fields(this.#findings, `${this.path}/${name}`, this.values[name])
  }

  sections(name: string): Fields[] {
    const items = this.list(name, isJson, 'a list of objects')
    return items.map((item, index) => new Fields(this.#findings, `${this.path}/${name}/${index}`, item))
  }

  /** Counts a field as read whatever it holds. */
  ignore(name: string): void {
    this.#read.add(name)
  }

  /**
   * Every known field was read: the others are unknown, and one that nearly has a known name is a
   * typing mistake.
   */
  end(): void {
    for (const name of Object.keys(this.values)) {
      if (this.#read.has(name)) continue
      const [meant] = nearNames(name, [...this.#read, ...this.#known])
      if (meant === undefined || this.#findings.isShared) this.#findings.unknownFields.push(`${this.path}/${name}`)
      else this.report(name, 'a name that means nothing', `"${meant}" (did you mean that?)`)
    }
  }

  /** For an object in which an unknown field would change what the others mean. */
  only(names: readonly string[]): void {
    for (const name of Object.keys(this.values)) {
      if (names.includes(name)) continue
      const [meant] = nearNames(name, names)
      const hint = meant === undefined ? '' : ` (did you mean "${meant}"?)`
      this.report(name, 'a name that means nothing', `one of ${names.join(', ')}${hint}`)
    }
  }

  #value<Value extends Json>(
    name: string,
    fits: (value: Json) => value is Value,
    expected: string,
    byDefault: Value | undefined,
  ): Value | undefined {
    this.#read.add(name)
    const value = this.values[name]
    if (value !== undefined && fits(value)) return value
    if (value !== undefined || byDefault === undefined) this.report(name, kindOf(value), expected)
    return byDefault
  }

  #report(path: string, found: string, expected: string): void {
    this.#findings.problems.push({ path, found, expected })
  }
}

export function isJson(_value: Json): _value is Json {
  return true
}

export function isString(value: Json): value is string {
  return typeof value === 'string'
}

/** Says the kind and never the value, which may be a secret. */
function kindOf(value: Json | undefined): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
