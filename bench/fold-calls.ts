/**
 * What the fold costs calls that are under way: the CPU of this process for the same runs, with
 * what follows the record beside them and without, in interleaved pairs. The tool is a function of
 * this process: boxes and servers are others and would only make the share smaller.
 * `node bench/fold-calls.ts [--pairs N]`.
 */
import { openLearner } from '#learn'
import { parseConfig } from '#model'
import { followRecord } from '#verbs/learning'
import { median, rate, steps } from './peers/chain.ts'
import { chainGraph, inProcess, openBench, runToEnd } from './peers/ours.ts'

const given = process.argv.indexOf('--pairs')
const pairs = given < 0 ? 30 : Number(process.argv[given + 1])
const [runs, width, costMax] = [640, 8, 2]

const bench = await openBench(inProcess())
const { home } = bench.store
const config = parseConfig({ file: 'metier.json', text: '{}', home, env: {}, directory: home })

/** Microseconds a call. What is left to be folded is folded outside of what is timed. */
async function cpuOf(isFollowed: boolean): Promise<number> {
  const following = isFollowed ? followRecord(bench.store, config, console.error) : null
  const before = process.cpuUsage()
  await rate(runs, width, () => runToEnd(bench, chainGraph))
  const { user, system } = process.cpuUsage(before)
  await following?.close()
  const learner = openLearner({ store: bench.store, enabled: true, isAlone: true })
  await learner.catchUp()
  await learner.close()
  return (user + system) / (runs * steps)
}

await cpuOf(true)
const shares: number[] = []
for (let pair = 0; pair < pairs; pair++) {
  const order = pair % 2 === 0 ? [true, false] : [false, true]
  const cpu = new Map<boolean, number>()
  for (const isFollowed of order) cpu.set(isFollowed, await cpuOf(isFollowed))
  shares.push((100 * (cpu.get(true)! - cpu.get(false)!)) / cpu.get(false)!)
}
const cost = median(shares)
const isMet = cost <= costMax
const sorted = shares.toSorted((left, right) => left - right)
const [low, high] = [sorted[Math.floor(pairs / 4)]!, sorted[Math.floor((3 * pairs) / 4)]!]
console.log(`${isMet ? 'ok' : 'MISSED'}  the fold costs ${cost.toFixed(2)} % of the CPU of calls, at most ${costMax}`)
console.log(
  `${pairs} pairs of ${runs * steps} calls, median; the middle half lies between ${low.toFixed(2)} and ${high.toFixed(2)} %`,
)
if (!isMet) process.exitCode = 1
await bench.close()
