/**
 * Programs that were really run: the flows that are read from their record are those that they
 * have, though all values collide; and the graph that is rebuilt from a record, executed in a dry
 * run against it, ends with the recorded result.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { DagTask } from '#model'
import { caller, openSpace, root, smallProgram, type TestVerbs, workspace } from '#test'

const many = process.env.LONG === '1' ? 1000 : 40
/** So many that one wrong flow of a sample weighs no more than the bar allows. */
const measured = process.env.LONG === '1' ? 1000 : 400
const small = { command: process.execPath, args: [join(root, 'test', 'servers', 'small.ts')] }

type Flow = { from: { call: string; path: string }; to: { call: string; path: string }; how: string }
type About = { flows: Flow[]; dag: { tasks?: DagTask[]; why?: string; fixed?: string[] } }

async function ran(verbs: TestVerbs, code: string, intent: string) {
  const answer = await verbs.execute({ intent, implementation: { type: 'code', code } }, caller)
  assert.equal(answer.status, 'done', `${code}\n${JSON.stringify(answer.error)}`)
  const about = (await verbs.learning()).aboutRun(String(answer.run)) as unknown as About
  return { answer, about }
}

const open = (t: Parameters<typeof workspace>[0]) =>
  openSpace(workspace(t, { config: { mcpServers: { small }, policy: { permissions: 'privileged', rules: [] } } }))

const said = ({ from, to, how }: Flow) => `${from.call}${how === 'computed' ? '' : from.path} > ${to.call}${to.path}`

test(`the flows of ${measured} executed programs are exact, with small colliding values`, {
  timeout: 900_000,
}, async (t) => {
  const verbs = await open(t)
  let [right, found, meant] = [0, 0, 0]
  const wrong: string[] = []
  for (let seed = 1; seed <= measured; seed++) {
    const { code, intent, flows } = smallProgram(seed, true)
    const { about } = await ran(verbs, code, intent)
    const seen = new Set(about.flows.map(said))
    const both = seen.intersection(new Set(flows))
    if (both.size < Math.max(seen.size, new Set(flows).size))
      wrong.push(
        `${seed}\n${code}\nmissing ${[...new Set(flows).difference(seen)]}\ninvented ${[...seen.difference(new Set(flows))]}`,
      )
    right += both.size
    found += seen.size
    meant += new Set(flows).size
  }
  const f1 = (200 * right) / (found + meant)
  t.diagnostic(`F1 ${f1.toFixed(2)}: ${right} right of ${found} found and ${meant} meant`)
  assert.ok(f1 >= 99.9, `F1 ${f1.toFixed(2)}\n${wrong.slice(0, 5).join('\n\n')}`)
})

test(`the rebuilt graphs of ${many} programs give the recorded results in a dry run`, {
  timeout: 900_000,
}, async (t) => {
  const verbs = await open(t)
  let fixed = 0
  for (let seed = 1; seed <= many; seed++) {
    const { code, intent } = smallProgram(seed, false)
    const { answer, about } = await ran(verbs, code, intent)
    const { tasks, why } = about.dag
    assert.ok(tasks !== undefined, `${code}\n${why}`)
    fixed += about.dag.fixed!.length
    const rerun = await verbs.execute({ implementation: { type: 'dag', tasks }, mode: 'dry-run' }, caller)
    const shown = `${code}\n${JSON.stringify(tasks, null, 1)}\n${JSON.stringify(rerun.error)}`
    assert.deepEqual([rerun.status, rerun.result], ['done', answer.result], shown)
  }
  t.diagnostic(`${fixed} values stand as they were recorded`)
  assert.equal(fixed, 0)
})
