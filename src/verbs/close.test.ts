/** The end of a process: what was about to begin is left in order, or never began. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '#model'
import { caller, openSpace, workspace } from '#test'

const outcome = (answer: Promise<JsonObject>) =>
  answer.then(
    ({ status }) => String(status),
    ({ code }) => String(code),
  )

test('close() ends in order whenever a run is about to begin, and what began can be resumed', {
  timeout: 60_000,
}, async (t) => {
  const space = workspace(t)
  for (const ms of [0, 2, 16]) {
    const verbs = await openSpace(space)
    const plan = (code: string) => ({ implementation: { type: 'code', code } })
    await verbs.execute(plan('return 1'), caller)
    const outcomes = Array.from({ length: 4 }, (_, i) => {
      const key = i % 2 === 0 ? {} : { key: `${ms} ${i}` }
      return outcome(verbs.execute({ ...plan(`await sleep(600000); return ${i}`), ...key }, caller))
    })
    await pause(ms)
    const closed = verbs.close()
    outcomes.push(outcome(verbs.execute(plan('await sleep(600000)'), caller)))
    await closed
    for (const said of await Promise.all(outcomes)) {
      assert.ok(['running', 'CANCELLED', 'UPSTREAM_UNREACHABLE'].includes(said), `${said} after ${ms} ms`)
    }
  }
  const verbs = await openSpace(space)
  for (const { run, status } of verbs.runs()) assert.ok(['interrupted', 'done'].includes(String(status)), String(run))
})
