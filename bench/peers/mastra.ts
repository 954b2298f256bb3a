/**
 * The chain on Mastra: ten steps of a workflow, its snapshot in LibSQL after each. `node mastra
 * FOLDER FILE RUNS`.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { atOnce, payload, rate, steps } from './chain.ts'

const [folder, file, runs] = process.argv.slice(2) as [string, string, string]
const require = createRequire(join(folder, 'package.json'))
const load = (name: string) => import(pathToFileURL(require.resolve(name)).href)
const { Mastra } = await load('@mastra/core/mastra')
const { createWorkflow, createStep } = await load('@mastra/core/workflows')
const { LibSQLStore } = await load('@mastra/libsql')
const { z } = await load('zod')

type Input = { inputData: { n: number } }

const schema = z.object({ n: z.number(), payload: z.string() })
let flow = createWorkflow({ id: 'chain', inputSchema: schema, outputSchema: schema })
for (let i = 0; i < steps; i++) {
  const execute = async ({ inputData }: Input) => ({ n: inputData.n + 1, payload })
  flow = flow.then(createStep({ id: `s${i}`, inputSchema: schema, outputSchema: schema, execute }))
}
const storage = new LibSQLStore({ id: 'chain', url: `file:${file}` })
const mastra = new Mastra({ workflows: { chain: flow.commit() }, logger: false, storage })
await mastra.getStorage().init()

async function run(): Promise<void> {
  const begun = await mastra.getWorkflow('chain').createRun()
  const { status } = await begun.start({ inputData: { n: 0, payload } })
  if (status !== 'success') throw new Error(`Mastra answers ${status}`)
}
await rate(16, 8, run)
console.log(JSON.stringify(await rate(Number(runs), atOnce, run)))
process.exit()
