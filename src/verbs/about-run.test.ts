/**
 * Answers that break on purpose: whatever fails after a run has begun, its caller learns the run's
 * id and is not told to send it again.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { noAdviser, openCapabilities } from '#learn'
import { AppError, errorAnswer, type JsonObject, parseConfig, RunError, type RunId, toAppError } from '#model'
import type { Store } from '#record'
import { loadEngine } from '#run'
import { caller, done, metier, openSpace, workspace } from '#test'
import { type Caller, execute, type Parts, resume } from '#verbs/execute'
import { openGenerations } from './generations.ts'

const pay = `await mcp.fx.add({ key: 'a', by: 1 });`
const rules = [{ tool: 'fx:add', args: { '/key': 'a' }, then: 'allow' }]
const asking = { config: { policy: { permissions: 'standard', rules } } }

/** What stands between a run and its answer. */
const broken: Record<string, (fail: () => never) => Partial<Store>> = {
  'its events': (fail) => ({ events: fail }),
  'its row': (fail) => ({ run: fail }),
  'its row and its events': (fail) => ({ run: fail, events: fail }),
  'a member of an event': (fail) => ({ value: fail, previewText: fail, text: fail }),
  'its inbox': (fail) => ({ inbox: fail }),
}

const faults: Record<string, () => unknown> = {
  'a bug': () => new RangeError('Maximum call stack size exceeded'),
  'a failure that may be repeated': () => new AppError('STORE_FULL', 'Cannot read the record: the disk is full'),
}

/**
 * The parts of execute(), with a store that can be made to fail where the engine still has a whole
 * one.
 */
async function openParts(t: TestContext) {
  const space = workspace(t, asking)
  const { store } = await openSpace(space)
  const text = readFileSync(space.file, 'utf8')
  const config = parseConfig({ file: space.file, text, home: space.home, env: process.env, directory: space.folder })
  const { openEngine } = await loadEngine()
  const baseEnv = { PATH: process.env.PATH! }
  const generations = openGenerations(config, {
    store,
    baseEnv,
    log: () => {},
    settled: () => {},
    openEngine,
    capabilities: openCapabilities(store, () => false),
    kit: null,
  })
  const { catalog, engine } = generations
  t.after(() => engine.close().then(() => generations.close()))
  const parts: Parts = {
    store,
    engine,
    catalog,
    policy: config.policy,
    adviser: noAdviser,
    minConfidence: null,
    leaving: new AbortController().signal,
  }
  return { space, store, parts }
}

/** As it leaves: an answer, or an error as an answer. */
async function leaving(answer: Promise<JsonObject>): Promise<JsonObject> {
  const value = await answer.catch((thrown) => errorAnswer(toAppError(thrown)))
  return JSON.parse(JSON.stringify(value))
}

for (const [what, breakStore] of Object.entries(broken)) {
  for (const [how, fault] of Object.entries(faults)) {
    test(`execute() names the run and says no retry where ${how} keeps it from reading ${what}`, async (t) => {
      const { space, store, parts } = await openParts(t)
      const fail = () => {
        throw fault()
      }
      for (const code of [`${pay} return 'paid'`, `${pay} await mcp.fx.add({ key: 'b', by: 1 })`]) {
        const faulty: Parts = { ...parts, store: { ...store } }
        let begun: RunId | null = null
        const watching: Caller = {
          ...caller,
          began: (run) => {
            begun = run
            Object.assign(faulty.store, breakStore(fail as () => never))
          },
        }
        const answer = await leaving(execute(faulty, { implementation: { type: 'code', code } }, watching))
        assert.equal(answer.run, begun, JSON.stringify(answer))
        assert.notEqual((answer.error as JsonObject | undefined)?.fate, 'retry')
        const again = await leaving(resume(faulty, begun!, caller, null))
        assert.deepEqual([again.run, (again.error as JsonObject | undefined)?.fate === 'retry'], [begun, false])
        assert.ok(['done', 'approval_required'].includes(store.run(begun!)!.status), 'the record has its outcome')
      }
      assert.equal(done(space, 'add').length, 2, 'one effect of each run')
    })
  }
}

test('an error about a run says in words which run it is about, and what to do instead of a retry', () => {
  const error = new RunError('the-run', 'done', new RangeError('Maximum call stack size exceeded'))
  assert.deepEqual([error.code, error.fate, error.context], ['TOOL_INTERNAL_ERROR', 'give_up', { run: 'the-run' }])
  assert.match(
    error.message,
    /^Cannot make the answer: Maximum call.*The run the-run is done: resume it, and do not send/,
  )
  const wrong = new RunError('the-run', 'done', new AppError('MISSING_REQUIRED_PARAM', 'Cannot go on', { param: 'x' }))
  assert.deepEqual(
    [wrong.fate, wrong.message, wrong.context],
    ['correct', 'Cannot go on', { param: 'x', run: 'the-run' }],
  )
})

test('every verb names the run whose blob is gone from the disk', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  const { run } = await verbs.execute(
    { implementation: { type: 'code', code: `${pay} return 'x'.repeat(100_000)` } },
    caller,
  )
  const folder = join(space.home, 'blobs')
  for (const name of readdirSync(folder)) rmSync(join(folder, name))
  const id = String(run)
  const said = [
    verbs.resume(id, caller),
    verbs.result({ run: id }, caller),
    verbs.execute({ resume: id }, caller),
    (async () => verbs.run(id))(),
    (async () => verbs.answer(id))(),
  ]
  for (const answer of await Promise.all(said.map(leaving))) {
    assert.deepEqual([answer.run, answer.status, (answer.error as JsonObject).code], [run, 'done', 'LEDGER_BROKEN'])
  }
  const { json, code } = await metier(space, ['run', 'show', id, '--json'])
  assert.deepEqual([json.run, json.error.code, code], [run, 'LEDGER_BROKEN', 7])
})

test('a failed run says retry only where nothing but reads was sent', async (t) => {
  const verbs = await openSpace(workspace(t, { config: { policy: { permissions: 'privileged', rules: [] } } }))
  const late = { id: 'late', tool: 'fx:wait', arguments: { ms: 5000 }, timeoutMs: 100 }
  const add = { id: 'add', tool: 'fx:add', arguments: { key: 'a', by: 1 } }
  for (const [tasks, wanted] of [
    [[late], 'retry'],
    [[add, { ...late, dependsOn: ['add'] }], 'give_up'],
  ] as const) {
    const answer = await verbs.execute({ implementation: { type: 'dag', tasks } }, caller)
    const { code, fate } = answer.error as JsonObject
    assert.deepEqual([answer.status, code, fate], ['failed', 'CALL_TIMEOUT', wanted], JSON.stringify(answer))
    const page = await leaving(verbs.result({ run: answer.run }, caller))
    assert.deepEqual([page.run, (page.error as JsonObject).code], [answer.run, code])
    assert.notEqual((page.error as JsonObject).fate, 'retry')
  }
})
