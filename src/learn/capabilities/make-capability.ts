/**
 * Runs of one shape become a procedure with parameters. What varied between them, or stands in
 * their intents, is lifted; `args` are parameters already. No secret leaves its run: a literal with
 * one is lifted, and no value with one becomes a default.
 */

import { isBinding, type PlanShape, shapeOfPlan } from '#learn/lessons'
import { isSmallWord } from '#learn/text'
import {
  type CapabilitySource,
  type DagTask,
  isObject,
  type Json,
  type JsonObject,
  limits,
  programClosing,
  programOpening,
  sha256,
  toText,
} from '#model'
import { type CanonicalProgram, loadStructure } from '#run'
import { prepareProgram } from '#sandbox'
import {
  expressionOf,
  hasSecret,
  isSecret,
  type LiftedText,
  type Lifting,
  liftLiterals,
  type Parameter,
  parametersOf,
} from './anti-unify.ts'
import { slotValues } from './text-slots.ts'

const { canonicalOf } = await loadStructure()

/** One run as its shape has it: its literals in their order, and the arguments it was given. */
export type ShapedRun = { run: string; intent: string; literals: Json[]; args: Json }
/** `tools` are the ids of what it calls: which tool is called is never a parameter. */
export type RunsOfShape = {
  kind: 'code' | 'dag'
  code: string
  runs: readonly ShapedRun[]
  tools?: readonly string[]
}

/** By parameter, the places of the literals that it stands for; and those that it is a part of. */
export type Lifted = { lifted?: Record<string, number[]>; texts?: LiftedText[] }
export type CapabilityDraft = Required<Lifted> & { source: CapabilitySource; parametersSchema: JsonObject }

/**
 * Null where the runs cannot be told by parameters, a parameter would say which tool is called, or
 * their text has a secret in it.
 */
export function draftOf({ kind, code, runs, tools = [] }: RunsOfShape): CapabilityDraft | null {
  if (runs.length === 0 || !runs.every(({ args }) => isObject(args))) return null
  const taken = [...new Set(runs.flatMap(({ args }) => Object.keys(args as JsonObject)))]
  const made = kind === 'code' ? liftProgram(code, runs, taken) : liftGraph(code, runs, taken)
  if (made === null || hasSecret(made.source)) return null
  const { parameters, texts } = made.lifting
  if (runs.some(({ args }) => namesTool(args, tools)) || parameters.some((one) => choosesTool(one, tools))) return null
  const lifted = Object.fromEntries(parameters.map(({ name, literals }) => [name, literals]))
  return { source: made.source, parametersSchema: schemaOf(runs, taken, parameters), lifted, texts }
}

const namesTool = (args: Json, tools: readonly string[]) =>
  Object.values(args as JsonObject).some((value) => tools.includes(String(value)))

/** Its id anywhere; its name or its server's, where they are given under no other name. */
function choosesTool({ key, values }: Parameter, tools: readonly string[]): boolean {
  const parts = key === null ? tools.flatMap((id) => id.split(':')) : []
  return values.some((value) => tools.includes(String(value)) || parts.includes(String(value)))
}

/** What the procedure is given to do what the run did; without what the run's texts do not tell. */
export function argumentsOfRun({ literals, args }: Pick<ShapedRun, 'literals' | 'args'>, lifted: Lifted): JsonObject {
  return { ...(args as JsonObject), ...valuesOfRun(literals, lifted) }
}

/** Of the parameters that were lifted. */
export function valuesOfRun(literals: readonly Json[], { lifted = {}, texts = [] }: Lifted): JsonObject {
  const values = Object.entries(lifted).map(([name, [at]]) => [
    name,
    at === undefined ? slotIn(literals, name, texts) : literals[at],
  ])
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

/** Read from a text that has it as it is, where there is one. */
function slotIn(literals: readonly Json[], name: string, texts: readonly LiftedText[]): string | undefined {
  const formIn = ({ pieces }: LiftedText) =>
    pieces.find((piece) => typeof piece === 'object' && piece.parameter === name) as { form: string } | undefined
  const having = texts.filter((text) => formIn(text) !== undefined)
  const text = having.find((one) => formIn(one)!.form === 'same') ?? having[0]
  return text === undefined ? undefined : slotValues(text.pieces, String(literals[text.at])).get(name)
}

type LiftedSource = { source: CapabilitySource; lifting: Lifting } | null

function liftProgram(code: string, runs: readonly ShapedRun[], taken: string[]): LiftedSource {
  const { source } = prepareProgram(code)
  if (!source.startsWith(programOpening) || !source.endsWith(programClosing)) return null
  const program = canonicalOf(source)
  const lifting = parametersOf(runs.map(exampleOf(program)), taken)
  if (lifting === null) return null
  return { source: { type: 'code', code: unwrapped(liftLiterals(source, program, lifting)) }, lifting }
}

const unwrapped = (source: string) => source.slice(programOpening.length, -programClosing.length).trim()

function withoutComments(task: DagTask): DagTask {
  if (task.code === undefined) return task
  const { source } = prepareProgram(task.code)
  return { ...task, code: unwrapped(liftLiterals(source, canonicalOf(source), { parameters: [], texts: [] })) }
}

/** Literals of another run in the places of the first one's. */
function exampleOf(program: CanonicalProgram) {
  return ({ intent, literals }: ShapedRun) => {
    const own = program.literals.map((literal, at) => ({ ...literal, value: literals[at]! }))
    return { intent, program: { ...program, literals: own } }
  }
}

function liftGraph(code: string, runs: readonly ShapedRun[], taken: string[]): LiftedSource {
  const tasks = JSON.parse(code) as DagTask[]
  const places: { value: Json; start: number; end: number; key: string | null }[] = []
  eachLiteral(tasks, (value, key) => {
    places.push({ value, start: 0, end: 0, key })
    return value
  })
  const examples = runs.map(exampleOf({ text: '', shape: '', literals: places, comments: [] }))
  const lifting = parametersOf(examples, taken, ['same'])
  if (lifting === null || code.includes('{{$args')) return null
  const names = new Map(lifting.parameters.flatMap(({ name, literals }) => literals.map((at) => [at, name])))
  const texts = new Map(lifting.texts.map(({ at, pieces }) => [at, templateOf(pieces)]))
  let at = -1
  const lifted = eachLiteral(tasks, (value) => {
    at += 1
    return names.has(at) ? { $args: `/${names.get(at)}` } : (texts.get(at) ?? value)
  })
  return { source: { type: 'dag', tasks: lifted.map(withoutComments) }, lifting }
}

/** As a graph has parameters inside of texts. */
const templateOf = (pieces: LiftedText['pieces']) =>
  pieces.map((piece) => (typeof piece === 'string' ? piece : `{{$args/${piece.parameter}}}`)).join('')

/** In the order in which a graph's shape has them: tasks as they stand, members by name. */
function eachLiteral(tasks: DagTask[], visit: (value: Json, key: string | null) => Json): DagTask[] {
  const walk = (value: Json, key: string | null): Json => {
    if (isBinding(value)) return value
    if (Array.isArray(value)) return value.map((item) => walk(item, key))
    if (!isObject(value)) return visit(value, key)
    const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
    return Object.fromEntries(
      members.map(([name, member]) => [name, walk(member as Json, name.startsWith('$') ? key : name)]),
    )
  }
  return tasks.map((task) =>
    task.arguments === undefined ? task : { ...task, arguments: walk(task.arguments, null) as JsonObject },
  )
}

function schemaOf(runs: readonly ShapedRun[], taken: string[], parameters: readonly Parameter[]): JsonObject {
  const given = taken.map((name) => ({ name, key: name, values: valuesOf(runs, name) }))
  const all = [...given, ...parameters].map((one) => ({ name: one.name, ...propertyOf(one, runs.length) }))
  return {
    type: 'object',
    properties: Object.fromEntries(all.map(({ name, schema }) => [name, schema])),
    required: all.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    additionalProperties: false,
  }
}

const valuesOf = (runs: readonly ShapedRun[], name: string): Json[] =>
  runs.flatMap(({ args }) => (Object.hasOwn(args as JsonObject, name) ? [(args as JsonObject)[name]!] : []))

type Property = { schema: JsonObject; isRequired: boolean }

/**
 * A value that most runs had is what is meant where none is given; no secret is, and no long text.
 */
function propertyOf({ key, values }: Omit<Parameter, 'literals'>, runs: number): Property {
  const types = [...new Set(values.map(typeOf))].filter(
    (type, _, known) => type !== 'integer' || !known.includes('number'),
  )
  const schema = { type: types.length === 1 ? types[0]! : types }
  const counts = Map.groupBy(values, (value) => JSON.stringify(value))
  const [most = []] = [...counts.values()].sort((left, right) => right.length - left.length)
  const isUsual = values.length >= 3 && most.length * 3 >= values.length * 2
  if (values.length < runs) return { schema, isRequired: false }
  const mayBeShown = (value: Json) =>
    !isSecret(key, value) && toText(value).length <= limits.capabilityDefaultCharactersMax
  if (!isUsual || !most.every(mayBeShown)) return { schema, isRequired: true }
  return { schema: { ...schema, default: most[0]! }, isRequired: false }
}

function typeOf(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value
}

/**
 * The shape that a procedure was lifted from, read from its source: with a literal in each place of
 * a parameter it is the program that ran. So a source that says that it comes from some shape can
 * be held against it. Null where it cannot be read.
 */
export function shapeOfSource(source: CapabilitySource, lifted: Lifted): PlanShape | null {
  const key = sha256(toText([source, lifted.texts ?? []]))
  if (source.type === 'code') return shapeOfPlan({ kind: 'code', code: unlifted(source.code, lifted) }, key)
  const templates = new Set((lifted.texts ?? []).map(({ pieces }) => templateOf(pieces)))
  const names = new Set(Object.keys(lifted.lifted ?? {}).map((name) => `/${name}`))
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') return templates.has(value) ? '' : value
    if (Array.isArray(value)) return value.map(fill)
    if (!isObject(value)) return value
    if (typeof value.$args === 'string' && names.has(value.$args)) return ''
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fill(member)]))
  }
  const tasks = source.tasks.map((task) => ({ ...task, ...(task.arguments && { arguments: fill(task.arguments) }) }))
  return shapeOfPlan({ kind: 'dag', tasks: tasks as DagTask[] }, key)
}

function unlifted(code: string, { lifted = {}, texts = [] }: Lifted): string {
  const expressions = texts.map(({ pieces }) => expressionOf(pieces)).sort((a, b) => b.length - a.length)
  const bare = expressions.reduce((text, expression) => text.replaceAll(expression, "''"), code)
  return bare.replace(/(?<![\p{ID_Continue}$.])args\.([\p{ID_Continue}$]+)/gu, (member, name: string) =>
    Object.hasOwn(lifted, name) ? "''" : member,
  )
}

/** The places of literals that are no parameter, or part of one. */
export function fixedPlaces(count: number, { lifted = {}, texts = [] }: Lifted): number[] {
  const open = new Set([...Object.values(lifted).flat(), ...texts.map(({ at }) => at)])
  return [...Array(count).keys()].filter((at) => !open.has(at))
}

const wordsMax = 5
const charactersMax = 48

/**
 * Its name: the words of its intents that are no values, `refund_late_orders`. `values` are what
 * was lifted: where they stand in an intent they name one run, not the habit. `isFree` tells what
 * is taken.
 */
export function nameFor(
  intents: readonly string[],
  values: readonly Json[],
  tools: readonly string[],
  isFree: (name: string) => boolean,
): string {
  const phrases = [...new Set(values.map((value) => wordsOf(String(value)).join(' ')))].filter(Boolean)
  phrases.sort((left, right) => right.length - left.length)
  const [first = [], ...others] = intents.map((intent) => wordsWithout(intent, phrases))
  const common = first.filter((word) => others.every((words) => words.includes(word)))
  const said = (common.length > 0 ? common : first).filter((word) => !/\d/.test(word))
  const tool = wordsOf((tools[0] ?? 'procedure').replace(/^.*:/, ''))
  const base = joined(said.filter((word) => !isSmallWord(word))) || joined(said) || joined(tool) || 'procedure'
  for (let count = 1; ; count++) {
    const name = count === 1 ? base : `${base}_${count}`
    if (isFree(name)) return name
  }
}

function wordsWithout(intent: string, phrases: readonly string[]): string[] {
  let text = ` ${wordsOf(intent).join(' ')} `
  for (const phrase of phrases) text = text.replaceAll(` ${phrase} `, ' ')
  return text.split(' ').filter(Boolean)
}

/** Latin letters and digits, without accents. */
function wordsOf(text: string): string[] {
  const plain = text.replaceAll('ß', 'ss').normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return plain.match(/[a-z0-9]+/g) ?? []
}

function joined(words: string[]): string {
  const unique = [...new Set(words)].slice(0, wordsMax)
  return unique
    .join('_')
    .slice(0, charactersMax)
    .replace(/^[^a-z]+|_+$/g, '')
}
