/**
 * What the fold costs calls that are under way: the CPU of this process for the same runs, with
 * what follows the record beside them and without, in interleaved pairs; and what the fold of all
 * of them takes, most of which waits until there is less to do. The tool is a function of this
 * process: boxes and servers are others and would only make the share smaller.
 * `node bench/fold-calls.ts [--pairs N]`.
 */
import { openLearner } from '#learn'
import { homeChain, parseConfig } from '#model'
import { followRecord } from '#verbs/learning'
import { median, rate, steps } from './peers/chain.ts'
import { chainGraph, inProcess, openBench, runToEnd } from './peers/ours.ts'

const given = process.argv.indexOf('--pairs')
const pairs = given < 0 ? 30 : Number(process.argv[given + 1])
const [runs, width, habits, costMax] = [640, 8, 20, 2]

const bench = await openBench(inProcess())
const { home } = bench.store
const config = parseConfig({ file: 'metier.json', text: '{}', home, env: {}, directory: home })

/** `share` is how much of what the calls taught was folded beside them. */
type Cost = { whileCallsRun: number; afterwards: number; share: number }

/** Microseconds of CPU a call: while the calls run, and for all that was left to be folded then. */
async function cpuOf(isFollowed: boolean): Promise<Cost> {
  const following = isFollowed ? followRecord(bench.store, config, console.error) : null
  const from = bench.store.count(homeChain)
  let habit = 0
  const whileCallsRun = await cpu(() =>
    rate(runs, width, () => {
      habit += 1
      return runToEnd(bench, chainGraph, `count up the steps of habit ${habit % habits}`)
    }),
  )
  const status = following?.learner.status()
  const share = status === undefined ? 0 : (status.n - from) / (status.of - from)
  const afterwards = await cpu(async () => {
    await following?.close()
    const learner = openLearner({ store: bench.store, enabled: true, isAlone: true })
    await learner.catchUp()
    await learner.close()
  })
  return { whileCallsRun, afterwards, share }
}

async function cpu(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / (runs * steps)
}

await cpuOf(true)
const shares: number[] = []
const whole: number[] = []
const folded: number[] = []
for (let pair = 0; pair < pairs; pair++) {
  const order = pair % 2 === 0 ? [true, false] : [false, true]
  const cost = new Map<boolean, Cost>()
  for (const isFollowed of order) cost.set(isFollowed, await cpuOf(isFollowed))
  const [followed, alone] = [cost.get(true)!, cost.get(false)!]
  shares.push((100 * (followed.whileCallsRun - alone.whileCallsRun)) / alone.whileCallsRun)
  // Of a record that nothing followed all is left: the whole of what the fold takes.
  whole.push((100 * alone.afterwards) / alone.whileCallsRun)
  folded.push(100 * followed.share)
}
const cost = median(shares)
const isMet = cost <= costMax
const sorted = shares.toSorted((left, right) => left - right)
const [low, high] = [sorted[Math.floor(pairs / 4)]!, sorted[Math.floor((3 * pairs) / 4)]!]
console.log(`${isMet ? 'ok' : 'MISSED'}  the fold costs ${cost.toFixed(2)} % of the CPU of calls, at most ${costMax}`)
console.log(
  `${pairs} pairs of ${runs * steps} calls, median; the middle half lies between ${low.toFixed(2)} and ${high.toFixed(2)} %`,
)
const [all, part] = [median(whole), median(folded)]
console.log(
  `the whole fold would take ${all.toFixed(1)} % of it; ${part.toFixed(1)} % of that was done beside the calls, the rest waits until there is less to do`,
)
if (!isMet) process.exitCode = 1
await bench.close()
