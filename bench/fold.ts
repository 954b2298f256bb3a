/**
 * The fold of a record: how fast it is beside `audit verify` over the same record in the same run,
 * and how much memory it takes. `--events N` makes the record smaller or larger. Each of the two is
 * a process of its own, so that neither works in memory that the other left. Speed is events a
 * second of CPU time of the whole process: what else the machine does changes between the two.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLearner } from '#learn'
import { type EventBodies, newId, type RunId } from '#model'
import { openStore, type Store, verify } from '#record'

const speedMin = 0.5
const growthMax = 200
const callsOfRun = 10
const given = process.argv.indexOf('--events')
const wanted = given < 0 ? 1_000_000 : Number(process.argv[given + 1])

type Measured = { ms: number; cpuMs: number; growth: number }

const [part, home] = process.argv.slice(2)
if (part === 'verify') console.log(JSON.stringify(await measure(() => verifyHome(home!))))
else if (part === 'fold') console.log(JSON.stringify(await foldOf(home!)))
else await compare()

async function compare(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'metier-bench-'))
  try {
    const store = await openStore({ home: join(folder, 'home') })
    await fill(store)
    await store.close()
    const [verified, folded] = ['verify', 'fold'].map((which) => inProcess(which, store.home)) as [Measured, Measured]
    const [verifyMs, foldMs] = [verified.ms.toFixed(0), folded.ms.toFixed(0)]
    console.log(`${wanted} events: verified in ${verifyMs} ms, folded in ${foldMs} ms`)
    console.log(`by the clock ${(verified.ms / folded.ms).toFixed(2)} times; load ${loadavg()[0]!.toFixed(1)}`)
    const speed = verified.cpuMs / folded.cpuMs
    tell(speed >= speedMin, `the fold has ${speed.toFixed(2)} times the speed of audit verify, at least ${speedMin}`)
    tell(folded.growth <= growthMax, `memory grew by ${folded.growth.toFixed(0)} MB, at most ${growthMax}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function inProcess(which: string, home: string): Measured {
  const text = execFileSync(process.execPath, ['--expose-gc', import.meta.filename, which, home])
  return JSON.parse(text.toString()) as Measured
}

async function measure(work: () => Promise<unknown>): Promise<Measured> {
  global.gc?.()
  const before = process.memoryUsage().rss
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 50)
  const cpuBegan = process.cpuUsage()
  const began = performance.now()
  await work()
  const ms = performance.now() - began
  const { user, system } = process.cpuUsage(cpuBegan)
  clearInterval(timer)
  most = Math.max(most, process.memoryUsage().rss)
  return { ms, cpuMs: (user + system) / 1000, growth: (most - before) / 2 ** 20 }
}

async function verifyHome(home: string): Promise<void> {
  const { ok } = await verify(home)
  if (!ok) throw new Error('the record does not verify')
}

async function foldOf(home: string): Promise<Measured> {
  const store = await openStore({ home })
  const learner = openLearner({ store, enabled: true, isAlone: true })
  const measured = await measure(() => learner.catchUp())
  await learner.close()
  await store.close()
  return measured
}

function tell(isMet: boolean, line: string): void {
  console.log(`${isMet ? 'ok' : 'MISSED'}  ${line}`)
  if (!isMet) process.exitCode = 1
}

/** Runs of a few habits, many at a time. */
async function fill(store: Store): Promise<void> {
  const runs = Math.ceil(wanted / (4 + 3 * callsOfRun))
  for (let at = 0; at < runs; at += 100)
    await Promise.all(Array.from({ length: Math.min(100, runs - at) }, (_, index) => oneRun(store, at + index)))
}

async function oneRun(store: Store, number: number): Promise<void> {
  const habit = number % 20
  const tool = (at: number) => `s${habit}:t${at}`
  const lines = Array.from({ length: callsOfRun }, (_, at) => {
    return `const r${at} = await mcp.s${habit}.t${at}({ id: ${at === 0 ? habit : `r${at - 1}.id`} })`
  })
  const source = lines.join('\n')
  const start: EventBodies['run.started'] = {
    intent: `do habit ${habit} for ${number}`,
    mode: 'run',
    plan: { kind: 'code', source, digest: source },
    args: {},
    actor: { kind: 'cli', name: 'bench' },
    permissions: 'standard',
    budget: { calls: 100, wallMs: 1000, bytes: 1000 },
    seed: '00'.repeat(32),
    engine: { name: 'quickjs', version: '1', digest: '00' },
    servers: {},
    isolation: null,
  }
  const chain = store.startRun(newId<RunId>(), start)
  for (let at = 0; at < callsOfRun; at++) {
    const call = String(at + 1)
    const args = { id: at === 0 ? habit : number * 100 + at - 1 }
    chain.append('call.issued', { call, tool: tool(at), args, effect: 'read', effectFrom: 'default', definition: null })
    chain.append('call.sent', { call, attempt: 1 })
    const value = { id: number * 100 + at, name: `item ${number}`, list: [1, 2, 3] }
    chain.append('call.resolved', { call, attempt: 1, outcome: 'answered', ok: true, value, ms: 1, by: 'upstream' })
  }
  await chain.finish({ status: 'done', result: null, callCount: callsOfRun, ms: 5 })
}
