/**
 * A process that runs a plan and kills itself with SIGKILL at a chosen event of the run: before it
 * is on disk, or just after.
 */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { openCatalog } from '#catalog'
import { type Plan, parseConfig } from '#model'
import { openStore } from '#record'
import { loadEngine } from '#run'
import { openBoxes } from '#sandbox'
import { deadlyStore } from './deadly-store.ts'

const { openEngine } = await loadEngine()

const [file, home, planText, boundary, moment] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  'before' | 'after',
]
const config = parseConfig({ file, text: readFileSync(file, 'utf8'), home, env: process.env, directory: dirname(file) })
const store = deadlyStore(await openStore({ home }), { boundary: Number(boundary), moment })
const catalog = openCatalog({
  servers: config.servers,
  folder: `${home}/catalog`,
  baseEnv: { PATH: process.env.PATH! },
})
const boxes = openBoxes({})
const engine = openEngine({ store, boxes, catalog, config })
const request = {
  plan: JSON.parse(planText) as Plan,
  intent: null,
  args: {},
  actor: { kind: 'cli', name: 'test' } as const,
}
const { settled } = await engine.start(request)
await settled
await Promise.all([boxes.close(), catalog.close()])
await store.close()
