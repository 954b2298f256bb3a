/**
 * The fold of a record: how fast it is beside `audit verify` over the same record in the same run,
 * and how much memory it takes. `--events N` makes the record smaller or larger. Speed is events a
 * second of CPU time of the whole process: what else the machine does changes between the two.
 */
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

const folder = mkdtempSync(join(tmpdir(), 'metier-bench-'))
try {
  const store = await openStore({ home: join(folder, 'home') })
  await fill(store)
  const began = process.cpuUsage()
  const started = performance.now()
  const { ok, events } = await verify(store.home)
  const verifyMs = performance.now() - started
  const verifyCpu = process.cpuUsage(began)
  if (!ok) throw new Error('the record does not verify')
  global.gc?.()
  const before = process.memoryUsage().rss
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 50)
  const learner = openLearner({ store, enabled: true, isAlone: true })
  const foldBegan = process.cpuUsage()
  const begun = performance.now()
  await learner.catchUp()
  const foldMs = performance.now() - begun
  const foldCpu = process.cpuUsage(foldBegan)
  clearInterval(timer)
  const speed = (verifyCpu.user + verifyCpu.system) / (foldCpu.user + foldCpu.system)
  const growth = (most - before) / 2 ** 20
  console.log(`${events} events: verified in ${verifyMs.toFixed(0)} ms, folded in ${foldMs.toFixed(0)} ms`)
  console.log(`by the clock ${(verifyMs / foldMs).toFixed(2)} times; load ${loadavg()[0]!.toFixed(1)}`)
  tell(speed >= speedMin, `the fold has ${speed.toFixed(2)} times the speed of audit verify, at least ${speedMin}`)
  tell(growth <= growthMax, `memory grew by ${growth.toFixed(0)} MB, at most ${growthMax}`)
  await learner.close()
  await store.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
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
