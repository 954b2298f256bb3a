/** Memory seen from outside: of a process and of its children together. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import test from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { watchMemory } from './watch-memory.ts'

const skip = process.platform === 'linux' ? false : 'needs /proc: run on Linux'
const megabyte = 1024 * 1024

test('watchMemory() tells of an excess once, and adds up what children hold', { skip }, async (t) => {
  const hold = `${process.execPath} -e 'globalThis.x = Buffer.alloc(${60 * megabyte}, 1); setTimeout(() => {}, 20000)'`
  const child = spawn('sh', ['-c', `${hold} & ${hold} & wait`], { detached: true, stdio: 'ignore' })
  t.after(() => process.kill(-child.pid!, 'SIGKILL'))
  let told = 0
  const stops = [
    watchMemory(child.pid!, 110 * megabyte, () => {
      told += 1
    }),
    watchMemory(child.pid!, 4000 * megabyte, () => assert.fail('so much is not held')),
  ]
  for (let i = 0; i < 200 && told === 0; i++) await pause(50)
  await pause(200)
  assert.equal(told, 1)
  for (const stop of stops) stop()
})
