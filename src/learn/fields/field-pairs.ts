/**
 * What speaks for an output field of one tool being the input of another: names, types,
 * descriptions, how specific the words are, who else could provide it, where the intent speaks of
 * the two tools, and whether it says the value itself.
 */
import { dice, overlap, type Specificity, stemsOf } from '#learn/text'
import { type FieldWords, fieldWords } from './field-words.ts'
import { statedFeatures } from './stated-values.ts'
import { toolMentions } from './tool-mentions.ts'
import type { Field, ToolShape } from './tool-shape.ts'

/** Tools are named by their place in the list. */
export type FieldPair = { from: number; output: string; to: number; input: string; features: number[] }

type ToolWords = {
  shape: ToolShape
  words: Set<string>
  spoken: ReturnType<typeof toolMentions>[number]
  inputs: Map<Field, FieldWords>
  outputs: Map<Field, FieldWords>
}

export function fieldPairsOf(shapes: readonly ToolShape[], intent: string, specificity: Specificity): FieldPair[] {
  const words = shapes.map(({ name, description }) => new Set(stemsOf(`${name} ${description}`)))
  const spoken = toolMentions(intent, words, specificity)
  const known = shapes.map((shape, at): ToolWords => {
    const fields = (list: Field[]) => new Map(list.map((field) => [field, fieldWords(field)]))
    return {
      shape,
      words: words[at]!,
      spoken: spoken[at]!,
      inputs: fields(shape.inputs),
      outputs: fields(shape.outputs),
    }
  })
  const asked = new Set(stemsOf(intent))
  const wanted = known.flatMap(({ inputs, spoken: { place } }) =>
    [...inputs].map(([field, { key, name, said }]) => ({ field, key, name, said, place })),
  )
  const stated = statedFeatures(intent, wanted, specificity)
  const raw = known.flatMap((consumer, to) =>
    known.flatMap((producer, from) =>
      from === to ? [] : pairsBetween(producer, consumer, { from, to, asked, stated, specificity }),
    ),
  )
  return withRivals(raw)
}

type Between = {
  from: number
  to: number
  asked: Set<string>
  stated: Map<Field, number[]>
  specificity: Specificity
}
type Raw = FieldPair & { core: number }

function pairsBetween(producer: ToolWords, consumer: ToolWords, between: Between): Raw[] {
  const { from, to, asked, stated, specificity } = between
  const tools = [
    consumer.spoken.place - producer.spoken.place,
    consumer.spoken.turn - producer.spoken.turn,
    consumer.spoken.backReferences,
    dice(producer.words, consumer.words, specificity),
    producer.shape.inputs.length,
    consumer.shape.inputs.length,
    producer.shape.outputs.length,
  ]
  const rows: Raw[] = []
  for (const [input, wanted] of consumer.inputs) {
    const isShared = [...producer.inputs.values()].some(({ key }) => key === wanted.key)
    const about = [
      Number(input.required),
      Number(isShared),
      Number([...consumer.outputs.values()].some(({ key }) => key === wanted.key)),
      overlap(producer.words, wanted.all, specificity),
      overlap(producer.words, wanted.name, specificity),
      overlap(asked, wanted.name, specificity),
      Number(input.type === 'string'),
      Math.max(0, ...[...wanted.name].map(specificity)),
      overlap(wanted.name, consumer.spoken.clause, specificity),
      overlap(wanted.all, producer.spoken.clause, specificity),
      ...stated.get(input)!,
    ]
    for (const [output, given] of producer.outputs) {
      const same = Number(given.key === wanted.key)
      const named = dice(given.name, wanted.name, specificity)
      const all = dice(given.all, wanted.all, specificity)
      const type = typeMatch(output, input)
      const core = same + named + all + type / 2
      const words = [
        same,
        named,
        all,
        type,
        overlap(given.name, wanted.name, specificity),
        overlap(given.all, wanted.all, specificity),
        dice(given.said, wanted.said, specificity),
        overlap(given.name, wanted.said, specificity),
        overlap(wanted.name, given.said, specificity),
        dice(given.grams, wanted.grams, () => 1),
        Number(given.last === wanted.last),
        overlap(consumer.words, given.all, specificity),
        overlap(consumer.words, given.name, specificity),
        overlap(asked, given.name, specificity),
        Number([...producer.inputs.values()].some(({ key }) => key === given.key)),
        overlap(given.name, consumer.spoken.clause, specificity),
        dice(given.kinds, wanted.kinds, specificity),
        dice(given.nameKinds, wanted.nameKinds, specificity),
        overlap(given.nameKinds, wanted.nameKinds, specificity),
        overlap(given.nameKinds, wanted.kinds, specificity),
        overlap(wanted.nameKinds, given.kinds, specificity),
      ]
      const features = [...words, ...about, ...tools]
      rows.push({ from, output: output.name, to, input: input.name, features, core })
    }
  }
  return rows
}

/** 1 for the same type, less where one can be made of the other, 0.5 where nothing is known. */
function typeMatch({ type: output }: Field, { type: input }: Field): number {
  if (output === 'any' || input === 'any') return 0.5
  if (output === input) return 1
  const pair = [output, input].sort().join()
  return pair === 'number,string' ? 0.4 : pair === 'array,string' ? 0.3 : 0
}

/** How a pair stands among its rivals: for its input, from its output, in the other direction. */
function withRivals(rows: Raw[]): FieldPair[] {
  const sorted = (key: (row: Raw) => string) =>
    new Map(
      [...Map.groupBy(rows, key)].map(([name, group]) => [name, group.map(({ core }) => core).sort((a, b) => b - a)]),
    )
  const inputKey = ({ to, input }: Raw) => `${to} ${input}`
  const outputKey = ({ from, output }: Raw) => `${from} ${output}`
  const toolsKey = ({ from, to }: Raw) => `${from} ${to}`
  const [byInput, byOutput, byTools] = [sorted(inputKey), sorted(outputKey), sorted(toolsKey)]
  return rows.map(({ core, features, ...pair }) => {
    const row = { ...pair, core, features }
    const inputs = byInput.get(inputKey(row))!
    const outputs = byOutput.get(outputKey(row))!
    const forth = byTools.get(toolsKey(row))!
    const back = byTools.get(`${pair.to} ${pair.from}`)?.[0] ?? 0
    const margin = (list: number[]) => (core === list[0] ? core - (list[1] ?? 0) : core - list[0]!)
    const rivals = [core, margin(inputs), margin(outputs), margin(forth), core - back, forth[0]! - back, inputs.length]
    const ties = inputs.filter((rival) => rival === core).length
    return { ...pair, features: [...features, ...rivals, ties] }
  })
}
