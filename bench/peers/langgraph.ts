/**
 * The chain on LangGraph: ten nodes, a checkpoint in SQLite before each next one. `node langgraph
 * FOLDER FILE RUNS`.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { atOnce, payload, rate, steps } from './chain.ts'

const [folder, file, runs] = process.argv.slice(2) as [string, string, string]
const require = createRequire(join(folder, 'package.json'))
const load = (name: string) => import(pathToFileURL(require.resolve(name)).href)
const { StateGraph, Annotation, START, END } = await load('@langchain/langgraph')
const { SqliteSaver } = await load('@langchain/langgraph-checkpoint-sqlite')

const newest = (first: unknown) => Annotation({ reducer: (_: unknown, next: unknown) => next, default: () => first })
let graph = new StateGraph(Annotation.Root({ n: newest(0), payload: newest('') }))
for (let i = 0; i < steps; i++) {
  graph = graph.addNode(`s${i}`, async ({ n }: { n: number }) => ({ n: n + 1, payload }))
}
graph = graph.addEdge(START, 's0')
for (let i = 1; i < steps; i++) graph = graph.addEdge(`s${i - 1}`, `s${i}`)
const app = graph.addEdge(`s${steps - 1}`, END).compile({ checkpointer: SqliteSaver.fromConnString(file) })

let threads = 0
const run = () => {
  threads += 1
  return app.invoke({ n: 0 }, { configurable: { thread_id: `t${threads}` }, durability: 'sync' })
}
await rate(64, 8, run)
console.log(JSON.stringify(await rate(Number(runs), atOnce, run)))
process.exit()
