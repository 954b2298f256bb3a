/** Edges from schemas, tools given and order unknown, beside exact and fuzzy names. */
import { join } from 'node:path'
import {
  type Blend,
  type Field,
  fieldPairsOf,
  fieldSpecificity,
  fitBlend,
  providesOf,
  type Specificity,
  stemsOf,
  type ToolShape,
  typeOf,
} from '#learn'
import { readLines, type Score, type Section, scoreSets } from './read.ts'

type Schema = Record<string, { type?: string; description?: string }>
type Item = { id: string; name: string; desc: string; in: Schema | null; required: string[] | null; out: Schema | null }
type Calling = { api_name: string; parameters: Record<string, unknown>; responses: string[] }
type Query = { text: string; calling: Calling[]; local: Record<string, string> }

/** Edges are `from>to` by place; fields are `from output>to input`. */
type Case = { intent: string; shapes: ToolShape[]; edges: Set<string>; fields: Set<string> }

const options = { trees: { trees: 150, depth: 5, rate: 0.08, leafWeightMin: 4, l2: 4, columnShare: 0.4 }, l2: 10 }
const folds = 5

function readCases(folder: string): Case[] {
  const corpus = new Map(readLines<Item>(join(folder, 'corpus.jsonl')).map((item) => [item.id, item]))
  const queries = readLines<Query>(join(folder, 'queries.jsonl')).filter(({ calling }) => calling.length > 1)
  return queries.map(({ text, calling, local }) => {
    const items = calling.map(({ api_name }) => corpus.get(local[api_name] ?? ''))
    const shapes = calling.map(({ api_name }, at) => shapeOfItem(items[at], api_name, at))
    const [edges, fields] = [new Set<string>(), new Set<string>()]
    const sources = new Map<string, { from: number; output: string }>()
    for (const [to, { parameters, responses }] of calling.entries()) {
      for (const [input, value] of Object.entries(parameters)) {
        for (const [label] of JSON.stringify(value).matchAll(/API_call_\d+\b/g)) {
          const source = sources.get(label)
          if (source === undefined) continue
          edges.add(`${source.from}>${to}`)
          fields.add(`${source.from} ${source.output}>${to} ${input}`)
        }
      }
      const outputs = Object.keys(items[to]?.out ?? {})
      for (const [at, label] of responses.entries()) sources.set(label, { from: to, output: outputs[at] ?? `out${at}` })
    }
    return { intent: text, shapes, edges, fields }
  })
}

function shapeOfItem(item: Item | undefined, name: string, at: number): ToolShape {
  const fields = (schema: Schema | null | undefined): Field[] =>
    Object.entries(schema ?? {}).map(([field, { type, description }]) => ({
      name: field,
      type: typeOf(type),
      description: description ?? '',
      required: item?.required?.includes(field) ?? false,
    }))
  return { id: String(at), name, description: item?.desc ?? '', inputs: fields(item?.in), outputs: fields(item?.out) }
}

/** The same tools by people who wrote neither types nor descriptions. */
function stripped({ shapes, ...rest }: Case): Case {
  const bare = (fields: Field[]) => fields.map((field): Field => ({ ...field, type: 'any', description: '' }))
  return {
    ...rest,
    shapes: shapes.map((shape) => ({
      ...shape,
      description: '',
      inputs: bare(shape.inputs),
      outputs: bare(shape.outputs),
    })),
  }
}

type Method = (one: Case, at: number) => Set<string>

function byFields(match: (output: Field, input: Field) => boolean): Method {
  return ({ shapes }) => {
    const found = new Set<string>()
    for (const from of shapes) {
      for (const to of shapes) {
        const isFed = from !== to && to.inputs.some((input) => from.outputs.some((output) => match(output, input)))
        if (isFed) found.add(`${from.id}>${to.id}`)
      }
    }
    return found
  }
}

const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '')
const exactName = byFields((output, input) => output.name === input.name)

const fuzzyName = byFields((output, input) => {
  if (plain(output.name) === plain(input.name)) return true
  const types = new Set([output.type, input.type])
  if (types.size > 1 && !types.isSubsetOf(new Set(['string', 'number']))) return false
  const share = (left: Set<string>, right: Set<string>) =>
    left.intersection(right).size / Math.max(1, Math.min(left.size, right.size))
  const words = (text: string) => new Set(stemsOf(text))
  const all = (field: Field) => words(`${field.name} ${field.description}`)
  return 0.6 * share(words(output.name), words(input.name)) + 0.4 * share(all(output), all(input)) >= 0.7
})

function ours(specificity: Specificity, model?: (at: number) => Blend): Method {
  return ({ intent, shapes }, at) => {
    const chosen = model === undefined ? {} : { model: model(at) }
    return new Set(providesOf(shapes, { intent, specificity, ...chosen }).map(({ from, to }) => `${from}>${to}`))
  }
}

/** As it is when tools are looked at whatever plan they stand in. */
const unasked = (one: Case): Case => ({ ...one, intent: '' })

/** The model must do without types and descriptions too, and without an intent. */
function fitProvides(cases: Case[]): Blend {
  const rows: number[][] = []
  const labels: number[] = []
  for (const set of [cases, cases.map(stripped), cases.map(unasked)]) {
    const specificity = specificityOfAll(set)
    for (const { intent, shapes, fields } of set) {
      for (const { from, output, to, input, features } of fieldPairsOf(shapes, intent, specificity)) {
        rows.push(features)
        labels.push(Number(fields.has(`${from} ${output}>${to} ${input}`)))
      }
    }
  }
  return fitBlend(rows, labels, options)
}

const specificityOfAll = (cases: Case[]) => fieldSpecificity(cases.flatMap(({ shapes }) => shapes))

export function benchProvides(folder: string): Section[] {
  const cases = readCases(join(folder, 'plans/nestools'))
  const models = Array.from({ length: folds }, (_, fold) => fitProvides(cases.filter((_, at) => at % folds !== fold)))
  const heldOut = (at: number) => models[at % folds]!
  const section = (title: string, set: Case[]) => {
    const specificity = specificityOfAll(set)
    const score = (method: Method): Score =>
      scoreSets(set.map((one, at) => ({ found: method(one, at), truth: one.edges })))
    const figures = {
      exact: score(exactName),
      fuzzy: score(fuzzyName),
      ours: score(ours(specificity)),
      folds: score(ours(specificity, heldOut)),
    }
    const rows = [
      { name: 'exact names', figures: figures.exact },
      { name: 'fuzzy names', figures: figures.fuzzy },
      { name: 'ours, as shipped (saw this set)', figures: figures.ours },
      { name: `ours, ${folds} folds (held out)`, figures: figures.folds },
    ]
    return { title: `provides: ${title} (${set.length} plans)`, rows, figures }
  }
  const whole = section('gold tools, order unknown', cases)
  const bare = section('without types and descriptions', cases.map(stripped))
  const alone = section('gold tools, order and intent unknown', cases.map(unasked))
  return [
    {
      ...whole,
      bars: [
        { what: 'edge F1, held out', value: whole.figures.folds.f1, least: 92 },
        { what: 'exact graph %, held out', value: whole.figures.folds.exact, least: 80 },
      ],
    },
    {
      ...bare,
      bars: [
        { what: 'edge F1, held out, against fuzzy names', value: bare.figures.folds.f1, least: bare.figures.fuzzy.f1 },
      ],
    },
    { ...alone, bars: [] },
  ]
}

export const fitAllProvides = (folder: string) => fitProvides(readCases(join(folder, 'plans/nestools')))
