/** A run killed at every one of its events, before and after it reached the disk: resumed, it ends as if nothing had happened. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { JsonObject, Plan } from '#model'
import { caller, done, effects, openSpace, root, type Workspace, workspace } from '#test'
import type { Verbs } from '#verbs'

type Case = { plan: Plan; expected: unknown; adds: number; pays: number; events: number }

const cases: Record<string, Case> = {
  'a program with parallel, keyed, read and timed calls': {
    plan: {
      kind: 'code',
      code: `const one = mcp.fx.add({ key: 'a', by: 1, ms: 5 })
             const two = mcp.fx.add({ key: 'b', by: 2 })
             const seen = await Promise.all([one, mcp.fx.read({ key: 'none' }), two, mcp.fx.pay({ account: 'x', amount: 3 })])
             await sleep(5)
             const name = 'c' + Math.floor(Math.random() * 1e6) + '@' + Date.now()
             const last = await mcp.fx.add({ key: name, by: seen[0].total + seen[2].total })
             return [seen[1].value, seen[3].amount, last.total, last.key === name]`,
    },
    expected: [null, 3, 3, true],
    adds: 3,
    pays: 1,
    events: 18,
  },
  'a graph that fans out and in': {
    plan: {
      kind: 'dag',
      tasks: [
        { id: 'a', tool: 'fx:add', arguments: { key: 'a', by: 1 } },
        { id: 'b', tool: 'fx:add', arguments: { key: 'b', by: 2, ms: 5 } },
        { id: 'p', tool: 'fx:pay', arguments: { account: 'x', amount: { $from: 'a', path: '/total' } } },
        { id: 'z', tool: 'fx:add', arguments: { key: 'z{{p/amount}}', by: { $from: 'b', path: '/total' } } },
      ],
    },
    expected: { key: 'z1', total: 2 },
    adds: 3,
    pays: 1,
    events: 13,
  },
  'a graph with a program inside': {
    plan: {
      kind: 'dag',
      tasks: [
        { id: 'a', tool: 'fx:add', arguments: { key: 'a', by: 1 } },
        {
          id: 'work',
          type: 'code_execution',
          code: `const [x, y] = await Promise.all([mcp.fx.add({ key: 'x', by: args.n }), mcp.fx.add({ key: 'y' + args.n, by: 5, ms: 5 })]); await sleep(1); return x.total + y.total`,
          arguments: { n: { $from: 'a', path: '/total' } },
        },
        { id: 'p', tool: 'fx:pay', arguments: { account: 'x', amount: { $from: 'work' } } },
      ],
    },
    expected: { account: 'x', amount: 6 },
    adds: 3,
    pays: 1,
    events: 17,
  },
}

const everything = process.env.LONG === '1'

for (const [name, one] of Object.entries(cases)) {
  test(`${name} survives a kill at each event`, { timeout: 600_000 }, async (t) => {
    const boundaries = Array.from({ length: one.events - 1 }, (_, index) => index + 2)
    const rounds = boundaries.flatMap((boundary) =>
      (['before', 'after'] as const).map((moment) => ({ boundary, moment })),
    )
    const chosen = rounds.filter((_, index) => everything || index % 3 === 0)
    const lanes = [chosen.filter((_, index) => index % 2 === 0), chosen.filter((_, index) => index % 2 === 1)]
    const killed: boolean[] = []
    const walk = async (lane: typeof chosen) => {
      for (const { boundary, moment } of lane) killed.push(await round(t, one, boundary, moment))
    }
    await Promise.all(lanes.map(walk))
    assert.deepEqual(killed, Array(chosen.length).fill(true), 'every round was killed where it was meant to be')
  })
}

async function round(t: TestContext, one: Case, boundary: number, moment: 'before' | 'after'): Promise<boolean> {
  const space = workspace(t, { env: { LAG: '5' } })
  const where = `killed ${moment} event ${boundary}`
  const signal = await start(space, one.plan, boundary, moment)
  const verbs = await openSpace(space)
  try {
    const answer = await goOn(verbs, space)
    if (answer === null) assert.equal(effects(space).length, 0, `${where}: nothing happened off the record`)
    else {
      assert.equal(answer.status, 'done', `${where}: ${JSON.stringify(answer)}`)
      assert.deepEqual(withoutRepeated(answer.result), one.expected, where)
      assert.equal(done(space, 'add').length, one.adds, `${where}: each unsafe effect once`)
      const keys = done(space, 'pay').map(({ args }) => args.idempotency_key)
      assert.equal(new Set(keys).size, one.pays, `${where}: each keyed effect once`)
      assert.equal(keys.length, one.pays, `${where}: each keyed effect once`)
    }
    assert.deepEqual((await verbs.ledger()).reason, undefined, where)
  } finally {
    await verbs.close()
  }
  return signal === 'SIGKILL'
}

async function start(space: Workspace, plan: Plan, boundary: number, moment: string): Promise<NodeJS.Signals | null> {
  const script = join(root, 'test', 'fault', 'killed-run.ts')
  const words = [script, space.file, space.home, JSON.stringify(plan), String(boundary), moment]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'inherit'] })
  return new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))
}

/** Resumes, and settles what is in doubt as the witness has seen it. Null where no run came to be. */
async function goOn(verbs: Verbs, space: Workspace): Promise<JsonObject | null> {
  const [found] = verbs.runs()
  if (found === undefined) return null
  const run = String(found.run)
  assert.ok(['interrupted', 'done'].includes(String(found.status)), String(found.status))
  let answer = await verbs.resume(run, caller)
  for (let turn = 0; turn < 10 && answer.status === 'uncertain'; turn++) {
    const [call] = answer.calls as { call: string; tool: string; args: { key: string; by: number } }[]
    assert.equal(call!.tool, 'fx:add', 'only an unsafe call is ever in doubt')
    const happened = done(space, 'add').some(({ args }) => args.key === call!.args.key)
    const value = { key: call!.args.key, total: call!.args.by }
    answer = await verbs.settle(run, call!.call, happened ? { how: 'done', value } : { how: 'again' }, caller, true)
  }
  return answer
}

/** Whether a keyed call was repeated is the one thing that a crash may change. */
function withoutRepeated(result: unknown): unknown {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return result
  const { repeated: _, ...rest } = result as Record<string, unknown>
  return rest
}
