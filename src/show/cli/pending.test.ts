/**
 * What becomes of a process whose command waits with nothing left that keeps the event loop alive.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** The end of a program that runs in a process of its own, with what this folder exports. */
function ran(file: string, program: string) {
  const from = JSON.stringify(fileURLToPath(new URL(file, import.meta.url)))
  const source = `const given = await import(${from}); ${program}`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    encoding: 'utf8',
    timeout: 30_000,
  })
  return { status, stdout, stderr }
}

test('untilSettled() keeps the process alive for a command that waits for an unreferenced timer', () => {
  const { status, stdout } = ran(
    './pending.ts',
    `const command = new Promise((resolve) => setTimeout(resolve, 300, 'settled').unref())
     console.log(await given.untilSettled(command))`,
  )
  assert.deepEqual([status, stdout], [0, 'settled\n'])
})

test('untilSettled() fails a command that nothing can settle any more, and says so', () => {
  const { status, stdout } = ran(
    './pending.ts',
    `const error = await given.untilSettled(new Promise(() => {}), 200).catch((thrown) => thrown)
     console.log(error.code, error.message)`,
  )
  assert.equal(status, 0)
  assert.match(stdout, /^TOOL_INTERNAL_ERROR Cannot finish the command: it waited 200 ms for something that can never/)
})

test('stopOnSignals() takes a repeated signal for the same one at first, and ends at once at a later one', async () => {
  const from = JSON.stringify(fileURLToPath(new URL('./signals.ts', import.meta.url)))
  const source = `const { stopOnSignals } = await import(${from}); const stop = new AbortController()
    stopOnSignals(stop, () => {}); stop.signal.addEventListener('abort', () => console.log('asked to stop'))
    setInterval(() => {}, 1000); console.log('ready')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  const said = () => once(child.stdout.setEncoding('utf8'), 'data')
  assert.match(String(await said()), /ready/)
  child.kill('SIGINT')
  assert.match(String(await said()), /asked to stop/)
  child.kill('SIGTERM')
  await new Promise((resolve) => setTimeout(resolve, 400))
  assert.equal(child.exitCode, null, 'forwarded, not asked again')
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  assert.equal(code, 130)
})
