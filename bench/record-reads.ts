/**
 * What it costs to read a large record: to verify it, to find an approval, to list runs, and to
 * take up those that were cut off.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId, type RunId } from '#model'
import { openVerifier, type Store, verify } from '#record'
import { atMost, type Bar, event, median, ms, preferUs, print, start, time, withStore } from './record/bars.ts'

async function main(): Promise<void> {
  preferUs()
  const folder = mkdtempSync(join(tmpdir(), 'metier-bench-'))
  const bars = [...(await verification(join(folder, 'verified'))), ...(await reading(join(folder, 'home')))]
  rmSync(folder, { recursive: true })
  print(bars)
  if (bars.some(({ ok }) => !ok)) process.exitCode = 1
}

/** 100,000 events in 100 runs; in seconds of CPU, of which verification is made. */
async function verification(home: string): Promise<Bar[]> {
  await withStore(home, async (store) => {
    for (let run = 0; run < 100; run++) {
      const chain = store.startRun(newId<RunId>(), start)
      for (let i = 0; i < 996; i++) chain.append('call.resolved', event)
      await chain.finish({ status: 'done', callCount: 996, ms: 1 })
    }
  })
  const seconds: number[] = []
  const times: number[] = []
  let events = 0
  for (let round = 0; round < 5; round++) {
    const verified = async () => (events = (await good(verify(home))).events)
    seconds.push((await busy(async () => times.push(await time(verified)))) / 1000)
  }
  const recent = openVerifier(home)
  await good(recent())
  return [
    atMost(1.2, `verify, seconds of CPU for ${events} events`, seconds, `${ms(median(times))} by the clock`),
    atMost(10, 'verify once more what came since', await repeat(() => good(recent())), 'ms of CPU; nothing came'),
  ]
}

async function good<Verdict extends { ok: boolean; reason?: string }>(verdict: Promise<Verdict>): Promise<Verdict> {
  const { ok, reason } = await verdict
  if (!ok) throw new Error(reason)
  return verdict
}

/** 10,000 finished runs, 1,000 that wait for a human, and 1,000 whose process is gone. */
async function reading(home: string): Promise<Bar[]> {
  await withStore(home, async (store) => {
    await inParts(10_000, (i) => writeRun(store, i, 'done'))
    await inParts(1000, (i) => writeRun(store, i, 'waiting'))
    await inParts(1000, (i) => writeRun(store, i, 'cut off'))
  })
  return withStore(home, async (store) => {
    const { asked, run } = store.openApprovals()[500]!
    const figure = async (name: string, bar: number, read: () => unknown) =>
      atMost(bar, name, await repeat(read), 'ms of CPU')
    return [
      await figure('an approval by its id', 1, () => store.approval(asked.body.approval)),
      await figure('1,000 open approvals, with their calls', 50, () => store.openApprovals()),
      await figure('1,000 runs that wait', 50, () => store.runs({ status: ['approval_required'] })),
      await figure('the newest 50 runs', 5, () => store.runs({ limit: 50 })),
      await figure('the events of one run', 1, () => store.events(run)),
      atMost(
        1000,
        'take up 1,000 runs that were cut off, and read them',
        [await busy(() => takeUp(store))],
        'ms of CPU',
      ),
    ]
  })
}

async function takeUp(store: Store): Promise<void> {
  const cut = store.runs({ status: ['interrupted'] })
  if (cut.length !== 1000) throw new Error(`${cut.length} runs were cut off`)
  await Promise.all(
    cut.map(async ({ run }) => {
      await store.takeRun(run)
      if (store.events(run).length !== 8) throw new Error('an event is missing')
    }),
  )
}

async function writeRun(store: Store, i: number, fate: 'done' | 'waiting' | 'cut off'): Promise<void> {
  const chain = store.startRun(newId<RunId>(), start)
  for (let call = 1; call <= 2; call++) {
    chain.append('call.issued', {
      call: String(call),
      tool: 'a:b',
      args: { i },
      effect: 'unsafe',
      effectFrom: 'default',
      definition: null,
    })
    chain.append('call.sent', { call: String(call), attempt: 1 })
    chain.append('call.resolved', { ...event, call: String(call) })
  }
  if (fate === 'cut off') chain.append('run.logged', { lines: [] })
  if (fate === 'cut off') return chain.durable()
  if (fate === 'done') return chain.finish({ status: 'done', callCount: 2, ms: 1 })
  chain.append('approval.asked', { approval: newId(), call: '2', digest: '', why: 'bench', expiresAt: '' })
  return chain.suspend({ why: 'approval', calls: ['2'] })
}

async function inParts(count: number, write: (i: number) => Promise<void>): Promise<void> {
  for (let i = 0; i < count; i += 500) await Promise.all(Array.from({ length: 500 }, (_, j) => write(i + j)))
}

async function repeat(read: () => unknown): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < 20; i++) times.push(await busy(read))
  return times
}

/** Milliseconds of CPU, in all threads: what others do on the machine is no part of it. */
async function busy(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

await main()
