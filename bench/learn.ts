/**
 * How well learning does on public sets, each beside its baselines in the same run: flows from
 * values, edges from schemas, suggested plans, reuse of intents, calibration.
 * `node bench/learn.ts [--json] [--fit PART] [FOLDER]`, where FOLDER has `traces/`, `plans/` and
 * `reuse/`; `--fit` prints the weights of one part instead, fitted on the whole folder.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { benchFlows, fitAllFlows } from './learn/flows.ts'
import { benchPlans } from './learn/plans.ts'
import { benchProvides, fitAllProvides } from './learn/provides.ts'
import { isMet, printSection, type Section } from './learn/read.ts'
import { benchReuse, fitAllReuse } from './learn/reuse.ts'

const benches: {
  name: string
  folder: string
  run(folder: string): Section[] | Promise<Section[]>
  fit?(folder: string): unknown
}[] = [
  { name: 'flows', folder: 'traces', run: benchFlows, fit: fitAllFlows },
  { name: 'provides', folder: 'plans/nestools', run: benchProvides, fit: fitAllProvides },
  { name: 'plans', folder: 'plans/ultratool', run: benchPlans },
  { name: 'reuse', folder: 'reuse', run: benchReuse, fit: fitAllReuse },
]

const { values, positionals } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    fit: { type: 'string' },
    only: { type: 'string' },
  },
  allowPositionals: true,
})
const folder = positionals[0] ?? join(dirname(dirname(import.meta.dirname)), 'shared/bench-data')
if (values.fit !== undefined) {
  const part = benches.find(({ name }) => name === values.fit)
  console.log(JSON.stringify(part?.fit?.(folder), null, 1))
} else {
  const chosen = benches.filter(
    ({ name, folder: sub }) => existsSync(join(folder, sub)) && (values.only ?? name) === name,
  )
  const sections: Section[] = []
  for (const { run } of chosen) {
    const found = await run(folder)
    if (!values.json) found.forEach(printSection)
    sections.push(...found)
  }
  if (values.json) console.log(JSON.stringify(sections))
  const missed = sections.flatMap(({ bars }) => bars).filter((bar) => !isMet(bar))
  if (!values.json) console.log(`\n${missed.length === 0 ? 'every bar is met' : `${missed.length} bars MISSED`}`)
}
