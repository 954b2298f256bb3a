/** The public sets: tools with intents and the tools that answer to each. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Item = { id: string; name: string; desc?: string; params?: string }
export type Question = { text: string; gold: string[] }
export type Collection = { name: string; family: string; corpus: Item[]; questions: Question[] }

/** All of them were in sight while words, weights and the verdict were chosen: none is held out. */
export function readSets(folder: string): Collection[] {
  const retrieval = join(folder, 'retrieval')
  const given = readdirSync(retrieval)
    .sort()
    .map((name) => readSet(join(retrieval, name), name, 'queries.jsonl'))
  const plans = [
    ['nestools', 'queries.jsonl'],
    ['ultratool', 'learn.jsonl'],
  ] as const
  return [...given, ...plans.map(([name, file]) => readSet(join(folder, 'plans', name), name, file))]
}

function readSet(folder: string, name: string, questions: string): Collection {
  const parse = <Line>(file: string): Line[] =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  return { name, family: name.split('_')[0]!, corpus: parse('corpus.jsonl'), questions: parse(questions) }
}

/** As an MCP server would list it. Parameters stand as `name: description; name: description`. */
export function listed({ desc = '', params = '' }: Item, name: string) {
  const pairs = params.split(';').flatMap((text) => {
    const [parameter = '', ...rest] = text.split(':')
    return parameter.trim() === '' ? [] : [[parameter.trim(), { description: rest.join(':').trim() }]]
  })
  return { name, description: desc, inputSchema: { type: 'object', properties: Object.fromEntries(pairs) } }
}

/** So many of a list, spread over it, always the same. */
export function take<Of>(list: readonly Of[], count: number, round = 0): Of[] {
  const places = new Set(Array.from({ length: count }, (_, at) => (round * 7919 + at * 104_729) % list.length))
  return [...places].map((at) => list[at]!)
}
