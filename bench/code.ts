/** What a program's box costs: a warm start and a call, against a bare Node child with the same pipes in the same run. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import type { Turn } from '#model'
import { openBoxes, prepareProgram } from '#sandbox'

const starts = 200
const calls = 500
const seed = 'a'.repeat(64)
const text = JSON.stringify({ size: 5, ok: true, content: 'hello world' })
const sequential = `let sum = 0; for (let i = 0; i < ${calls}; i++) sum += (await mcp.fs.read({ path: '/a/' + i })).size; return sum`
const parallel = `const all = await Promise.all(Array.from({ length: ${calls} }, (_, i) => mcp.fs.read({ path: '/a/' + i }))); return all.length`

const boxes = openBoxes({})
const { tier } = await boxes.isolation()
const program = (code: string) => boxes.program({ source: prepareProgram(code).source, args: '{}', seed, now: 1 })

async function startMs(): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < starts; i++) {
    await pause(10)
    const began = performance.now()
    await (await program('return 1 + 1')).start()
    times.push(performance.now() - began)
  }
  return times
}

/** Microseconds a call, from the first turn to the end. */
async function callUs(code: string): Promise<number> {
  const running = await program(code)
  const began = performance.now()
  let open = 0
  let next = 1
  let end: Turn['end']
  const take = (turn: Turn) => {
    open += turn.calls.length
    end ??= turn.end
  }
  take(await running.start())
  while (end === undefined) {
    const pending: Promise<Turn>[] = []
    while (next <= open) pending.push(running.deliver({ call: next++, ok: true, text, now: 1 }))
    for (const turn of await Promise.all(pending)) take(turn)
  }
  return ((performance.now() - began) / calls) * 1000
}

/** A child that gives each line back: what two pipes and a Node process cost with nothing in between. */
async function bareUs(): Promise<number> {
  const echo = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => process.stdout.write(line + '\\n'))`
  const child = spawn(process.execPath, ['-e', echo], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const exchange = async () => {
    child.stdin.write(`${text}\n`)
    await lines.next()
  }
  await exchange()
  const began = performance.now()
  for (let i = 0; i < calls; i++) await exchange()
  const us = ((performance.now() - began) / calls) * 1000
  child.kill()
  await once(child, 'exit')
  return us
}

function quantile(values: number[], share: number): number {
  return values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(share * values.length) - 1)]!
}

const bare = await bareUs()
const times = await startMs()
const figures = {
  tier,
  startMs: { p50: quantile(times, 0.5), p99: quantile(times, 0.99), bar: '6 / 20' },
  sequentialUs: { value: await callUs(sequential), bar: 400 },
  parallelUs: { value: await callUs(parallel), bar: 150 },
  bareChildUs: bare,
}
await boxes.close()
if (process.argv.includes('--json')) console.log(JSON.stringify(figures))
else {
  const { startMs, sequentialUs, parallelUs } = figures
  console.log(`tier ${tier}, ${starts} starts, ${calls} calls`)
  console.log(`warm start  p50 ${startMs.p50.toFixed(1)} ms, p99 ${startMs.p99.toFixed(1)} ms  (bars ${startMs.bar})`)
  console.log(
    `sequential  ${sequentialUs.value.toFixed(0)} µs a call, ${(sequentialUs.value / bare).toFixed(1)} × a bare child  (bar ${sequentialUs.bar})`,
  )
  console.log(
    `parallel    ${parallelUs.value.toFixed(0)} µs a call, ${(parallelUs.value / bare).toFixed(1)} × a bare child  (bar ${parallelUs.bar})`,
  )
}
