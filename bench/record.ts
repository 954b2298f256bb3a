/** What durability costs: the record against a bare file and against one commit for each event, side by side in one run. */

import { hash } from 'node:crypto'
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { constants, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type EventBodies, newId, type RunId } from '#model'
import { type Chain, openStore, type Store, verify } from '#record'

type Bar = { name: string; value: number; bar: string; ok: boolean; detail: string }

const start: EventBodies['run.started'] = {
  intent: 'bench',
  mode: 'run',
  plan: { kind: 'code', source: '', digest: '' },
  args: null,
  actor: { kind: 'cli', name: 'bench' },
  permissions: 'standard',
  budget: { calls: 1, wallMs: 1, bytes: 1 },
  seed: '00'.repeat(32),
  engine: { name: '', version: '', digest: '' },
  servers: {},
  isolation: null,
}

/** An event of about 450 bytes. */
const event: EventBodies['call.resolved'] = {
  call: '1',
  attempt: 1,
  outcome: 'answered',
  ok: true,
  value: { text: 'a result of an ordinary size, such as most tools give back; '.repeat(4) },
  ms: 3,
  by: 'upstream',
}

async function main(): Promise<void> {
  preferUs()
  const folder = mkdtempSync(join(tmpdir(), 'metier-bench-'))
  const store = await openStore({ home: join(folder, 'home') })
  const chain = store.startRun(newId<RunId>(), start)
  await warmUp(chain)
  const file = openSync(join(folder, 'file'), 'a')
  const bars = [await single(chain, file), ...(await together(store, folder)), await batch(chain, file)]
  closeSync(file)
  await store.close()
  bars.push(await verification(folder))
  rmSync(folder, { recursive: true })
  print(bars)
  if (bars.some(({ ok }) => !ok)) process.exitCode = 1
}

/** Until the log is as long as it gets: from then on it is written over, as in any process that has run for a while. */
async function warmUp(chain: Chain): Promise<void> {
  for (let round = 0; round < 10; round++) {
    for (let i = 0; i < 1000; i++) chain.append('call.resolved', event)
    await chain.durable()
  }
}

/** Other programs on the machine are no part of the comparison; where we may not say so, they are. */
function preferUs(): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST)
  } catch {}
}

/** One event, durable, against the same bytes appended to a file and synced. */
async function single(chain: Chain, file: number): Promise<Bar> {
  const bare: number[] = []
  const ours: number[] = []
  for (let i = 0; i < 400; i++) {
    const line = lineOf(chain.run, i)
    bare.push(await time(() => appendSynced(file, line)))
    ours.push(await time(() => appendDurably(chain)))
  }
  const detail = `${ms(median(ours))} against ${ms(median(bare))}`
  return atMost(2.5, 'one durable append / append + fdatasync', median(ours) / median(bare), detail)
}

/** 64 calls of one run that each wait for their event, against one commit for each on the main thread. */
async function together(store: Store, folder: string): Promise<Bar[]> {
  const chains = Array.from({ length: 64 }, () => store.startRun(newId<RunId>(), start))
  await Promise.all(chains.map((chain) => chain.durable()))
  const database = directDatabase(join(folder, 'direct.db'))
  const ours: Load[] = []
  const runs: Load[] = []
  const direct: Load[] = []
  for (let round = 0; round < 7; round++) {
    direct.push(await load(4, () => nextTurn(database.commit())))
    ours.push(await load(32, () => appendDurably(chains[0]!)))
    runs.push(await load(8, (caller) => appendDurably(chains[caller]!)))
  }
  database.close()
  const rate = (loads: Load[]) => median(loads.map(({ perSecond }) => perSecond))
  const delay = (loads: Load[]) => median(loads.map(({ delayMs }) => delayMs))
  const perSecond = (loads: Load[]) => `${Math.round(rate(loads))}/s`
  return [
    atLeast(
      8,
      '64 calls at once / one commit each',
      rate(ours) / rate(direct),
      `${perSecond(ours)} against ${perSecond(direct)}`,
    ),
    atMost(
      0.25,
      'event-loop delay, p99, of the same',
      delay(ours) / delay(direct),
      `${ms(delay(ours))} against ${ms(delay(direct))}`,
    ),
    atLeast(
      2,
      '64 runs at once / one commit each',
      rate(runs) / rate(direct),
      `${perSecond(runs)} against ${perSecond(direct)}`,
    ),
  ]
}

function appendDurably(chain: Chain): Promise<void> {
  chain.append('call.resolved', event)
  return chain.durable()
}

type Load = { perSecond: number; delayMs: number }

async function load(times: number, append: (caller: number) => Promise<unknown>): Promise<Load> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const elapsed = await time(() =>
    Promise.all(
      Array.from({ length: 64 }, async (_, caller) => {
        for (let i = 0; i < times; i++) await append(caller)
      }),
    ),
  )
  delay.disable()
  // The monitor's own tick of a millisecond is no delay.
  return { perSecond: (64 * times * 1000) / elapsed, delayMs: Math.max(delay.percentile(99) / 1e6 - 1, 0.01) }
}

/** The same record with a commit for each event, on the thread that asks: owner checked, event inserted, head moved. */
function directDatabase(file: string) {
  const database = new DatabaseSync(file)
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE event (seq INTEGER PRIMARY KEY, run TEXT, n INTEGER, type TEXT, line TEXT, hash TEXT, UNIQUE (run, n)) STRICT;
    CREATE TABLE run (run TEXT PRIMARY KEY, owner TEXT, epoch INTEGER, n INTEGER, hash TEXT) STRICT, WITHOUT ROWID;
    INSERT INTO run VALUES ('direct', 'us', 1, 0, '${'0'.repeat(64)}')
  `)
  const head = database.prepare('SELECT owner, epoch, n, hash FROM run WHERE run = ?')
  const insert = database.prepare('INSERT INTO event (run, n, type, line, hash) VALUES (?, ?, ?, ?, ?)')
  const move = database.prepare('UPDATE run SET n = ?, hash = ? WHERE run = ?')
  return {
    commit() {
      database.exec('BEGIN IMMEDIATE')
      const { n, hash: previous } = head.get('direct') as { n: number; hash: string }
      const line = lineOf('direct', n + 1)
      const digest = hash('sha256', `${previous}\n${line}`)
      insert.run('direct', n + 1, 'call.resolved', line, digest)
      move.run(n + 1, digest, 'direct')
      database.exec('COMMIT')
    },
    close: () => database.close(),
  }
}

/** 1,000 events against a journal of lines and hashes that is one file, with its index in memory: the same bytes, one append. */
async function batch(chain: Chain, file: number): Promise<Bar> {
  const append = openJournal(file)
  const bare: number[] = []
  const ours: number[] = []
  for (let round = 0; round < 60; round++) {
    bare.push(await time(() => append(chain.run, 1000)))
    ours.push(
      await time(() => {
        for (let i = 0; i < 1000; i++) chain.append('call.resolved', event)
        return chain.durable()
      }),
    )
  }
  const detail = `${ms(median(ours))} against ${ms(median(bare))}`
  return atMost(1.5, '1,000 events / one file append of the same bytes', median(ours) / median(bare), detail)
}

function openJournal(file: number): (run: string, count: number) => void {
  const index = new Map<string, { offset: number; bytes: number; hash: string }[]>()
  let offset = 0
  return (run, count) => {
    const places = index.get(run) ?? []
    index.set(run, places)
    const lines: string[] = []
    for (let i = 0; i < count; i++) {
      const line = lineOf(run, places.length + 1)
      const digest = hash('sha256', `${places.at(-1)?.hash ?? ''}\n${line}`)
      const bytes = Buffer.byteLength(line)
      places.push({ offset, bytes, hash: digest })
      lines.push(line, digest)
      offset += bytes + digest.length + 2
    }
    appendSynced(file, `${lines.join('\n')}\n`)
  }
}

/** 100,000 events in 100 runs; in seconds of CPU, of which verification is made. */
async function verification(folder: string): Promise<Bar> {
  const home = join(folder, 'verified')
  const store = await openStore({ home })
  for (let run = 0; run < 100; run++) {
    const chain = store.startRun(newId<RunId>(), start)
    for (let i = 0; i < 996; i++) chain.append('call.resolved', event)
    await chain.finish({ status: 'done', callCount: 996, ms: 1 })
  }
  await store.close()
  const busy: number[] = []
  const times: number[] = []
  let events = 0
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage()
    times.push(
      await time(async () => {
        const verdict = await verify(home)
        events = verdict.events
      }),
    )
    const { user, system } = process.cpuUsage(before)
    busy.push((user + system) / 1e6)
  }
  return atMost(1.2, `verify, seconds of CPU for ${events} events`, median(busy), `${ms(median(times))} by the clock`)
}

function atMost(limit: number, name: string, value: number, detail: string): Bar {
  return { name, value, bar: `≤ ${limit}`, ok: value <= limit, detail }
}

function atLeast(limit: number, name: string, value: number, detail: string): Bar {
  return { name, value, bar: `≥ ${limit}`, ok: value >= limit, detail }
}

function lineOf(run: string, n: number): string {
  return JSON.stringify({ run, n, at: new Date().toISOString(), type: 'call.resolved', body: event })
}

function appendSynced(file: number, text: string): void {
  writeSync(file, text)
  fdatasyncSync(file)
}

async function time(work: () => unknown): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}

function ms(value: number): string {
  return `${value.toFixed(2)} ms`
}

function print(bars: Bar[]): void {
  if (process.argv.includes('--json')) return console.log(JSON.stringify(bars))
  for (const { name, value, bar, ok, detail } of bars) {
    console.log(`${ok ? 'ok    ' : 'MISSED'} ${name.padEnd(50)} ${value.toFixed(2).padStart(6)}  (${bar})  ${detail}`)
  }
}

await main()
