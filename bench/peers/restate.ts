/**
 * The chain on Restate: ten journalled steps of a handler. `node restate FOLDER INGRESS ADMIN PORT
 * RUNS`.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { atOnce, payload, rate, steps } from './chain.ts'

const [folder, ingress, admin, port, runs] = process.argv.slice(2) as [string, string, string, string, string]
const require = createRequire(join(folder, 'package.json'))
const load = (name: string) => import(pathToFileURL(require.resolve(name)).href)
const restate = await load('@restatedev/restate-sdk')
const clients = await load('@restatedev/restate-sdk-clients')

type Context = { run<Value>(name: string, act: () => Promise<Value>): Promise<Value> }

const chain = restate.service({
  name: 'chain',
  handlers: {
    ten: async (context: Context) => {
      let last = { n: 0, payload }
      for (let i = 0; i < steps; i++) {
        const { n } = last
        last = await context.run(`s${i}`, async () => ({ n: n + 1, payload }))
      }
      return last
    },
  },
})
await restate.endpoint().bind(chain).listen(Number(port))
const registered = await fetch(`${admin}/deployments`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ uri: `http://127.0.0.1:${port}`, force: true }),
})
if (!registered.ok) throw new Error(`Restate refused the deployment: ${await registered.text()}`)
const client = clients.connect({ url: ingress }).serviceClient({ name: 'chain' })
await rate(64, 8, () => client.ten())
console.log(JSON.stringify(await rate(Number(runs), atOnce, () => client.ten())))
process.exit()
