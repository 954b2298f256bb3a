/**
 * How long a home with 1,000 runs in flight takes to come back: a process that moves them is
 * killed, another takes them all over, replays them and brings them to their end. The steps that
 * may happen only once are counted by a file of their own. `node bench/recover.ts [--json]`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Json, Plan } from '#model'
import { preferUs } from './peers/chain.ts'
import { count, homeFolder, inProcess, openBench } from './peers/ours.ts'

const runs = Number(process.env.RUNS ?? 1000)
const bar = 5
const before = 3

const plans: Record<string, Plan> = {
  graphs: {
    kind: 'dag',
    tasks: [
      ...Array.from({ length: before }, (_, i) => ({
        id: `s${i}`,
        tool: 'w:step',
        arguments: { n: i === 0 ? 0 : { $from: `s${i - 1}`, path: '/n' } },
      })),
      { id: 'last', tool: 'w:last', arguments: { n: { $from: `s${before - 1}`, path: '/n' } } },
    ],
  },
  programs: {
    kind: 'code',
    code: `let n = 0; for (let i = 0; i < ${before}; i++) n = (await mcp.w.step({ n })).n; return (await mcp.w.last({ n })).n`,
  },
}

/**
 * The last call of every run never comes back in the first life; then it is in doubt, and may be
 * made again.
 */
async function firstLife(form: string, home: string, ledger: string): Promise<void> {
  let waiting = 0
  const act = (args: Json, tool: string): Json | Promise<Json> => {
    if (tool === 'step') appendFileSync(ledger, 'step\n')
    if (tool === 'step') return count(args)
    waiting += 1
    if (waiting === runs) console.log('in flight')
    return new Promise(() => {})
  }
  const { engine } = await openBench(inProcess(act), home)
  const actor = { kind: 'cli', name: 'bench' } as const
  await Promise.all(
    Array.from({ length: runs }, () => engine.start({ plan: plans[form]!, intent: null, args: {}, actor })),
  )
}

type Recovery = { form: string; runs: number; seconds: number; steps: number; residentMb: number }

async function recover(form: string): Promise<Recovery> {
  const home = homeFolder()
  const ledger = join(home, 'steps')
  const child = spawn(process.execPath, [import.meta.filename, form, home, ledger], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
  const act = (args: Json, tool: string) => {
    if (tool === 'step') appendFileSync(ledger, 'step\n')
    return count(args)
  }
  const began = performance.now()
  const { store, engine, close } = await openBench(inProcess(act), home)
  const found = store.runs().filter(({ status }) => status === 'interrupted')
  const settled = await Promise.all(found.map(async ({ run }) => (await engine.resume(run, 'bench')).settled))
  const seconds = (performance.now() - began) / 1000
  const residentMb = process.memoryUsage().rss / 1024 / 1024
  const ended = settled.filter((settlement) => settlement === 'done').length
  const steps = readFileSync(ledger, 'utf8').split('\n').length - 1
  await close()
  rmSync(home, { recursive: true, force: true })
  if (ended !== runs || steps !== runs * before) throw new Error(`${ended} runs ended, ${steps} steps happened`)
  return { form, runs: ended, seconds, steps, residentMb }
}

if (process.argv[4] !== undefined) await firstLife(process.argv[2]!, process.argv[3]!, process.argv[4])
else {
  preferUs()
  const rows = [await recover('graphs'), await recover('programs')]
  if (process.argv.includes('--json')) console.log(JSON.stringify(rows))
  else {
    for (const { form, runs, seconds, steps, residentMb } of rows) {
      const said = `${runs} ${form} in flight: recovered to their end in ${seconds.toFixed(2)} s (≤ ${bar})`
      console.log(
        `${seconds <= bar ? 'ok    ' : 'MISSED'} ${said}, each of ${steps} unsafe steps once, ${residentMb.toFixed(0)} MB`,
      )
    }
  }
  if (rows.some(({ seconds }) => seconds > bar)) process.exitCode = 1
}
