/**
 * How long discover takes among 100,000 tools with 100,000 past runs beside it without any: the
 * search, capabilities with their arguments, and the ranking by what was learned; just after
 * another run closed; and for one word that all past intents have. The runs are questions of the
 * public sets, each with a number of its own, folded as a record is, of which nothing is stored.
 * `node bench/history.ts [--runs N] [--tools N] [--intents N] [--models] [FOLDER]`; --models fits
 * the planner and attention on them first, which takes minutes.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildIndex, search } from '#catalog'
import { Adviser, joinParts, noAdviser, openLearner, plannedPart, recalledTools } from '#learn'
import { limits, type Tool } from '#model'
import { readSets, take } from './discover/sets.ts'
import { readPast } from './record/past-runs.ts'

const barMs = 10
/** As discover has it where it looks for tools too. */
const likenessMin = 0.3
const options = {
  runs: { type: 'string', default: '100000' },
  tools: { type: 'string', default: '100000' },
  intents: { type: 'string', default: '700' },
  models: { type: 'boolean', default: false },
} as const
const { values, positionals } = parseArgs({ options, allowPositionals: true })
const folder = positionals[0] ?? join(dirname(dirname(import.meta.dirname)), 'shared', 'bench-data')
if (!existsSync(join(folder, 'retrieval'))) {
  console.error(`Cannot measure discover: there is no ${folder}; name the folder of the public sets as an argument`)
  process.exit(2)
}

const sets = readSets(folder)
const items = sets.flatMap(({ name, corpus }) => corpus.map((item) => ({ ...item, id: `${name}/${item.id}` })))
const index = buildIndex(
  Array.from({ length: Number(values.tools) }, (_, at): Tool => {
    const { id, name, desc = '' } = items[at % items.length]!
    const copy = Math.floor(at / items.length)
    const unread = { annotations: {}, effect: 'read', effectFrom: 'default', input: { type: 'object' } } as const
    return {
      ...unread,
      id: `bench:${id} ${copy}`,
      server: 'bench',
      name: `${name} ${copy}`,
      description: desc,
      digest: `${at}`,
    }
  }),
)
const questions = sets.flatMap(({ name, questions: own }) =>
  own.map(({ text, gold }) => ({ text, tools: gold.map((id) => `bench:${name}/${id} 0`) })),
)

const home = mkdtempSync(join(tmpdir(), 'metier-bench-'))
try {
  await measure()
} finally {
  rmSync(home, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  const past = readPast(home, questions)
  const learner = openLearner({ store: past.store, enabled: true, isAlone: true })
  past.close(Number(values.runs))
  await learner.catchUp()
  past.learnCapabilities(learner.knowledge().shapes(), 24)
  await learner.catchUp()
  if (values.models) await learner.fitModels(false, AbortSignal.timeout(30 * 60_000))
  const { knowledge, planner, attention } = learner
  const adviser = new Adviser({ knowledge, planner, attention, isShared: false, now: () => past.now() })
  const asked = take(questions, Number(values.intents)).map(({ text }, at) => `${text} for case ${at}`)
  const first = times()
  first.take(() => discover(asked[0]!, adviser))
  for (const intent of asked.slice(0, 100)) for (const one of [noAdviser, adviser]) discover(intent, one)
  const without = times()
  const settled = times()
  const closed = times()
  const common = times()
  for (const intent of asked) {
    without.take(() => discover(intent, noAdviser))
    settled.take(() => discover(intent, adviser))
    past.close(1)
    await learner.catchUp()
    closed.take(() => discover(intent, adviser))
    common.take(() => discover('case', adviser))
  }
  const machine = `${availableParallelism()} cores, load ${loadavg()[0]!.toFixed(1)}, Node ${process.versions.node}`
  console.log(`${values.tools} tools, ${past.count()} runs, ${asked.length} intents; ${machine}`)
  console.log(`planner ${planner().report.state}, attention ${attention().report.state}`)
  console.log(`the first discover of a process reads all of that: ${first.figures().p50.toFixed(0)} ms`)
  const base = without.figures()
  for (const [name, { figures }] of Object.entries({ without, settled, closed, common })) {
    const { p50, p99, cpu50, cpu99 } = figures()
    const ratio = `${(p50 / base.p50).toFixed(2)} and ${(p99 / base.p99).toFixed(2)} times without`
    const line = `${name.padEnd(8)} p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms (computing ${cpu50.toFixed(2)} and ${cpu99.toFixed(2)} ms); ${ratio}`
    const isMet = p99 <= barMs
    console.log(`${isMet ? 'ok    ' : 'MISSED'} ${line}; p99 at most ${barMs} ms`)
    if (!isMet) process.exitCode = 1
  }
  await learner.close()
}

/** What the verb discover does before it writes its answer. */
function discover(intent: string, adviser: Adviser): number {
  const asker = { subject: null, servers: new Set(['bench']) }
  const recalled = adviser.recall(intent, asker, {}, likenessMin)
  const { results } = search(index, { intent, limit: limits.discoverLimitMax })
  const words = new Map(results.map(({ tool, score }) => [tool.id, score]))
  const hints = adviser.hints(intent, asker, words)
  const scores = [...words.keys(), ...recalledTools(hints, words)].map((id) => {
    const attention = hints.attention(id)
    const known = { history: hints.history.get(id) ?? 0, context: hints.context(id), success: hints.success(id) }
    adviser.failuresOf(id)
    return joinParts({
      words: words.get(id) ?? 0,
      ...known,
      ...(attention !== undefined && { attention }),
      ...plannedPart(hints.planned, id),
    })
  })
  return Math.max(...scores, ...recalled.map(({ likeness }) => likeness))
}

function times() {
  const taken: { wall: number; cpu: number }[] = []
  const at = (share: number, of: (one: (typeof taken)[number]) => number) =>
    taken.map(of).sort((left, right) => left - right)[Math.floor(share * taken.length)]!
  return {
    take(work: () => void) {
      const began = performance.now()
      const used = process.threadCpuUsage()
      work()
      const wall = performance.now() - began
      taken.push({ wall, cpu: process.threadCpuUsage(used).user / 1000 })
    },
    figures: () => ({
      p50: at(0.5, ({ wall }) => wall),
      p99: at(0.99, ({ wall }) => wall),
      cpu50: at(0.5, ({ cpu }) => cpu),
      cpu99: at(0.99, ({ cpu }) => cpu),
    }),
  }
}
