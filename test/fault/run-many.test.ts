/**
 * Many runs that wait for a human outlive the process that asked: another one answers them in any
 * order, and each effect happens once.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '#model'
import { caller, dice, done, openSpace, root, type Workspace, workspace } from '#test'
import type { Verbs } from '#verbs'

const count = process.env.LONG === '1' ? 1000 : 100
const seed = Number(process.env.SEED ?? 1)

/**
 * Every second one is a graph; each puts first, then asks twice at once for the same tool, then
 * adds up.
 */
function requestOf(i: number): JsonObject {
  const code = `await mcp.fx.put({ key: 'k${i}', value: ${i} })
    const [a, b] = await Promise.allSettled([mcp.fx.add({ key: 'a${i}', by: 1 }), mcp.fx.add({ key: 'b${i}', by: 2 })])
    return [a.value?.total ?? a.reason.code, b.value?.total ?? b.reason.code]`
  const task = (id: string, by: number) => ({
    id,
    tool: 'fx:add',
    arguments: { key: `${id}${i}`, by },
    dependsOn: ['p'],
  })
  const tasks = [{ id: 'p', tool: 'fx:put', arguments: { key: `k${i}`, value: i } }, task('a', 1), task('b', 2)]
  const implementation = i % 2 === 0 ? { type: 'code', code } : { type: 'dag', tasks }
  return { intent: String(i), implementation } as unknown as JsonObject
}

/** Starts the runs in another process and kills it when all of them wait. */
async function startAndKill(t: TestContext, space: Workspace): Promise<void> {
  const plans = join(space.folder, 'plans.json')
  writeFileSync(plans, JSON.stringify(Array.from({ length: count }, (_, i) => requestOf(i))))
  const script = join(root, 'test', 'fault', 'waiting-runs.ts')
  const child = spawn(process.execPath, [script, space.file, space.home, plans], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [said] = await once(child.stdout, 'data')
  const { statuses, residentBytes } = JSON.parse(String(said))
  t.diagnostic(`${count} runs waited in a process of ${Math.round(residentBytes / 2 ** 20)} MB`)
  assert.deepEqual(statuses, ['approval_required'])
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

type Approval = { id: string; run: string; call: string; tool: string }

/**
 * Answers in an order of the dice; of some graphs nothing is denied, because a denial fails them.
 */
async function answerAll(verbs: Verbs, roll: () => number): Promise<Set<string>> {
  const open = verbs.approvals() as unknown as Approval[]
  assert.equal(open.length, 2 * count, 'every run asks twice')
  const denied = new Set<string>()
  for (const { approval } of open.map((approval) => ({ approval, at: roll() })).sort((a, b) => a.at - b.at)) {
    const isDenied = roll() < 0.1
    const answer = isDenied ? ({ answer: 'denied', reason: 'no' } as const) : ({ answer: 'approved' } as const)
    await verbs.decide(approval.id, answer, { ...caller, waitMs: 0 }, true).catch((error) => {
      if (!denied.has(approval.run)) throw error
    })
    if (isDenied) denied.add(approval.run)
  }
  return denied
}

test(`${count} runs that wait survive kill -9 and go on exactly, seed ${seed}`, { timeout: 1_200_000 }, async (t) => {
  const config = {
    policy: {
      rules: [
        { tool: 'fx:put', then: 'allow' },
        { tool: 'fx:add', then: 'ask' },
      ],
    },
  }
  const space = workspace(t, { config })
  await startAndKill(t, space)
  const verbs = await openSpace(space)
  const denied = await answerAll(verbs, dice(seed))
  const answers = await Promise.all(verbs.runs().map(({ run }) => verbs.resume(String(run), caller)))
  assert.equal(answers.length, count)
  const added = done(space, 'add').map(({ args }) => args.key)
  assert.equal(new Set(added).size, added.length, 'no effect happened twice')
  assert.equal(done(space, 'put').length, count, 'what was done before was not done again')
  for (const answer of answers) {
    if (denied.has(String(answer.run))) continue
    assert.equal(answer.status, 'done', JSON.stringify(answer))
  }
  const approved = answers.filter(({ run }) => !denied.has(String(run))).length
  assert.ok(added.length >= 2 * approved, 'no effect was lost')
  assert.equal((await verbs.ledger()).ok, true)
})
