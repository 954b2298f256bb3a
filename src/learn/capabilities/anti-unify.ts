/**
 * Programs of one shape become one program with parameters: literals that varied between runs, or
 * that stand in the intent, are lifted; the others stay as they are.
 */
import { isSmallWord, wordsOf } from '#learn/text'
import { isSecretName, type Json } from '#model'
import type { CanonicalProgram } from '#run'
import { namedIn, type SlottedText, slotsIn } from './text-slots.ts'

/** A placeholder of a secret means nothing outside of its run. */
export const hasSecret = (value: Json) => JSON.stringify(value).includes('«secret:')

/** What a person would keep quiet about: a placeholder is in it, or the name says so. */
export function isSecret(name: string | null, value: Json): boolean {
  return hasSecret(value) || (typeof value === 'string' && name !== null && namesSecret(name))
}

/** `key` alone names many things; `api_key` does not. */
const namesSecret = (name: string) => /(?:api|access)[-_]?key$/i.test(name) || isSecretName(name.replace(/key$/i, ''))

type Example = { intent: string; program: CanonicalProgram }

/** How a place writes the value of its parameter. */
type Form = 'same' | 'capital' | 'lower' | 'upper'
type Piece = string | { parameter: string; form: Form }
/** A text with parameters in it, in the place of a literal. */
export type LiftedText = { at: number; pieces: Piece[] }

/**
 * `literals` are the places of the parameter among the program's literals, `key` what the first is
 * given under, `values` one a run.
 */
export type Parameter = { name: string; key: string | null; literals: number[]; values: Json[] }
export type Lifting = { parameters: Parameter[]; texts: LiftedText[] }

type Column = { key: string | null; at: number; values: Json[] }
/** Where a value stands: as a whole literal, or as the n-th piece of a text. */
type Slot = Column & { piece: number | null }

/**
 * The parameters of programs that have one shape; null where they have not. `taken` are names,
 * `forms` those that a place can be written in.
 */
export function parametersOf(
  examples: readonly Example[],
  taken: readonly string[] = [],
  forms: readonly Form[] = allForms,
): Lifting | null {
  const [first] = examples
  if (first === undefined || examples.some(({ program }) => program.shape !== first.program.shape)) return null
  const columns = first.program.literals.map(
    (literal, at): Column => ({
      key: literal.key,
      at,
      values: examples.map(({ program }) => program.literals[at]!.value),
    }),
  )
  const intents = examples.map(({ intent }) => intent)
  const slotted = new Map<number, SlottedText>()
  for (const { at, key, values } of columns) {
    const isText = values.every((value) => typeof value === 'string' && !isSecret(key, value))
    const isOpen = isText && (values.length === 1 || isVaried(values))
    const pieces = isOpen ? slotsIn(values as string[], intents) : null
    if (pieces !== null) slotted.set(at, pieces)
  }
  const lifted = columns.filter(
    ({ key, values }) => isVaried(values) || isAsked(values, intents) || values.some((value) => isSecret(key, value)),
  )
  const lift = new Lifter(intents, new Set(taken), forms)
  for (;;) {
    const wrong = lift.all(lifted, slotted, columns)
    if (Array.isArray(wrong)) for (const at of wrong) slotted.delete(at)
    else return wrong
  }
}

const isVaried = (values: Json[]) => new Set(values.map((value) => JSON.stringify(value))).size > 1

/** Every intent names its value; truths and single digits are named by chance. */
function isAsked(values: Json[], intents: readonly string[]): boolean {
  return values.every((value, at) => {
    const text = String(value)
    return typeof value !== 'boolean' && text.length >= 2 && namedIn(intents[at]!, text) !== null
  })
}

const allForms: readonly Form[] = ['same', 'capital', 'lower', 'upper']

const written: Record<Form, (text: string) => string> = {
  same: (text) => text,
  capital: (text) => text.charAt(0).toUpperCase() + text.slice(1),
  lower: (text) => text.toLowerCase(),
  upper: (text) => text.toUpperCase(),
}

/** Makes parameters of columns and slots; one of those that always had the same value. */
class Lifter {
  readonly #intents: readonly string[]
  readonly #taken: ReadonlySet<string>
  readonly #forms: readonly Form[]

  constructor(intents: readonly string[], taken: ReadonlySet<string>, forms: readonly Form[]) {
    this.#intents = intents
    this.#taken = taken
    this.#forms = forms
  }

  /** Or the places of texts that cannot be written with the parameters. */
  all(lifted: readonly Column[], slotted: ReadonlyMap<number, SlottedText>, columns: readonly Column[]) {
    const whole = lifted.filter(({ at }) => !slotted.has(at)).map((column): Slot => ({ ...column, piece: null }))
    const inside = [...slotted].flatMap(([at, pieces]) =>
      pieces.flatMap((values, piece): Slot[] =>
        typeof values === 'string' ? [] : [{ at, key: columns[at]!.key, values, piece }],
      ),
    )
    // Values that were always the same are one parameter.
    const groups = Map.groupBy([...whole, ...inside], sameness)
    const names = new Set(this.#taken)
    const lifting: Lifting = { parameters: [], texts: [] }
    const texts = new Map([...slotted].map(([at, pieces]) => [at, [...pieces] as Piece[]]))
    for (const group of groups.values()) {
      const wrong = this.#lift(group, names, lifting, texts)
      if (wrong.length > 0) return wrong
    }
    lifting.texts.push(...[...texts].map(([at, pieces]) => ({ at, pieces })))
    return lifting
  }

  #lift(group: Slot[], names: Set<string>, lifting: Lifting, texts: Map<number, Piece[]>): number[] {
    const source = group.find(({ piece, values }) => piece === null && typeof values[0] !== 'string') ?? group[0]!
    const named = source.values.map((value, at) => namedIn(this.#intents[at]!, String(value)))
    const isNamed = typeof source.values[0] === 'string' && named.every((text) => text !== null)
    const formOf = ({ values }: Slot) =>
      (isNamed && this.#formOf(named, source, values)) || this.#formOf(source.values, source, values)
    const forms = group.map(formOf)
    const wrong = group.filter((slot, at) => forms[at] === null && slot.piece !== null)
    if (wrong.length > 0) return wrong.map(({ at }) => at)
    const keyed = group.find(({ key, piece }) => key !== null && piece === null)
    const key = keyed?.key ?? group.find((one) => one.key !== null)?.key ?? null
    const name = freeName(keyed?.key ?? this.#nameOf(source) ?? key ?? 'value', names)
    const literals: number[] = []
    const others: Slot[] = []
    for (const [at, slot] of group.entries()) {
      const form = forms[at]!
      if (form === null) {
        others.push(slot)
        continue
      }
      const isPlain = form === 'same' && typeof slot.values[0] === typeof source.values[0]
      if (slot.piece !== null) texts.get(slot.at)![slot.piece] = { parameter: name, form }
      else if (isPlain) literals.push(slot.at)
      else texts.set(slot.at, [{ parameter: name, form }])
    }
    lifting.parameters.push({ name, key, literals, values: source.values })
    return others.length === 0 ? [] : this.#lift(others, names, lifting, texts)
  }

  /** How these values are written from those, both as intents have them and as the source does. */
  #formOf(from: readonly (Json | null)[], { values: own }: Slot, to: readonly Json[]): Form | null {
    const fits = (form: Form) =>
      to.every((value, at) => [from[at], own[at]].every((one) => written[form](String(one)) === String(value)))
    return this.#forms.find(fits) ?? null
  }

  /** The word before it in the first intent, where that says what it is: `priority 3`. */
  #nameOf({ values }: Slot): string | null {
    const words = wordsOf(this.#intents[0]!.toLowerCase())
    const [first] = wordsOf(String(values[0]).toLowerCase())
    const before = words[words.indexOf(first ?? '') - 1]
    const isName =
      before !== undefined && words.indexOf(before) > 0 && /^\p{L}{2,}$/u.test(before) && !isSmallWord(before)
    return isName ? before : null
  }
}

/** Texts that differ in case only may be one value; what is no text and no number is itself. */
function sameness({ values }: Slot): string {
  const isText = values.every((value) => typeof value === 'string' || typeof value === 'number')
  return isText ? `text ${JSON.stringify(values.map((value) => String(value).toLowerCase()))}` : JSON.stringify(values)
}

function freeName(wanted: string, names: Set<string>): string {
  const plain = wanted.replace(/[^\p{ID_Continue}$]/gu, '_').replace(/^(?![\p{ID_Start}$_])/u, '_') || 'value'
  let name = plain
  for (let count = 2; names.has(name); count++) name = `${plain}${count}`
  names.add(name)
  return name
}

/**
 * The source with its literals replaced by members of `args`, and without its comments: whatever
 * they say, they do nothing, and would be read as if they were ours.
 */
export function liftLiterals(source: string, program: CanonicalProgram, { parameters, texts }: Lifting): string {
  const whole = parameters.flatMap(({ name, literals }) => literals.map((at) => ({ at, text: `args.${name}` })))
  const parts = texts.map(({ at, pieces }) => ({ at, text: expressionOf(pieces) }))
  const lifted = [...whole, ...parts].map(({ at, text }) => ({ ...program.literals[at]!, text }))
  const comments = program.comments.map(({ start, end }) => ({ start, end, text: breakIn(source.slice(start, end)) }))
  let text = source
  for (const { start, end, text: put } of [...lifted, ...comments].sort((a, b) => b.start - a.start)) {
    // What stood against a word by its quotes or its sign alone does not any more.
    const before = /[\p{ID_Continue}$]$/u.test(text.slice(Math.max(0, start - 2), start)) ? ' ' : ''
    const after = /^[\p{ID_Continue}$]/u.test(text.slice(end, end + 2)) ? ' ' : ''
    text = `${text.slice(0, start)}${before}${put}${after}${text.slice(end)}`
  }
  return text
}

/** What stands in the place of a literal with parameters in it. */
export function expressionOf(pieces: readonly Piece[]): string {
  const [only] = pieces
  if (pieces.length === 1 && typeof only === 'object')
    return only.form === 'same' ? `String(args.${only.parameter})` : `(${expressionFor(only)})`
  const parts = pieces.map((piece) =>
    typeof piece === 'string' ? piece.replace(/[`\\]|\$(?=\{)/g, '\\$&') : `\${${expressionFor(piece)}}`,
  )
  return `\`${parts.join('').replaceAll('\r', '\\r')}\``
}

function expressionFor({ parameter, form }: Exclude<Piece, string>): string {
  const value = `args.${parameter}`
  switch (form) {
    case 'same':
      return value
    case 'capital':
      return `${value}.charAt(0).toUpperCase() + ${value}.slice(1)`
    default:
      return `${value}.to${form === 'lower' ? 'Lower' : 'Upper'}Case()`
  }
}

/** A comment over several lines ends the line, which may end a statement. */
const breakIn = (comment: string) => (comment.includes('\n') ? '\n' : '')
