/**
 * What is known of boxes without starting one: killed ones are started again, and a lasting failure
 * is named.
 */
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { AppError } from '#model'
import { watchHealth } from './box-health.ts'
import { resultOf } from './play.test.ts'
import { openBoxes } from './sandbox.ts'
import { spawnFailure } from './start-box.ts'

/** Node, but for the first starts that count, which are killed. */
function killedNode(t: TestContext, starts: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'metier-killed-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'node')
  const script = `#!/bin/sh
[ -e "$0.${starts}" ] && exec "${process.execPath}" "$@"
n=1; while [ -e "$0.$n" ]; do n=$((n + 1)); done; : >"$0.$n"
kill -s KILL $$
`
  writeFileSync(file, script)
  chmodSync(file, 0o755)
  return file
}

test('openBoxes() starts again what is killed while it starts, and is healthy once a program has run', async (t) => {
  const boxes = openBoxes({ node: killedNode(t, 4), bwrap: null, runsc: null })
  t.after(() => boxes.close())
  assert.deepEqual(boxes.health(), { ok: false, reason: 'the first box is still being tested' })
  // The test of the box cannot write files beside the script once its limits hold, so starts are
  // counted before them.
  assert.equal(await resultOf(boxes, 'return 1').catch(({ code }) => code), 1)
  assert.deepEqual(boxes.health(), { ok: true })
})

test('openBoxes() that can never start a box says why, and that it is not healthy', async (t) => {
  const boxes = openBoxes({ node: '/bin/false', bwrap: null, runsc: null })
  t.after(() => boxes.close())
  await assert.rejects(boxes.isolation(), { code: /^SANDBOX_/ })
  const { ok, reason } = boxes.health() as { ok: boolean; reason: string }
  assert.equal(ok, false)
  assert.match(reason, /its box ended with 1/)
  await boxes.close()
  assert.deepEqual(boxes.health(), { ok: false, reason: 'the boxes are closed' })
})

test('watchHealth() tries again in the background until an attempt succeeds', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let tries = 0
  const health = watchHealth(() => {
    tries += 1
    if (tries < 3) health.failed(new AppError('SANDBOX_SETUP_FAILED', `try ${tries}`))
    else health.succeeded()
  })
  health.failed(new AppError('SANDBOX_SETUP_FAILED', 'no box'))
  health.failed(new AppError('SANDBOX_SETUP_FAILED', 'no box either'))
  assert.deepEqual(health.now(), { ok: false, reason: 'no box either' })
  t.mock.timers.tick(500)
  assert.deepEqual([tries, health.now()], [1, { ok: false, reason: 'try 1' }])
  t.mock.timers.tick(999)
  assert.equal(tries, 1, 'the pause doubles')
  t.mock.timers.tick(1)
  t.mock.timers.tick(2000)
  assert.deepEqual([tries, health.now()], [3, { ok: true }])
  t.mock.timers.tick(60_000)
  assert.equal(tries, 3)
})

test('spawnFailure() names the remedy where the system refuses a process', () => {
  const failure = (code: string) => spawnFailure(Object.assign(new Error(`spawn ${code}`), { code }))
  assert.match(failure('EMFILE'), /too many files are open; raise the limit with "ulimit -n/)
  assert.match(failure('EAGAIN'), /ulimit -u/)
  assert.equal(failure('ENOENT'), 'spawn ENOENT')
})
