/**
 * The chain on DBOS: ten steps of a workflow, each on record in Postgres before the next. `node
 * dbos FOLDER URL RUNS`.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { atOnce, payload, rate, steps } from './chain.ts'

const [folder, url, runs] = process.argv.slice(2) as [string, string, string]
const require = createRequire(join(folder, 'package.json'))
const { DBOS } = await import(pathToFileURL(require.resolve('@dbos-inc/dbos-sdk')).href).then((m) => m.default ?? m)

const chain = DBOS.registerWorkflow(
  async () => {
    let last = { n: 0, payload }
    for (let i = 0; i < steps; i++) {
      const { n } = last
      last = await DBOS.runStep(async () => ({ n: n + 1, payload }), { name: `s${i}` })
    }
    return last
  },
  { name: 'chain' },
)
DBOS.setConfig({
  name: 'chain',
  systemDatabaseUrl: url,
  logLevel: 'error',
  runAdminServer: false,
  systemDatabasePoolSize: 20,
})
await DBOS.launch()
await rate(64, 8, () => chain())
console.log(JSON.stringify(await rate(Number(runs), atOnce, () => chain())))
await DBOS.shutdown()
process.exit()
