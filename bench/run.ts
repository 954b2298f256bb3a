/**
 * What a durable step costs: a chain of ten unsafe calls, 64 runs at once, on a record that survives a power cut, as graphs and as
 * programs in real boxes. `node bench/run.ts [--json]`.
 */
import { atOnce, preferUs, rate } from './parts/chain.ts'
import { chainCode, chainGraph, inProcess, openBench, runToEnd } from './parts/ours.ts'

preferUs()
const bench = await openBench(inProcess())
const count = Number(process.env.RUNS ?? 640)
for (const [name, plan] of [
  ['graph', chainGraph],
  ['program', chainCode],
] as const) {
  if (process.env.ONLY && process.env.ONLY !== name) continue
  await rate(64, 8, () => runToEnd(bench, plan))
  for (const width of [1, atOnce]) {
    const { perSecond, p50, p99 } = await rate(width === 1 ? 40 : count, width, () => runToEnd(bench, plan))
    console.log(`${name} ${width}: ${perSecond.toFixed(0)} steps/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)}`)
  }
}
await bench.close()
