/**
 * The mission once for each of its events and moments: a process that kills itself there, and the
 * run resumed in this one. Then all of them are counted.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { JsonObject } from '#model'
import { caller, metier, openSpace, type TestVerbs, type Workspace } from '#test'
import type { Order } from './killed.ts'
import { missionProgram } from './program.ts'

const allMissions = `
const found = []
for (let offset = 0; offset !== null; ) {
  const { missions, next } = await tool('metier:list_missions', { limit: 500, offset })
  found.push(...missions.filter(({ name }) => name.startsWith(args.prefix)))
  offset = next
}
const isWhole = ({ status, tasks }) => status === 'DONE' && JSON.stringify(tasks) === '{"DONE":3}'
const names = new Set(found.map(({ name }) => name)).size
return { missions: found.length, names, broken: found.filter((one) => !isWhole(one)).map(({ name }) => name) }`

const allTasks = `
const { tasks } = await tool('metier:list_tasks', { missionID: args.missionID })
return tasks.map(({ name, producedArtifactIDs = [], dependencyTaskIDs = [] }) =>
  [name, producedArtifactIDs.length, dependencyTaskIDs.length])`

const execute = (verbs: TestVerbs, code: string, args: JsonObject) =>
  verbs.execute({ implementation: { type: 'code', code }, args }, caller)

export async function killedAtEveryEvent(
  space: Workspace,
  tier: string,
): Promise<{ boundaries: number; runs: number }> {
  const verbs = await openSpace(space)
  const prefix = `each event of ${space.folder}`
  const stored = await artifacts(space)
  const whole = await execute(verbs, missionProgram, { name: prefix, tier })
  const boundaries = verbs.lines(String(whole.run)).length
  const names = [prefix]
  await check(verbs, whole, 'without a kill')
  for (let boundary = 1; boundary <= boundaries; boundary++) {
    for (const moment of ['before', 'after'] as const) {
      const name = `${prefix}, ${moment} ${boundary}`
      const args = { name, tier }
      const last = newest(verbs)
      await dies({ file: space.file, home: space.home, code: missionProgram, args, boundary, moment })
      const run = newest(verbs)
      if (run !== last) {
        names.push(name)
        await check(verbs, await verbs.resume(run, caller), name)
      } else assert.ok(boundary <= 3 && moment === 'before', `${name}: only its first events go to disk together`)
    }
  }
  const counted = (await execute(verbs, allMissions, { prefix })).result
  const expected = { missions: names.length, names: names.length, broken: [] }
  assert.deepEqual(counted, expected, 'one mission a run, three tasks a mission')
  assert.equal((await artifacts(space)) - stored, 2 * names.length, 'two artifacts a run')
  assert.equal((await verbs.ledger()).ok, true)
  await verbs.close()
  return { boundaries, runs: names.length }
}

async function check(verbs: TestVerbs, { status, result, ...rest }: JsonObject, name: string): Promise<void> {
  assert.equal(status, 'done', `${name}: ${JSON.stringify(rest)}`)
  const { last, missionID } = result as { last: string; missionID: string }
  assert.equal(last, '42', name)
  const tasks = (await execute(verbs, allTasks, { missionID })).result
  assert.deepEqual(tasks, [
    ['collect', 1, 0],
    ['add up', 0, 1],
    ['report', 0, 1],
  ])
}

/** The process that runs the program ends by its own SIGKILL, and by nothing else. */
async function dies(order: Order): Promise<void> {
  const words = [join(import.meta.dirname, 'killed.ts'), JSON.stringify(order)]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'inherit'] })
  const signal = await new Promise((resolve) => child.once('close', (_, signal) => resolve(signal)))
  assert.equal(signal, 'SIGKILL', `${order.moment} event ${order.boundary}: it came to its end`)
}

async function artifacts(space: Workspace): Promise<number> {
  return (await metier(space, ['artifacts', '--json'])).json.length
}

function newest(verbs: TestVerbs): string {
  return String(verbs.runs({ limit: 1 })[0]!.run)
}
