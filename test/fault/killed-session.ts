/**
 * A process that pursues a session and kills itself with SIGKILL at a chosen event of it: before it
 * is on disk, or just after.
 */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { newPlan, sessionKit } from '#agent'
import { type JsonObject, parseConfig } from '#model'
import { type Chain, openStore, type Store } from '#record'
import { openVerbs } from '#verbs'

type Order = {
  file: string
  home: string
  goal: string
  workspace: string
  model: string
  protocol: 'rebound' | 'tool_code'
  boundary: number
  moment: 'before' | 'after'
}

const order = JSON.parse(process.argv[2]!) as Order
const { file, home, boundary, moment } = order
const config = parseConfig({ file, text: readFileSync(file, 'utf8'), home, env: process.env, directory: dirname(file) })
const die = () => process.kill(process.pid, 'SIGKILL')

/** The last event of a run has a function of its own. */
function deadly(chain: Chain): Chain {
  let events = 1
  const reach = (onDisk: () => Promise<void>): void => {
    if (events !== boundary) return
    if (moment === 'before') die()
    else void onDisk().then(die)
  }
  reach(() => chain.durable())
  const append: Chain['append'] = (type, body) => {
    const place = chain.append(type, body)
    events += 1
    reach(() => chain.durable())
    return place
  }
  const finish: Chain['finish'] = (body) => {
    const finished = chain.finish(body)
    events += 1
    reach(() => finished)
    return finished
  }
  return { ...chain, append, finish }
}

const store = await openStore({ home })
const watched: Store = { ...store, startRun: (run, body) => deadly(store.startRun(run, body)) }
const verbs = await openVerbs(config, { path: process.env.PATH!, sessions: async () => sessionKit }, watched)
const { goal, workspace, model, protocol } = order
const plan = await newPlan({ goal, workspace, model, protocol }, config)
const caller = { actor: { kind: 'cli' as const, name: 'test' }, waitMs: null }
await verbs.pursue({ plan: plan as unknown as JsonObject, goal }, caller)
await verbs.close()
