/** The chain on Métier. `node metier graph|program RUNS`. */
import { atOnce, rate } from './chain.ts'
import { chainCode, chainGraph, inProcess, openBench, runToEnd } from './ours.ts'

const [form, runs] = process.argv.slice(2) as ['graph' | 'program', string]
const plan = form === 'graph' ? chainGraph : chainCode
const bench = await openBench(inProcess())
await rate(64, 8, () => runToEnd(bench, plan))
console.log(JSON.stringify(await rate(Number(runs), atOnce, () => runToEnd(bench, plan))))
await bench.close()
