/**
 * Fits the model of discover's verdict, and says how it does on families of sets that neither its
 * weights nor its thresholds were fitted on. It ranks in this process, with the same tools as the
 * door.
 */
import { buildIndex, verdictFeatures } from '#catalog'
import { fitLogistic } from '#learn'
import { parseConfig, type Tool } from '#model'
import { openVerbs } from '#verbs'
import { type Catalogue, familyOf, fitted, measured } from './catalogues.ts'
import { type Collection, type Item, listed } from './sets.ts'

type Row = { isOwn: boolean; families: string[]; asked: string; features: Record<string, number> }
type Sample = { name: string; families: string[]; rows: Row[] }
type Model = { weights: Record<string, number>; found: number; unsure: number }

/** What a catalogue may have of each error at most, and all of them in the mean, in percent. */
const bars = { worst: 15, found: 10, nothing: 8 }
const l2 = 5

export async function samplesOf(sets: readonly Collection[], folder: string) {
  const builtIn = await builtInTools(folder)
  const sample = ({ name, families, items, own, foreign }: Catalogue): Sample => {
    const index = buildIndex([...items.map(toTool), ...builtIn])
    const row = (text: string, isOwn: boolean, asked: string): Row => ({
      isOwn,
      families,
      asked,
      features: verdictFeatures(index, text),
    })
    return {
      name,
      families,
      rows: [
        ...own.map(({ text }) => row(text, true, families[0]!)),
        ...foreign.map(({ text, family }) => row(text, false, family)),
      ],
    }
  }
  return { training: fitted(sets).map(sample), test: measured(sets).map(sample) }
}

export type Samples = Awaited<ReturnType<typeof samplesOf>>

/** Weights over the catalogues of training, thresholds by which those of the test keep the bars. */
export function fit(training: readonly Sample[], test: readonly Sample[], isUsed: (row: Row) => boolean): Model {
  const rows = training.flatMap(({ rows }) => rows).filter(isUsed)
  const names = Object.keys(rows[0]!.features)
  const { means, scales, weights, bias } = fitLogistic(
    rows.map(({ features }) => names.map((name) => features[name]!)),
    rows.map(({ isOwn }) => (isOwn ? 1 : 0)),
    l2,
  )
  const perUnit = weights.map((weight, at) => weight / scales[at]!)
  const base = perUnit.reduce((sum, weight, at) => sum - weight * means[at]!, bias)
  const model = { base, ...Object.fromEntries(names.map((name, at) => [name, perUnit[at]!])) }
  const keeps = (errors: number[], most: number) => mean(errors) <= most && Math.max(...errors) <= bars.worst
  const found = least((at) => keeps(errorsOf(test, model, { found: at, unsure: at }).found, bars.found))
  const unsure = -least((at) => keeps(errorsOf(test, model, { found, unsure: -at }).nothing, bars.nothing))
  return { weights: model, found, unsure: Math.min(found, unsure) }
}

/** By family that is left out: weights and thresholds of the others, errors on its catalogues. */
export function heldOut({ training, test }: Samples, sets: readonly Collection[]) {
  return [...new Set(sets.map(familyOf))].map((family) => {
    const without = (samples: readonly Sample[]) => samples.filter(({ families }) => !families.includes(family))
    const { weights, ...cuts } = fit(without(training), without(test), ({ asked }) => asked !== family)
    const left = test.filter(({ families }) => families.includes(family) && families.length === 1)
    return { family, ...errorsOf(left, weights, cuts) }
  })
}

/** In percent, by catalogue: foreign intents found; own ones that nothing fits, and unsure ones. */
export function errorsOf(samples: readonly Sample[], weights: Model['weights'], cuts: Omit<Model, 'weights'>) {
  const logit = ({ features }: Row) =>
    Object.entries(features).reduce((sum, [name, value]) => sum + weights[name]! * value, weights.base!)
  const share = (rows: Row[], is: (logit: number) => boolean) =>
    (100 * rows.filter((row) => is(logit(row))).length) / rows.length
  const own = samples.map(({ rows }) => rows.filter(({ isOwn }) => isOwn))
  const foreign = samples.map(({ rows }) => rows.filter(({ isOwn }) => !isOwn))
  return {
    found: foreign.map((rows) => share(rows, (at) => at >= cuts.found)),
    nothing: own.map((rows) => share(rows, (at) => at < cuts.unsure)),
    unsure: own.map((rows) => share(rows, (at) => at >= cuts.unsure && at < cuts.found)),
  }
}

export const mean = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length

/** The least number from which on something holds. */
function least(holds: (at: number) => boolean): number {
  let [low, high] = [-20, 20]
  for (let step = 0; step < 30; step++) {
    const middle = (low + high) / 2
    if (holds(middle)) high = middle
    else low = middle
  }
  return high
}

function toTool(item: Item): Tool {
  const name = item.name.replace(/[^\w.-]+/g, '_').slice(0, 100) || 'tool'
  const { description, inputSchema: input } = listed(item, name)
  const rest = { annotations: {}, effect: 'unsafe', effectFrom: 'default', digest: item.id } as const
  return { id: `bench:${item.id}`, server: 'bench', name, description, input, ...rest }
}

/** Those that are in every catalogue. */
async function builtInTools(folder: string): Promise<Tool[]> {
  const config = parseConfig({ file: `${folder}/metier.json`, text: '{}', home: folder, env: {}, directory: folder })
  const verbs = await openVerbs(config, { path: process.env.PATH! })
  try {
    const { tools } = await verbs.tools('metier')
    return tools.map((tool) => {
      const { id, description, input } = tool as { id: string; description: string; input: Tool['input'] }
      const rest = { annotations: {}, effect: 'unsafe', effectFrom: 'default', digest: id } as const
      return { id, server: 'metier', name: id.slice('metier:'.length), description, input, ...rest }
    })
  } finally {
    await verbs.close()
  }
}
