/**
 * After many scripts of all kinds, good and bad, side by side at every tier, nothing is left alive,
 * mounted, open or on disk.
 */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import type { ScriptTier } from '#sandbox'
import { children, dice, isRunning, leftovers, lodge, whyNot } from '#test'
import { attacks } from './script-attacks.ts'

const long = process.env.LONG === '1'
const count = long ? 1000 : 40
const lanes = 4

const good = [
  { interpreter: 'python', script: 'print(sum(range(1000)))', stdout: '499500\n' },
  { interpreter: 'bash', script: 'seq 3 | tac | tr "\\n" " "', stdout: '3 2 1 ' },
  { interpreter: 'python', script: 'import json, sys\njson.dump({"a": [1]}, sys.stdout)', stdout: '{"a": [1]}' },
]
const skip = whyNot('os') || whyNot('gvisor')

test(`after ${count} scripts nothing is left`, { skip, timeout: 50 * 60_000 }, async (t) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
  t.diagnostic(`SEED=${seed}`)
  const random = dice(seed)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!
  const bait = { secretFile: '/etc/hostname', secret: '', port: 9, socket: '/run/x', abstractSocket: 'x' }
  // What runs into its time takes two seconds, whatever it does: the short form has a few of those.
  const bad = attacks(bait).filter(({ ends }) => long || !ends.includes('SANDBOX_TIMEOUT') || random() < 0.2)
  const { boxes, folder, close } = lodge(['os', 'gvisor'])
  t.after(close)
  await boxes.accept('os')
  await boxes.isolation()
  await boxes.run({ ...good[0]!, tier: 'os' })
  const openBefore = descriptors()
  const before = readdirSync(tmpdir())

  let started = 0
  const seen: Record<string, number> = {}
  const work = async () => {
    for (started += 1; started <= count; started += 1) {
      const tier: ScriptTier = pick(['os', 'gvisor'])
      const isGood = random() < 0.4
      const { interpreter, script } = isGood ? pick(good) : pick(bad)
      const stop = random() < 0.1 ? AbortSignal.timeout(Math.floor(random() * 400)) : undefined
      const said = await boxes
        .run({ interpreter, script, tier, timeoutSeconds: 2, ...(stop ? { signal: stop } : {}) })
        .then(
          ({ stdout }) => ({ end: 'result', stdout }),
          ({ code, message }) => ({ end: String(code ?? message), stdout: null }),
        )
      seen[said.end] = (seen[said.end] ?? 0) + 1
      const wanted = good.find((one) => one.script === script)?.stdout
      if (wanted !== undefined && said.end === 'result') assert.equal(said.stdout, wanted)
      if (wanted !== undefined) assert.ok(['result', 'CANCELLED'].includes(said.end), said.end)
    }
  }
  await Promise.all(Array.from({ length: lanes }, work))
  t.diagnostic(JSON.stringify(seen))
  const known = ['result', 'CANCELLED', 'SANDBOX_TIMEOUT', 'SANDBOX_RESOURCE_LIMIT', 'SANDBOX_EXECUTION_FAILED']
  assert.deepEqual(
    Object.keys(seen).filter((end) => !known.includes(end)),
    [],
  )

  await boxes.close()
  assert.deepEqual(children(process.pid), [])
  assert.deepEqual(leftovers(folder), [])
  assert.deepEqual(readdirSync(`${folder}/boxes`), [])
  assert.equal(isRunning('sleep 4243'), false)
  assert.ok(descriptors() <= openBefore, `${descriptors()} descriptors are open, ${openBefore} were`)
  assert.deepEqual(
    readdirSync(tmpdir()).filter((name) => /runsc|gvisor/.test(name) && !before.includes(name)),
    [],
  )
})

function descriptors(): number {
  return readdirSync('/proc/self/fd').length
}
