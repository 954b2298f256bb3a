/**
 * How well discover finds tools: nDCG@10 and Recall@5 on public sets, against plain BM25 over name
 * and description in the same run; how often it abstains wrongly and answers wrongly; how long a
 * search among 100,000 tools takes beside idle turning for as long, and for how long at once
 * building their index keeps others from their turn. `node bench/retrieval.ts [--json] [FOLDER]`,
 * where FOLDER holds `retrieval/<set>/{corpus,queries}.jsonl` and `plans/`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { dirname, join } from 'node:path'
import { buildIndex, openIndexer, search } from '#catalog'
import type { Tool } from '#model'
import { bm25 } from './discover/bm25.ts'

type Item = { id: string; name: string; desc?: string; params?: string }
type Question = { id: string; text: string; gold: string[] }
type Collection = { name: string; corpus: Item[]; questions: Question[] }
type Rank = (text: string) => string[]
type Quality = { ndcg: number; recall: number }

/**
 * Sets of another folder that were not looked at while words, weights and threshold were chosen;
 * the others were all seen.
 */
const heldOut = [
  { name: 'nestools', questions: 'queries.jsonl' },
  { name: 'ultratool', questions: 'learn.jsonl' },
]

function readSet(folder: string, name: string, questions = 'queries.jsonl'): Collection {
  const lines = (file: string) =>
    readFileSync(join(folder, name, file), 'utf8')
      .split('\n')
      .filter(Boolean)
  const parse = <Line>(file: string) => lines(file).map((line): Line => JSON.parse(line))
  return { name, corpus: parse<Item>('corpus.jsonl'), questions: parse<Question>(questions) }
}

/** Parameters stand as `name: description; name: description`. */
function toTool({ id, name, desc = '', params = '' }: Item): Tool {
  const pairs = params.split(';').flatMap((text) => {
    const [parameter = '', ...rest] = text.split(':')
    return parameter.trim() === '' ? [] : [[parameter.trim(), { description: rest.join(':').trim() }]]
  })
  const input = { type: 'object', properties: Object.fromEntries(pairs) }
  const rest = { annotations: {}, effect: 'unsafe', effectFrom: 'default', digest: id } as const
  return { id: `bench:${id}`, server: 'bench', name, description: desc, input, ...rest }
}

function ours({ corpus }: Collection): Rank {
  const index = buildIndex(corpus.map(toTool))
  const filter = { minScore: 0 }
  return (intent) => search(index, { intent, filter, limit: 10 }).results.map(({ tool }) => tool.digest)
}

function quality({ questions }: Collection, rank: Rank): Quality {
  const discount = (place: number) => 1 / Math.log2(place + 2)
  const sum = { ndcg: 0, recall: 0 }
  for (const { text, gold } of questions) {
    const found = rank(text)
    const gain = found.reduce((total, id, place) => total + (gold.includes(id) ? discount(place) : 0), 0)
    const ideal = gold.slice(0, 10).reduce((total, _, place) => total + discount(place), 0)
    sum.ndcg += gain / ideal
    sum.recall += found.slice(0, 5).filter((id) => gold.includes(id)).length / gold.length
  }
  return { ndcg: (100 * sum.ndcg) / questions.length, recall: (100 * sum.recall) / questions.length }
}

/**
 * Among 30 tools: of the questions whose tool comes first, how many are not answered; of foreign
 * ones, how many are.
 */
function abstention(set: Collection, others: Collection[]): { falseAbstain: number; falseAnswer: number } {
  const take = <Item>(items: Item[], round: number, count: number) =>
    Array.from({ length: count }, (_, at) => items[(round * 7919 + at * 104_729) % items.length]!)
  let right = 0
  let abstained = 0
  let foreign = 0
  let answered = 0
  for (let round = 0; round < 40; round++) {
    const own = take(set.questions, round, 5)
    const golds = new Set(own.flatMap(({ gold }) => gold))
    const items = [...set.corpus.filter(({ id }) => golds.has(id)), ...take(set.corpus, round, 30)].slice(0, 30)
    const index = buildIndex(items.map(toTool))
    for (const { text, gold } of own) {
      const first = search(index, { intent: text, filter: { minScore: 0 }, limit: 1 }).results[0]
      if (first === undefined || !gold.includes(first.tool.digest)) continue
      right++
      if (search(index, { intent: text, limit: 1 }).status === 'nothing_fits') abstained++
    }
    for (const { text } of others.flatMap((other) => take(other.questions, round, 2))) {
      foreign++
      if (search(index, { intent: text, limit: 1 }).status === 'found') answered++
    }
  }
  return { falseAbstain: (100 * abstained) / right, falseAnswer: (100 * answered) / foreign }
}

/** Real descriptions, repeated under other names until there are 100,000. */
async function latency(sets: Collection[]) {
  const items = sets.flatMap(({ corpus }) => corpus)
  const tools = Array.from({ length: 100_000 }, (_, at) => {
    const item = items[at % items.length]!
    return toTool({ ...item, id: `${item.id} ${at}`, name: `${item.name} ${Math.floor(at / items.length)}` })
  })
  const indexer = openIndexer()
  const lists = () => new Map([['bench', tools]])
  const build = await watched(() => indexer.current(lists))
  tools[7] = { ...tools[7]!, description: 'Something else altogether.', digest: 'changed' }
  indexer.changed()
  const update = await watched(() => indexer.current(lists))
  const questions = sets.flatMap((set) => set.questions.slice(0, 100))
  for (const { text } of questions.slice(0, 100)) search(update.value, { intent: text, limit: 10 })
  const times = questions.map(({ text }) => timed(() => search(update.value, { intent: text, limit: 10 })))
  const idle = times.map(({ cpu }) => timed(() => turnFor(Math.min(cpu, 1))))
  const at = (share: number, all: typeof times, of: (time: (typeof times)[number]) => number) =>
    all.map(of).sort((left, right) => left - right)[Math.floor(share * all.length)]!
  return {
    tools: tools.length,
    build: { ms: build.ms, cpuMs: build.cpuMs, gapMs: build.gapMs },
    update: { ms: update.ms, cpuMs: update.cpuMs, gapMs: update.gapMs },
    p50Ms: at(0.5, times, ({ wall }) => wall),
    p99Ms: at(0.99, times, ({ wall }) => wall),
    p99CpuMs: at(0.99, times, ({ cpu }) => cpu),
    idleP99Ms: at(0.99, idle, ({ wall }) => wall),
    load: loadavg()[0]! / availableParallelism(),
  }
}

function timed(work: () => void): { wall: number; cpu: number } {
  const began = performance.now()
  const used = process.cpuUsage()
  work()
  return { wall: performance.now() - began, cpu: process.cpuUsage(used).user / 1000 }
}

/** What the machine alone makes of so much computing: no search can be faster on it. */
function turnFor(ms: number): void {
  const used = process.cpuUsage()
  while (process.cpuUsage(used).user < ms * 1000);
}

/** How long it took, and the most computing after which other work had a turn. */
async function watched<Value>(work: () => Promise<Value>) {
  let gapMs = 0
  let last = process.threadCpuUsage()
  const watch = () => {
    gapMs = Math.max(gapMs, process.threadCpuUsage(last).user / 1000)
    last = process.threadCpuUsage()
    turn = setImmediate(watch)
  }
  let turn = setImmediate(watch)
  const began = performance.now()
  const used = process.cpuUsage()
  const value = await work()
  clearImmediate(turn)
  return { value, ms: performance.now() - began, cpuMs: process.cpuUsage(used).user / 1000, gapMs }
}

async function measure(folder: string) {
  const retrieval = join(folder, 'retrieval')
  const sets = [
    ...readdirSync(retrieval)
      .sort()
      .map((name) => readSet(retrieval, name)),
    ...heldOut.map(({ name, questions }) => readSet(join(folder, 'plans'), name, questions)),
  ]
  const family = (set: Collection) => set.name.split('_')[0]
  const rows = sets.map((set) => ({
    set: set.name,
    part: heldOut.some(({ name }) => name === set.name) ? 'held out' : 'seen',
    tools: set.corpus.length,
    questions: set.questions.length,
    plain: quality(set, bm25(set.corpus, null)),
    ours: quality(set, ours(set)),
    ...abstention(
      set,
      sets.filter((other) => family(other) !== family(set)),
    ),
  }))
  const mean = (part: typeof rows, of: (row: (typeof rows)[number]) => number) =>
    part.reduce((sum, row) => sum + of(row), 0) / part.length
  const macro = (part: typeof rows) => ({
    plain: { ndcg: mean(part, (row) => row.plain.ndcg), recall: mean(part, (row) => row.plain.recall) },
    ours: { ndcg: mean(part, (row) => row.ours.ndcg), recall: mean(part, (row) => row.ours.recall) },
    falseAbstain: mean(part, (row) => row.falseAbstain),
    falseAnswer: mean(part, (row) => row.falseAnswer),
  })
  const part = (name: string) => rows.filter((row) => row.part === name)
  return { sets: rows, seen: macro(part('seen')), heldOut: macro(part('held out')), latency: await latency(sets) }
}

function print({ sets, seen, heldOut, latency }: Awaited<ReturnType<typeof measure>>): void {
  const line = (name: string, note: string, { plain, ours, falseAbstain, falseAnswer }: typeof seen) => {
    const gain = ours.ndcg - plain.ndcg
    const numbers = [plain.ndcg, ours.ndcg, gain, plain.recall, ours.recall, falseAbstain, falseAnswer]
    console.log(name.padEnd(20), note.padEnd(9), ...numbers.map((number) => number.toFixed(1).padStart(7)))
  }
  console.log(
    'set                  part      nDCG@10: plain, ours, gain; Recall@5: plain, ours; of 30 tools: false abstain, false answer',
  )
  for (const row of sets) line(row.set, row.part, row)
  line('macro', 'seen', seen)
  line('macro', 'held out', heldOut)
  const { tools, build, update, p50Ms, p99Ms, p99CpuMs, idleP99Ms, load } = latency
  const times = `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms (${p99CpuMs.toFixed(2)} ms of it computing)`
  const taken = ({ ms, cpuMs, gapMs }: typeof build) =>
    `${ms.toFixed(0)} ms (${cpuMs.toFixed(0)} ms of it computing, ${gapMs.toFixed(0)} ms at once)`
  console.log(`${tools} tools: built in ${taken(build)}, after a change of one in ${taken(update)}`)
  console.log(
    `a search takes ${times}; idle turning for as long p99 ${idleP99Ms.toFixed(2)} ms; load ${load.toFixed(1)}`,
  )
}

if (import.meta.main) {
  const given = process.argv.slice(2).find((argument) => !argument.startsWith('-')) ?? process.env.METIER_BENCH_DATA
  const beside = dirname(dirname(import.meta.dirname))
  const folder = given ?? join(beside, 'shared', 'bench-data')
  if (!existsSync(join(folder, 'retrieval'))) {
    console.error(`Cannot measure retrieval: there is no ${folder}; name the folder of the public sets as an argument`)
    process.exit(2)
  }
  const measured = await measure(folder)
  if (process.argv.includes('--json')) console.log(JSON.stringify(measured, null, 2))
  else print(measured)
}
