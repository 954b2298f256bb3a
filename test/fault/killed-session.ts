/**
 * A process that pursues a session and kills itself with SIGKILL at a chosen event of it: before it
 * is on disk, or just after.
 */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { newPlan, sessionKit } from '#agent'
import { type JsonObject, parseConfig } from '#model'
import { openStore } from '#record'
import { openVerbs } from '#verbs'
import { type Death, deadlyStore } from './deadly-store.ts'

type Order = Death & {
  file: string
  home: string
  goal: string
  workspace: string
  model: string
  protocol: 'rebound' | 'tool_code'
}

const order = JSON.parse(process.argv[2]!) as Order
const { file, home } = order
const config = parseConfig({ file, text: readFileSync(file, 'utf8'), home, env: process.env, directory: dirname(file) })
const store = deadlyStore(await openStore({ home }), order)
const verbs = await openVerbs(config, { path: process.env.PATH!, sessions: async () => sessionKit }, store)
const { goal, workspace, model, protocol } = order
const plan = await newPlan({ goal, workspace, model, protocol }, config)
const caller = { actor: { kind: 'cli' as const, name: 'test' }, waitMs: null }
await verbs.pursue({ plan: plan as unknown as JsonObject, goal }, caller)
await verbs.close()
