/** A fold that is killed many times has the digest of one that was not. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import test from 'node:test'
import { openLearner } from '#learn'
import { finishSample, openSample } from '#test'

/** Says after each step of the fold that it was made. */
const child = `
  import { openStore } from '#record'
  import { openLearner } from '#learn'
  const store = await openStore({ home: process.argv[1] })
  const learner = openLearner({ store, enabled: true })
  while (!(await learner.catchUp(undefined, 1))) console.log('step')
  console.log('folded')
  setInterval(() => {}, 1000)`

const kills = process.env.LONG === '1' ? 20 : 5

test(`two folds, one killed ${kills} times, have one digest`, { timeout: 600_000 }, async (t) => {
  const store = await openSample(t)
  for (let i = 0; i < 300 * kills; i++) await finishSample(store, 1 + (i % 5), { id: i })
  const whole = openLearner({ store, enabled: true, file: join(store.home, 'whole.db') })
  await whole.catchUp()
  let cut = 0
  for (let kill = 0; kill < kills; kill++) {
    const folding = spawn(process.execPath, ['--input-type=module', '-e', child, store.home], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    folding.stdout.on('data', (data) => {
      if (said === '') setTimeout(() => folding.kill('SIGKILL'), kill % 5)
      said += data
    })
    await once(folding, 'exit')
    if (!said.includes('folded')) cut += 1
  }
  const left = openLearner({ store, enabled: true })
  const { n, of } = left.status()
  t.diagnostic(`${cut} of ${kills} kills came in the middle, ${n} of ${of} were folded`)
  assert.ok(cut > 0 && n > 0, 'no kill came in the middle')
  await left.catchUp()
  assert.equal(left.status().digest, whole.status().digest)
  await Promise.all([left.close(), whole.close()])
})
