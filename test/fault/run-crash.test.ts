/**
 * A run killed at every one of its events, before and after it reached the disk: resumed, it ends
 * as if nothing had happened.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { JsonObject, Plan } from '#model'
import { caller, done, effects, openSpace, root, type Workspace, workspace } from '#test'
import type { Verbs } from '#verbs'

/** `events` is how many an uninterrupted run has at least: each of them is a place to die at. */
type Case = { plan: Plan; expected: unknown; adds: number; pays: number; events: number; config?: object }

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

/**
 * Nasty ones: what is never awaited, what is caught, what loses a race, what is repeated, what is
 * secret.
 */
const more: Record<string, Case> = {
  'a race whose loser is awaited all the same': {
    plan: {
      kind: 'code',
      code: `const slow = mcp.fx.add({ key: 'slow', by: 1, ms: 30 })
             const first = await Promise.race([slow.then(() => 'slow'), mcp.fx.read({ key: 'none' }).then(() => 'read'), sleep(60_000).then(() => 'timer')])
             mcp.fx.add({ key: 'never awaited', by: 2 })
             return first === 'read' || first === 'slow'`,
    },
    expected: true,
    adds: 2,
    pays: 0,
    events: 12,
  },
  'allSettled with errors that are caught, thrown and counted': {
    plan: {
      kind: 'code',
      code: `const all = await Promise.allSettled([mcp.fx.add({ key: 'a', by: 1 }), mcp.fx.flaky({ key: 'f', failures: 99 }), tool('fx:none', {}), mcp.fx.pay({ account: 'x', amount: 1 })])
             const codes = all.map((one) => one.status === 'fulfilled' ? 'ok' : one.reason.code)
             try { await mcp.fx.flaky({ key: 'g', failures: 99 }) } catch (error) { codes.push(error.code); await mcp.fx.add({ key: 'after ' + error.code, by: 1 }) } finally { await mcp.fx.add({ key: 'finally', by: 1 }) }
             return codes`,
    },
    expected: ['ok', 'TOOL_ERROR', 'TOOL_NOT_FOUND', 'ok', 'TOOL_ERROR'],
    adds: 3,
    pays: 1,
    events: 21,
  },
  'timers that overlap, are cleared, and tick': {
    plan: {
      kind: 'code',
      code: `const seen = []
             setTimeout(() => seen.push('one'), 20); const off = setTimeout(() => seen.push('never'), 40); clearTimeout(off)
             await new Promise((done) => { let n = 0; const id = setInterval(() => { if (++n === 3) { clearInterval(id); done() } else mcp.fx.add({ key: 'tick' + n, by: n }).then(() => seen.push('tick' + n)) }, 15) })
             await sleep(30)
             const { total } = await mcp.fx.add({ key: seen.toSorted().join(), by: 7 })
             return [seen.includes('never'), total]`,
    },
    expected: [false, 7],
    adds: 3,
    pays: 0,
    events: 21,
  },
  'a graph with forEach, a condition, a retry and two programs': {
    plan: {
      kind: 'dag',
      tasks: [
        {
          id: 'list',
          type: 'code_execution',
          code: `return args.names.map((key, by) => ({ key, by: by + 1 }))`,
          arguments: { names: ['p', 'q', 'r'] },
        },
        {
          id: 'each',
          tool: 'fx:add',
          arguments: { key: { $item: '/key' }, by: { $item: '/by' } },
          forEach: { $from: 'list', path: '' },
        },
        { id: 'shaky', tool: 'fx:flaky', arguments: { key: 'x', failures: 1 }, retry: { max: 10, backoffMs: 1 } },
        {
          id: 'skipped',
          tool: 'fx:add',
          arguments: { key: 'no', by: 9 },
          when: { $from: 'list', path: '/0/by', equals: 2 },
        },
        {
          id: 'work',
          type: 'code_execution',
          code: `sleep(500); const first = await mcp.fx.add({ key: 'inner', by: args.sum }); await mcp.fx.pay({ account: 'y', amount: first.total }); return first.total`,
          arguments: { sum: { $from: 'each', path: '/2/total' }, after: { $from: 'shaky', path: '/attempts' } },
        },
      ],
    },
    expected: { work: 3 },
    adds: 4,
    pays: 1,
    events: 29,
  },
  'a secret that travels from one call to the next': {
    plan: {
      kind: 'code',
      code: `const { value } = await mcp.fx.read({ key: 'token' })
             await mcp.fx.put({ key: 'token', value: 'sk-' + 'a'.repeat(24) })
             const again = await mcp.fx.read({ key: 'token' })
             const kept = await mcp.fx.add({ key: 'bearer ' + again.value, by: 1 })
             return [value, again.value.includes('sk-'), kept.total]`,
    },
    expected: [null, false, 1],
    adds: 1,
    pays: 0,
    events: 13,
    config: { record: { secrets: ['sk-[a-z]{20,}'] } },
  },
}

for (const [name, one] of Object.entries({ ...cases, ...more })) {
  test(`${name} survives a kill at each event`, { timeout: 600_000 }, async (t) => {
    const boundaries = Array.from({ length: one.events - 1 }, (_, index) => index + 2)
    const rounds = boundaries.flatMap((boundary) =>
      (['before', 'after'] as const).map((moment) => ({ boundary, moment })),
    )
    const step = name in cases ? 3 : 6
    const chosen = rounds.filter((_, index) => everything || index % step === 0)
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
  const space = workspace(t, { env: { LAG: '5' }, config: one.config ?? {} })
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

/**
 * Resumes, and settles what is in doubt as the witness has seen it. Null where no run came to be.
 */
async function goOn(verbs: Verbs, space: Workspace): Promise<JsonObject | null> {
  const [found] = verbs.runs()
  if (found === undefined) return null
  const run = String(found.run)
  assert.ok(['interrupted', 'done'].includes(String(found.status)), String(found.status))
  let answer = await verbs.resume(run, caller)
  for (let turn = 0; turn < 10 && answer.status === 'uncertain'; turn++) {
    const [call] = answer.calls as unknown as { call: string; tool: string; args: { key: string; by: number } }[]
    assert.equal(call!.tool, 'fx:add', 'only an unsafe call is ever in doubt')
    const happened = done(space, 'add').some(({ args }) => args.key === trueKey(call!.args.key))
    const value = { key: call!.args.key, total: call!.args.by }
    answer = await verbs.settle(run, call!.call, happened ? { how: 'done', value } : { how: 'again' }, caller, true)
  }
  return answer
}

/** The witness knows what the record does not. */
function trueKey(key: string): string {
  return key.replace(/«secret:[0-9a-f]{32}»/, `sk-${'a'.repeat(24)}`)
}

/** Whether a keyed call was repeated is the one thing that a crash may change. */
function withoutRepeated(result: unknown): unknown {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return result
  const { repeated: _, ...rest } = result as Record<string, unknown>
  return rest
}
